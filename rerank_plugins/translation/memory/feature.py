"""Matches of a hypothesis's n-grams with the translations of training sentences that are similar to the source.

The target sides T_j of the nearest training pairs, with fuzzy-match scores s_j, are compared with hypothesis e. An
event is the k-th occurrence of an n-gram in a sentence; its value is the sum of s_j / sum s over the T_j that have it
(`combine = "mean"`) or the highest s_j of these ("best").

    precision_n = sum of the values of the n-grams of e / number of n-grams of e
    recall_n    = the same sum / sum of the values of all n-grams of the T_j
    similarity  = max_j s_j (1 - edit distance(e, T_j) / max(|e|, |T_j|))
    longest     = max_j of the number of words of the longest n-gram that e and T_j share
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import FeatureExtractor, option
from rerank_plugins.core.nbest import NBestList
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.kit.nbest_lists import source_of

if TYPE_CHECKING:
    from rerank_plugins.translation.memory.model import Matches, TranslationMemory


@dataclass(frozen=True)
class TranslationMemoryFeature(FeatureExtractor, PickledFields):
    """N-gram matches with the translations of the training sentences that are nearest to the source.

    Raises ValueError for numbers below 1, ModelError for a file that is missing, damaged, or of another kind.
    """

    model: Path = option(doc="model from `rerank train translation-memory`")
    nearest: int = option(10, doc="the number of training pairs k that a hypothesis is compared with")
    candidates: int = option(50, doc="pairs of the highest BM25 score that the nearest are chosen from")
    order_by: Literal["edits", "bm25"] = option("edits", doc="nearest by the fuzzy-match score, or by BM25 alone")
    combine: Literal["best", "mean"] = option("mean", doc="value of an n-gram: its best pair, or the mean over pairs")
    max_order: int = option(4, doc="length of the longest n-grams of precision and recall")
    copies: bool = option(True, doc="use pairs whose source is the segment's own; false for lists of training text")

    def __post_init__(self) -> None:
        for name in ("nearest", "candidates", "max_order"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; wanted 1 or more")

    @property
    def components(self) -> tuple[str, ...]:
        """`precision1`, `recall1` and so on for each order, then `similarity` and `longest`."""
        orders = range(1, self.max_order + 1)
        return (*(f"{name}{n}" for n in orders for name in ("precision", "recall")), "similarity", "longest")

    @cached_property
    def _memory(self) -> TranslationMemory:
        from rerank_plugins.translation.memory.model import read_model

        return read_model(self.model)

    def matches(self, source: str) -> Matches:
        """The training pairs that are nearest to a source sentence."""
        most = max(self.candidates, self.nearest)
        by_edits = self.order_by == "edits"
        return self._memory.nearest(source, self.nearest, candidates=most, by_edits=by_edits, copies=self.copies)

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, components) values, none negative. Raises ConfigError for a list without a source."""
        if not len(nbest):
            return np.zeros((0, len(self.components)))
        return self._values(self.matches(source_of(nbest, "translation-memory")), nbest.texts)

    def _values(self, matches: Matches, texts: Sequence[str]) -> FloatArray:
        from rerank_plugins.translation.memory.matches import compare, matched

        values = np.zeros((len(texts), len(self.components)))
        if not len(matches):
            return values
        target, scores = self._memory.target, matches.similarities
        tokens, rows = target.encoded(texts, lowercase=self._memory.lowercase)
        sizes = target.lengths(matches.pairs)
        sentences = np.concatenate([target.of(pair) for pair in matches.pairs])
        weights = scores if self.combine == "best" or not scores.any() else scores / scores.sum()
        ends = np.concatenate([[0], np.cumsum(sizes)])
        best = self.combine == "best"
        sums = matched((tokens, rows), (sentences, ends), weights, self.max_order, highest=best)
        lengths = np.diff(rows)
        ngrams = np.maximum(lengths[:, None] - np.arange(self.max_order), 1)
        values[:, 0:-2:2] = sums[:-1] / ngrams
        values[:, 1:-2:2] = sums[:-1] / np.where(sums[-1] > 0, sums[-1], 1.0)
        distances, runs = compare(tokens, rows, target, matches.pairs)
        agreement = 1.0 - distances / np.maximum(lengths[:, None], sizes)
        values[:, -2] = (scores * agreement).max(axis=1)
        values[:, -1] = runs.max(axis=1)
        return values
