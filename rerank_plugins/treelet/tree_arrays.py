"""Trees as concatenated arrays, and their labels by number.

The nodes are in the order of the trees, and in each tree in pre-order: a parent before its children, children from left
to right. A label is one symbol as the tag of a word and another as a phrase, so that every symbol is of one kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from rerank_plugins import ROOT, FloatArray, IntArray, LongArray, Tree
from rerank_plugins.kit.files.model_schema import Setting
from rerank_plugins.treelet.closed_vocabulary import ClosedVocabulary, Sentence

EDGE, UNKNOWN_PHRASE, UNKNOWN_TAG = range(3)  # the first symbols; EDGE stands before and after the children of a node
SPECIAL = ("", "", "")
UNSEEN = "?"  # stands for an unknown label; no treebank has it


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """N nodes of T trees: (N) `symbol`, (N) `parent` node or -1; tree t has the nodes `offsets[t]:offsets[t + 1]`.

    `word` (N) is the number of a tag's word, in the order of the sentence; -1 for phrases.
    """

    symbol: IntArray
    parent: IntArray
    word: IntArray
    offsets: LongArray

    @property
    def trees(self) -> int:
        """T, the number of trees."""
        return len(self.offsets) - 1

    @property
    def tree(self) -> LongArray:
        """(N) the tree of each node."""
        return np.repeat(np.arange(self.trees), np.diff(self.offsets))


@dataclass(frozen=True)
class Symbols:
    """Labels by number: first the special ones, then `phrases`, then `tags`."""

    phrases: Annotated[tuple[str, ...], Setting()]
    tags: Annotated[tuple[str, ...], Setting()]

    def __len__(self) -> int:
        return len(SPECIAL) + len(self.phrases) + len(self.tags)

    @property
    def first_tag(self) -> int:
        """The number of the first tag."""
        return len(SPECIAL) + len(self.phrases)

    def numbers(self) -> tuple[dict[str, int], dict[str, int]]:
        """The numbers of the phrases, and those of the tags."""
        phrases = {label: i for i, label in enumerate(self.phrases, len(SPECIAL))}
        return phrases, {label: i for i, label in enumerate(self.tags, self.first_tag)}

    def lookups(self) -> tuple[Callable[[str], int], Callable[[str], int]]:
        """The functions that give the number of the label of a phrase and of a tag, for `lay_out`."""
        phrases, tags = self.numbers()
        return lambda label: phrases.get(label, UNKNOWN_PHRASE), lambda label: tags.get(label, UNKNOWN_TAG)

    def label(self, symbol: int) -> str:
        """The label of a symbol; UNSEEN for a special one."""
        if symbol < len(SPECIAL):
            return UNSEEN
        return self.phrases[symbol - len(SPECIAL)] if symbol < self.first_tag else self.tags[symbol - self.first_tag]


def rooted(tree: Tree) -> Tree:
    """The tree, put under ROOT unless that is its label."""
    return tree if tree.label == ROOT and not (tree.children and tree.is_preterminal) else Tree(ROOT, (tree,))


def lay_out(
    trees: Iterable[Tree], phrase_number: Callable[[str], int], tag_number: Callable[[str], int]
) -> tuple[IntArray, IntArray, list[str | None], LongArray]:
    """Trees as (N) symbols, (N) parents, words (None for phrases) and (T + 1) offsets; all trees are put under ROOT.

    `phrase_number` and `tag_number` give the number of the label of a phrase and of a tag.
    """
    symbol: list[int] = []
    parent: list[int] = []
    words: list[str | None] = []
    offsets = [0]
    for tree in trees:
        todo: list[tuple[Any, int]] = [(rooted(tree), -1)]
        while todo:
            node, above = todo.pop()
            children = node.children
            parent.append(above)
            if len(children) == 1 and isinstance(children[0], str):
                symbol.append(tag_number(node.label))
                words.append(children[0])
            else:
                here = len(symbol)
                symbol.append(phrase_number(node.label))
                words.append(None)
                todo.extend([(child, here) for child in reversed(children)])
        offsets.append(len(symbol))
    return np.array(symbol, np.int32), np.array(parent, np.int32), words, np.array(offsets, np.int64)


def numbered(trees: Iterable[Tree], symbols: Symbols, vocabulary: ClosedVocabulary) -> TreeArrays:
    """The trees in the numbers of a model."""
    symbol, parent, words, offsets = lay_out(trees, *symbols.lookups())
    sentences = ([word for word in words[a:b] if word is not None] for a, b in pairwise(offsets.tolist()))
    placed = np.full(len(words), -1, np.int32)
    placed[[word is not None for word in words]] = vocabulary.encode(sentences)
    return TreeArrays(symbol, parent, placed, offsets)


def flat(sentence: Sentence) -> Tree:
    """A tree of unknown labels over the sentence."""
    return Tree(ROOT, tuple(Tree(UNSEEN, (word,)) for word in sentence))


def sequence_hashes(values: IntArray | LongArray, starts: LongArray) -> LongArray:
    """(n) a 64-bit hash of each sequence values[starts[i] : starts[i + 1]]: the sum of a hash for each of its places.

    The finaliser of SplitMix64 (Steele, Lea and Flood 2014) mixes the bits, of a value first, then of what this gives
    and the place.
    """

    def mixed(numbers: Any) -> Any:
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
        return numbers ^ (numbers >> np.uint64(31))

    place = np.arange(len(values)) - np.repeat(starts[:-1], np.diff(starts))
    hashes = mixed(mixed(values.astype(np.uint64)) + place.astype(np.uint64))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(hashes, dtype=np.uint64)])  # modulo 2 ** 64
    return np.asarray((sums[starts[1:]] - sums[starts[:-1]]).view(np.int64), np.int64)


def shapes(forest: TreeArrays) -> LongArray:
    """(T) a hash of the symbols and the structure of each tree, without its words."""
    above = np.maximum(forest.parent - np.repeat(forest.offsets[:-1], np.diff(forest.offsets)), 0)
    return sequence_hashes(forest.symbol.astype(np.int64) << 32 | above, forest.offsets)


def siblings(parent: IntArray) -> tuple[IntArray, IntArray]:
    """(N) the first child and (N) the next sibling of each node; -1 where there is none."""
    first, following = np.full((2, len(parent)), -1, np.int32)
    order = np.argsort(parent, kind="stable")[np.count_nonzero(parent < 0) :]  # the children of each node, in order
    above = parent[order]
    eldest = np.append(True, above[1:] != above[:-1])[: len(order)]
    first[above[eldest]] = order[eldest]
    younger = np.flatnonzero(~eldest)
    following[order[younger - 1]] = order[younger]
    return first, following


def sum_distinct(ln_p: FloatArray, forest: TreeArrays, parses: Sequence[Sequence[Tree]]) -> FloatArray:
    """(sentences) ln of the summed p of each sentence's parses, each shape once; -inf for a sentence without parses.

    `ln_p` (trees) and `forest` are of all parses, one after the other. Parses that transformations make equal are one
    tree of the model, and must not be counted twice.
    """
    sentence = np.repeat(np.arange(len(parses)), [len(trees) for trees in parses])
    _, first = np.unique(np.stack([sentence, shapes(forest)]), axis=1, return_index=True)
    first.sort()
    totals = np.full(len(parses), -np.inf)
    if len(first):
        owner = sentence[first]
        starts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
        totals[owner[starts]] = np.logaddexp.reduceat(ln_p[first], starts)
    return totals
