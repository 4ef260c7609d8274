"""The trees of a training corpus as numbers, and its vocabulary.

Words and labels are numbered by falling frequency, ties in alphabetical order, so that a model does not depend on the
order of the trees. A word takes 12 bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np

from rerank_plugins.arrays import IntArray
from rerank_plugins.models.backoff.vocabulary import Vocabulary
from rerank_plugins.models.dependency_lm.paths import Ids, TreePaths, lay_out
from rerank_plugins.models.vocabulary.numbering import Numbering
from rerank_plugins.trees.dependency import DependencyTree

UNKNOWN = "<unk>"  # word and label number 0
Fold = Callable[[str], str]
BLOCK = 4096  # trees that are numbered at a time


class Corpus(NamedTuple):
    """A corpus as numbers.

    `vocabulary` and `labels` have the unknown word and label first; `blocks` are the trees in these numbers;
    `unknown_types` is the number of distinct words outside the vocabulary.
    """

    vocabulary: Vocabulary
    labels: tuple[str, ...]
    blocks: list[TreePaths]
    unknown_types: int


class TreeCollector:
    """Collects trees; `finish` determines the vocabulary and renumbers words and labels."""

    def __init__(self) -> None:
        self._words, self._labels = Numbering(), Numbering()
        self._blocks: list[TreePaths] = []

    def add(self, trees: Iterable[DependencyTree]) -> None:
        """Add trees to the corpus."""
        trees = iter(trees)
        while block := list(islice(trees, BLOCK)):
            self._blocks.append(lay_out(block, self._words.number_of, self._labels.number_of))

    @property
    def trees(self) -> int:
        """The number of trees so far."""
        return sum(len(block.offsets) - 1 for block in self._blocks)

    def finish(self, min_count: int, word_form: Fold = str, label_form: Fold = str) -> Corpus:
        """The corpus; words that occur fewer than `min_count` times are not in its vocabulary. Empties the collector.

        Words with the same `word_form`, and labels with the same `label_form`, are one.
        """
        words, new_words, unknown = _settled(self._words, [b.words for b in self._blocks], min_count, word_form)
        labels, new_labels, _ = _settled(self._labels, [b.labels for b in self._blocks], 1, label_form)
        blocks = [TreePaths(new_words[b.words], b.heads, new_labels[b.labels], b.offsets) for b in self._blocks]
        self._blocks.clear()
        return Corpus(Vocabulary(words), labels, blocks, unknown)


def _settled(names: Numbering, used: list[Ids], min_count: int, form: Fold) -> tuple[tuple[str, ...], IntArray, int]:
    """The names that are kept, by falling frequency; the new number of each old one; and how many are not kept."""
    counts = np.zeros(len(names), np.int64)
    for ids in used:
        counts += np.bincount(ids, minlength=len(names))
    forms = [form(name) for name in names]
    totals: dict[str, int] = {}
    for name, count in zip(forms, counts.tolist(), strict=True):
        totals[name] = totals.get(name, 0) + count
    frequent = (name for name, total in totals.items() if total >= min_count and name != UNKNOWN)
    kept = (UNKNOWN, *sorted(frequent, key=lambda name: (-totals[name], name)))
    number = {name: i for i, name in enumerate(kept)}
    renumbered = np.array([number.get(name, 0) for name in forms], np.int32)
    return kept, renumbered, len(totals.keys() - number.keys())
