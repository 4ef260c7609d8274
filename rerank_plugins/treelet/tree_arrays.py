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
from rerank_plugins.kit.files.declared import Setting
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.kit.vocabulary.word_hash import FACTOR, START
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


def shapes(forest: TreeArrays) -> LongArray:
    """(T) a hash of the symbols and the structure of each tree, without its words."""
    keys = np.empty(forest.trees, np.int64)
    hash_trees(forest.symbol, forest.parent, forest.offsets, keys)
    return keys


@filling_kernel
def hash_trees(symbol: Any, parent: Any, offsets: Any, keys: Any) -> None:
    """The FNV-1a hash of each tree's symbols and parents, which are counted from the root."""
    for tree in range(len(keys)):
        key = np.uint64(START)
        for i in range(offsets[tree], offsets[tree + 1]):
            key = (key ^ np.uint64(symbol[i])) * np.uint64(FACTOR)
            key = (key ^ np.uint64(max(parent[i] - offsets[tree], 0))) * np.uint64(FACTOR)
            key ^= key >> np.uint64(32)
        keys[tree] = np.int64(key)


def siblings(parent: IntArray) -> tuple[IntArray, IntArray]:
    """(N) the first child and (N) the next sibling of each node; -1 where there is none."""
    first, following, last = np.full((3, len(parent)), -1, np.int32)
    link_siblings(parent, first, following, last)
    return first, following


@filling_kernel
def link_siblings(parent: Any, first: Any, following: Any, last: Any) -> None:
    """Fill in the first child, the next sibling and the last child of each node; all are -1 at first."""
    for i in range(len(parent)):
        above = parent[i]
        if above >= 0:
            if last[above] < 0:
                first[above] = i
            else:
                following[last[above]] = i
            last[above] = i


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
