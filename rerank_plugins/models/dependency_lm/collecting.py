"""The trees of a training corpus as numbers, and its vocabulary.

Words and labels are numbered by falling frequency, equal ones in alphabetical order, so that a model does not depend on
the order of the trees. 12 bytes a word.
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
BLOCK = 4096  # trees numbered at a time


class Corpus(NamedTuple):
    """Vocabulary and labels, the unknown one first in each; the trees in these numbers, a block at a time; and how many
    distinct words are not in the vocabulary.
    """

    vocabulary: Vocabulary
    labels: tuple[str, ...]
    blocks: list[TreePaths]
    unknown_types: int


class TreeCollector:
    """Takes trees; `finish` settles the vocabulary and renumbers words and labels."""

    def __init__(self) -> None:
        self._words, self._labels = Numbering(), Numbering()
        self._blocks: list[TreePaths] = []

    def add(self, trees: Iterable[DependencyTree]) -> None:
        """Take more trees."""
        trees = iter(trees)
        while block := list(islice(trees, BLOCK)):
            self._blocks.append(lay_out(block, self._words.number_of, self._labels.number_of))

    @property
    def trees(self) -> int:
        """How many trees so far."""
        return sum(len(block.offsets) - 1 for block in self._blocks)

    def finish(self, min_count: int, word_form: Fold = str, label_form: Fold = str) -> Corpus:
        """The corpus; words that occur fewer than `min_count` times are not in its vocabulary.

        `word_form` and `label_form` say which words and labels are the same.
        """
        words, new_words, unknown = _settled(self._words, [b.words for b in self._blocks], min_count, word_form)
        labels, new_labels, _ = _settled(self._labels, [b.labels for b in self._blocks], 1, label_form)
        blocks = [TreePaths(new_words[b.words], b.heads, new_labels[b.labels], b.offsets) for b in self._blocks]
        self._blocks.clear()
        return Corpus(Vocabulary(words), labels, blocks, unknown)


def _settled(names: Numbering, used: list[Ids], min_count: int, form: Fold) -> tuple[tuple[str, ...], IntArray, int]:
    """Names that stay, by falling frequency; (old numbers) the new number of each; how many do not stay."""
    counts = np.zeros(len(names), np.int64)
    for ids in used:
        counts += np.bincount(ids, minlength=len(names))
    forms = [form(name) for name in names]
    totals: dict[str, int] = {}
    for each, count in zip(forms, counts.tolist(), strict=True):
        totals[each] = totals.get(each, 0) + count
    kept = sorted((f for f in totals if totals[f] >= min_count and f != UNKNOWN), key=lambda f: (-totals[f], f))
    settled = (UNKNOWN, *kept)
    number = {each: i for i, each in enumerate(settled)}
    renumbered = np.array([number.get(each, 0) for each in forms], np.int32)
    return settled, renumbered, len(totals.keys() - number.keys())
