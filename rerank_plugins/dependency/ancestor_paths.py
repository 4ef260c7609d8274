"""Events of the dependency language model: each word of a tree, preceded by its path of ancestors.

Gubbins and Vlachos (2013), sections 2 and 3. w_0 = ROOT; A(w) is the path of words from ROOT to the parent of w, G(w)
the labels of the arcs from ROOT to w. The context of order N is A^{(N-1)}(w), the up to N-1 closest ancestors, and in
the labelled model G^{(N-1)}(w), the labels of the arcs between successive elements of (A^{(N-1)}, w). So ancestor a_k
comes with the label of the arc to its child on the path, and both leave the context together: one context symbol
(a_k, g_k), numbered a_k · L + g_k. The unigram conditions on no label.

    P(S | T) = Π_i P(w_i | A^{(N-1)}(w_i), G^{(N-1)}(w_i))                                    (models of eqs. 4 and 5)

The paper multiplies in breadth-first order; each factor depends on the path alone, so the order does not matter and
words are kept as they stand in the sentence. O(N) array operations over all words at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np

from rerank_plugins import DependencyTree, IntArray, LongArray
from rerank_plugins.kit.vocabulary.unknown_types import types_of_unknown
from rerank_plugins.kit.vocabulary.word_ids import Numbering, Vocabulary

Ids = IntArray
NONE = -1  # fills the positions before ROOT


@dataclass(frozen=True, eq=False)
class TreePaths:
    """The trees of a corpus, concatenated: (n) numbers of words and labels, and positions of heads.

    `heads` are positions in these arrays, -1 for ROOT; tree t has the words `offsets[t]:offsets[t + 1]`.
    """

    words: Ids
    heads: Ids
    labels: Ids
    offsets: LongArray


def lay_out(
    trees: Sequence[DependencyTree], word_number: Callable[[str], int], label_number: Callable[[str], int]
) -> TreePaths:
    """The trees in numbers; `word_number` and `label_number` give the number of a word and of a label."""
    offsets = np.cumsum([0, *(len(tree.words) for tree in trees)], dtype=np.int64)
    size = int(offsets[-1])
    return TreePaths(
        _numbered((tree.words for tree in trees), word_number, size),
        _absolute((tree.heads for tree in trees), offsets),
        _numbered((tree.relations for tree in trees), label_number, size),
        offsets,
    )


def _numbered(names: Iterable[Sequence[str]], number_of: Callable[[str], int], size: int) -> Ids:
    return np.fromiter(map(number_of, chain.from_iterable(names)), np.int32, size)


def _absolute(heads: Iterable[Sequence[int]], offsets: LongArray) -> Ids:
    within = np.fromiter(chain.from_iterable(heads), np.int32, int(offsets[-1]))
    start = np.repeat(offsets[:-1], np.diff(offsets))
    return np.where(within < 0, -1, within + start).astype(np.int32)


def paths(forest: TreePaths, order: int, root: int, labels: int) -> Ids:
    """(n, order): the event of each word, farthest ancestor first and the word last, NONE before ROOT.

    `root` is the number of the symbol ROOT among the context words. Context symbols are numbered
    word · `labels` + label; with `labels` = 1 the model is unlabelled, and the symbol is the word.
    """
    events = np.full((len(forest.words), order), NONE, np.int32)
    events[:, order - 1] = forest.words
    below = np.arange(len(forest.words), dtype=np.int32)  # top of each path so far; -1 after ROOT
    for column in range(order - 2, -1, -1):
        open_ = np.flatnonzero(below >= 0)
        child = below[open_]
        head = forest.heads[child]
        symbol = (
            np.where(head >= 0, forest.words[head], root) * labels
        )  # where head is -1, words[-1] is read but not used
        events[open_, column] = symbol + forest.labels[child] if labels > 1 else symbol
        below[open_] = head
    return events


def path_sizes(order: int, words: int, labels: int) -> tuple[int, ...]:
    """The sizes of the columns of `paths` for so many words and labels, that of the predicted word first."""
    return (words, *((words + 1) * labels,) * (order - 1))


UNKNOWN_NAME = "<unk>"  # word and label number 0
Fold = Callable[[str], str]
TREES_A_BLOCK = 4096  # trees that are numbered at a time


@dataclass(frozen=True, eq=False)
class Corpus:
    """A corpus as arrays of numbers.

    `vocabulary` and `labels` have the unknown word and label first; `unknown_types` is the number of types that the
    unknown word stands for (kit/vocabulary/unknown_types.py). `rows` (n, 3) are the words and the labels as the
    collector numbered them, whose numbers in the vocabulary and in `labels` are `new_words` and `new_labels`, and in
    between the distance of each word to its head (0 for ROOT); `lengths` are the words of each tree. `forms` and
    `counts` are the form and the frequency of each of the collector's words, and `tags` how often a form has which
    UPOS, if the collector counts them.
    """

    vocabulary: Vocabulary
    labels: tuple[str, ...]
    unknown_types: int
    rows: IntArray
    lengths: IntArray
    new_words: IntArray
    new_labels: IntArray
    forms: tuple[str, ...]
    counts: LongArray
    tags: dict[str, Counter[str]]

    def renumbered(self, new_words: IntArray) -> Corpus:
        """The corpus with other numbers for the collector's words."""
        return replace(self, new_words=new_words)

    def blocks(self) -> Iterator[TreePaths]:
        """The trees in blocks, so that memory never holds all of them twice."""
        start = 0
        for first in range(0, len(self.lengths), TREES_A_BLOCK):
            offsets = np.cumsum([0, *self.lengths[first : first + TREES_A_BLOCK].tolist()], dtype=np.int64)
            words, distances, labels = self.rows[start : start + int(offsets[-1])].T
            heads = np.where(distances == 0, -1, distances + np.arange(len(distances), dtype=np.int32))
            yield TreePaths(self.new_words[words], heads.astype(np.int32), self.new_labels[labels], offsets)
            start += int(offsets[-1])


