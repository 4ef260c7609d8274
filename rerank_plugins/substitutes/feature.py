"""The feature `substitutes`: how a hypothesis's words rank among the substitutes that contexts allow.

A substitute is allowed by the words on both sides (Yuret 2012).

With S(w) the sum of ln p over all n-grams that contain a position, with w in it, means over the words e_i:

    log_probability = mean S(e_i)
    rank            = -mean ln r_i, r_i the rank of e_i among all words, K + 1 if it is not among the K best
    share           = mean exp S(e_i) / Σ exp S(v), v being the K best substitutes and e_i itself

`<unk>` is no substitute. An unknown word e_i has the share of one of the types that `<unk>` stands for
(kit/vocabulary/unknown_types.py); unknown words around a position are `<unk>`, for all substitutes alike. An empty
hypothesis is one unknown word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import (
    FloatArray,
    IntArray,
    LongArray,
    PickledFields,
    Sentence,
    SentenceFeature,
    option,
)
from rerank_plugins.kit.vocabulary.unknown_types import check_unknown_types, divide_unknown, unknown_types_option
from rerank_plugins.kit.vocabulary.word_ids import BOS, UNK

if TYPE_CHECKING:
    from rerank_plugins.substitutes.fastsubs import FastSubs

WINDOWS_A_BLOCK = 1 << 14  # windows searched at a time
UNKNOWN_WORD = "<unk>"


@dataclass(frozen=True)
class SubstitutesFeature(SentenceFeature, PickledFields):
    """Each word among its best substitutes in the n-grams around it: ln p, rank and proportion of their mass."""

    model: Path = option(doc="n-gram model from `rerank train ngram`, or an ARPA file")
    k: int = option(20, doc="how many substitutes of each word are found")
    unknown_types: int | None = unknown_types_option("as the model file says, and 1 for ARPA files")

    def __post_init__(self) -> None:
        check_unknown_types(self.unknown_types)
        if self.k < 1:
            raise ValueError(f"k = {self.k}: wanted at least 1")

    components = ("log_probability", "rank", "share")

    @cached_property
    def _substitutes(self) -> FastSubs:
        from rerank_plugins.substitutes.fastsubs import FastSubs  # loads numba, at the first use

        return FastSubs.load(self.model)

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 3) means over the words: natural log, minus natural log of the rank, proportion of the mass."""
        if not len(sentences):
            return np.zeros((0, 3))
        sentences = [words or (UNKNOWN_WORD,) for words in sentences]
        tokens = self._substitutes.encode(sentences)
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        inner = np.ones(len(tokens), np.bool_)
        ends = np.cumsum(lengths + 2)
        inner[ends - 1] = inner[ends - lengths - 2] = False
        places = np.flatnonzero(inner)
        of_words = self._of_places(tokens, places, np.repeat(ends, lengths))
        starts = np.cumsum(lengths) - lengths
        return np.asarray(np.add.reduceat(of_words, starts) / lengths[:, None], np.float64)

    def _of_places(self, tokens: IntArray, places: LongArray, ends: LongArray) -> FloatArray:
        """(positions, 3) the values of the words at ascending positions, whose sentences end at `ends`.

        Positions with equal windows are searched once.
        """
        around = self._windows(tokens, places, ends)
        _, first, window = np.unique(around, return_index=True, return_inverse=True)
        # Distinct words in distinct windows, in the order of the first position of each window.
        words = tokens[places]
        in_order = np.argsort(first)
        number = np.empty(len(first), np.int64)
        number[in_order] = np.arange(len(first))
        keys, some, pair = np.unique(number[window] << 32 | words, return_index=True, return_inverse=True)
        values = np.empty((len(keys), 3))
        for start in range(0, len(first), WINDOWS_A_BLOCK):
            chosen = first[in_order[start : start + WINDOWS_A_BLOCK]]
            low, high = np.searchsorted(keys, np.array([start, start + len(chosen)]) << 32).tolist()
            row = (keys[low:high] >> 32) - start
            own = words[some[low:high]]
            ln_p = self._substitutes.scores(tokens, places[chosen[row]], own)
            divide_unknown(ln_p, own == UNK, self.unknown_types or self._substitutes.ngrams.unknown_types)
            best = self._substitutes.top_places(tokens, places[chosen], self.k)
            values[low:high] = among(ln_p, own, best.ln_p[row], best.words[row])
        return np.asarray(values[pair], np.float64)

    def _windows(self, tokens: IntArray, places: LongArray, ends: LongArray) -> NDArray[np.uint64]:
        """(positions) a hash of the words that can stand in one n-gram with each position, the word itself left out."""
        order = self._substitutes.ngrams.tables.order
        padded = np.concatenate([tokens, np.zeros(order, np.int32)])
        hashed = np.zeros(len(places), np.uint64)
        starting = tokens == BOS
        open_left = np.ones(len(places), np.bool_)
        for offset in range(1, order):
            # Left of <s> and right of </s> there is nothing.
            left = np.where(open_left, tokens[np.maximum(places - offset, 0)].astype(np.int64) + 1, 0)
            open_left &= ~starting[np.maximum(places - offset, 0)]
            right = np.where(places + offset < ends, padded[places + offset].astype(np.int64) + 1, 0)
            for column in (left, right):
                hashed = (hashed ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
                hashed ^= hashed >> np.uint64(29)
        return hashed


def among(ln_p: FloatArray, words: IntArray, best: FloatArray, substitutes: IntArray) -> FloatArray:
    """(n, 3) ln p, -ln rank and proportion of the mass of n words; `best` and `substitutes` are (n, K)."""
    own = ln_p[:, None]
    before = (best > own) | ((best == own) & (substitutes < words[:, None]))
    rank = 1 + before.sum(axis=1)
    highest = np.maximum(best.max(axis=1, initial=-np.inf), ln_p)
    weights = np.exp(ln_p - highest)
    mass = np.exp(best - highest[:, None]).sum(axis=1)
    mass += np.where((substitutes == words[:, None]).any(axis=1), 0.0, weights)
    return np.stack([ln_p, 0.0 - np.log(rank), weights / mass], axis=1)
