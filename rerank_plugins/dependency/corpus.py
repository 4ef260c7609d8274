"""Collects the trees of a training corpus as arrays of numbers, and determines the vocabulary.

Words and labels are numbered by falling frequency, ties in alphabetical order, so that a model does not depend on the
order of the trees. A word takes 12 bytes, in memory or in a temporary file (backoff/workspace.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from rerank_plugins.core.arrays import IntArray
from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.dependency.ancestor_paths import TreePaths, lay_out
from rerank_plugins.kit.vocabulary.word_numbers import Numbering, Vocabulary
from rerank_plugins.kit.workspace import PIECE, Collection, Workspace

UNKNOWN = "<unk>"  # word and label number 0
Fold = Callable[[str], str]
BLOCK = 4096  # trees that are numbered at a time


@dataclass(frozen=True, eq=False)
class Corpus:
    """A corpus as arrays of numbers.

    `vocabulary` and `labels` have the unknown word and label first; `unknown_types` is the number of distinct words
    outside the vocabulary. `rows` (n, 3) are the words and the labels as the collector numbered them, whose numbers in
    the vocabulary and in `labels` are `new_words` and `new_labels`, and in between the distance of each word to its
    head (0 for ROOT); `lengths` are the words of each tree.
    """

    vocabulary: Vocabulary
    labels: tuple[str, ...]
    unknown_types: int
    rows: IntArray
    lengths: IntArray
    new_words: IntArray
    new_labels: IntArray

    def blocks(self) -> Iterator[TreePaths]:
        """The trees in blocks, so that memory never holds all of them twice."""
        start = 0
        for first in range(0, len(self.lengths), BLOCK):
            offsets = np.cumsum([0, *self.lengths[first : first + BLOCK].tolist()], dtype=np.int64)
            words, distances, labels = self.rows[start : start + int(offsets[-1])].T
            heads = np.where(distances == 0, -1, distances + np.arange(len(distances), dtype=np.int32))
            yield TreePaths(self.new_words[words], heads.astype(np.int32), self.new_labels[labels], offsets)
            start += int(offsets[-1])


class TreeCollector:
    """Collects trees; `finish` determines the vocabulary and the numbers of words and labels."""

    def __init__(self, workspace: Workspace | None = None) -> None:
        workspace = workspace or Workspace()
        self._words, self._labels = Numbering(), Numbering()
        self._rows = Collection(workspace, np.int32, 3)
        self._lengths = Collection(workspace, np.int32)

    def add(self, trees: Iterable[DependencyTree]) -> None:
        """Add trees to the corpus."""
        trees = iter(trees)
        while block := list(islice(trees, BLOCK)):
            forest = lay_out(block, self._words.number_of, self._labels.number_of)
            here = np.arange(len(forest.heads), dtype=np.int32)
            distances = np.where(forest.heads < 0, 0, forest.heads - here)
            self._rows.append(np.stack([forest.words, distances, forest.labels], axis=1))
            self._lengths.append(np.diff(forest.offsets))

    @property
    def trees(self) -> int:
        """The number of trees so far."""
        return self._lengths.rows

    def finish(self, min_count: int, word_form: Fold = str, label_form: Fold = str) -> Corpus:
        """The corpus; words that occur fewer than `min_count` times are not in its vocabulary. Empties the collector.

        Words with the same `word_form`, and labels with the same `label_form`, are one.
        """
        rows, lengths = self._rows.finish(), self._lengths.finish()
        words, new_words, unknown = _settled(self._words, rows[:, 0], min_count, word_form)
        labels, new_labels, _ = _settled(self._labels, rows[:, 2], 1, label_form)
        return Corpus(Vocabulary(words), labels, unknown, rows, lengths, new_words, new_labels)


def _settled(names: Numbering, used: IntArray, min_count: int, form: Fold) -> tuple[tuple[str, ...], IntArray, int]:
    """The names that are kept, by falling frequency; the new number of each old one; and how many are not kept."""
    counts = np.zeros(len(names), np.int64)
    for start in range(0, len(used), PIECE):
        counts += np.bincount(used[start : start + PIECE], minlength=len(names))
    forms = [form(name) for name in names]
    totals: dict[str, int] = {}
    for name, count in zip(forms, counts.tolist(), strict=True):
        totals[name] = totals.get(name, 0) + count
    frequent = (name for name, total in totals.items() if total >= min_count and name != UNKNOWN)
    kept = (UNKNOWN, *sorted(frequent, key=lambda name: (-totals[name], name)))
    number = {name: i for i, name in enumerate(kept)}
    renumbered = np.array([number.get(name, 0) for name in forms], np.int32)
    return kept, renumbered, len(totals.keys() - number.keys())