class TreeCollector:
    """Collects trees; `finish` determines the vocabulary and the numbers of words and labels.

    With `tagged`, it counts the UPOS of each word, `_` in a tree without tags.
    """

    def __init__(self, *, tagged: bool = False) -> None:
        self._words, self._labels = Numbering(), Numbering()
        self._tagged = tagged
        self._tags: Counter[tuple[str, str]] = Counter()
        self._rows: list[IntArray] = []
        self._lengths: list[IntArray] = []

    def add(self, trees: Iterable[DependencyTree]) -> None:
        """Add trees to the corpus."""
        trees = iter(trees)
        while block := list(islice(trees, TREES_A_BLOCK)):
            forest = lay_out(block, self._words.number_of, self._labels.number_of)
            here = np.arange(len(forest.heads), dtype=np.int32)
            distances = np.where(forest.heads < 0, 0, forest.heads - here)
            rows = np.stack([forest.words, distances, forest.labels], axis=1)
            self._rows.append(rows.astype(np.int32, copy=False))
            self._lengths.append(np.diff(forest.offsets).astype(np.int32))
            if self._tagged:
                for tree in block:
                    self._tags.update(zip(tree.words, tree.tags or ("_",) * len(tree.words), strict=True))

    @property
    def trees(self) -> int:
        """The number of trees so far."""
        return sum(map(len, self._lengths))

    def finish(self, min_count: int, word_form: Fold = str, label_form: Fold = str) -> Corpus:
        """The corpus; words that occur fewer than `min_count` times are not in its vocabulary. Empties the collector.

        Words with the same `word_form`, and labels with the same `label_form`, are one.
        """
        rows = np.concatenate([np.zeros((0, 3), np.int32), *self._rows])
        lengths = np.concatenate([np.zeros(0, np.int32), *self._lengths])
        self._rows, self._lengths = [], []
        forms, counts = _counted(self._words, rows[:, 0], word_form)
        words, new_words, unknown = _settled(forms, counts, min_count)
        labels, new_labels, _ = _settled(*_counted(self._labels, rows[:, 2], label_form), 1)
        tags: dict[str, Counter[str]] = defaultdict(Counter)
        for (word, tag), count in self._tags.items():
            tags[word_form(word)][tag] += count
        return Corpus(
            Vocabulary(words), labels, unknown, rows, lengths, new_words, new_labels, forms, counts, dict(tags)
        )


def _counted(names: Numbering, used: IntArray, form: Fold) -> tuple[tuple[str, ...], LongArray]:
    """The form of each name, and how often it is used."""
    return tuple(form(name) for name in names), np.bincount(used, minlength=len(names))


def _settled(forms: Sequence[str], counts: LongArray, min_count: int) -> tuple[tuple[str, ...], IntArray, int]:
    """The forms that are kept, by falling frequency; the new number of each old one; and the types of `<unk>`."""
    totals: dict[str, int] = {}
    for name, count in zip(forms, counts.tolist(), strict=True):
        totals[name] = totals.get(name, 0) + count
    frequent = (name for name, total in totals.items() if total >= min_count and name != UNKNOWN_NAME)
    kept = (UNKNOWN_NAME, *sorted(frequent, key=lambda name: (-totals[name], name)))
    number = {name: i for i, name in enumerate(kept)}
    renumbered = np.array([number.get(name, 0) for name in forms], np.int32)
    is_kept = np.array([name in number for name in totals], np.bool_)
    return kept, renumbered, types_of_unknown(np.array([*totals.values()], np.int64), is_kept)
