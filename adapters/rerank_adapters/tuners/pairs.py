"""Pairs of hypotheses for PRO: drawn from each list, kept where sentence scores differ enough, and not too much.

Hopkins & May (2011), Figure 4: draw Γ pairs of each list, keep those whose scores differ by α at least, and of these
the Ξ most different. Nakov, Guzmán & Vogel (2013) find that the most different pairs often hold a monster, a hypothesis
absurdly long and absurdly bad, which teaches the weights to be short; their remedies are a ceiling on the difference,
or a random choice among the pairs above the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from rerank_plugins.arrays import FloatArray, LongArray

DRAWN_AT_ONCE = 50_000  # so that arrays stay in the cache


class Pairs(NamedTuple):
    """Rows of the better and of the worse hypothesis of each pair, of equal length."""

    better: LongArray
    worse: LongArray


@dataclass(frozen=True, eq=False)
class PairSampler:
    """Draws `drawn` pairs per list and keeps up to `kept` of those that differ by `threshold` to `ceiling`.

    `goodness` (rows): sentence scores, higher is better; thresholds are in its unit. A list of one has no pairs.
    """

    goodness: FloatArray
    offsets: LongArray
    drawn: int
    kept: int
    threshold: float
    ceiling: float
    keep: Literal["top", "random"] = "top"

    def sample(self, rng: np.random.Generator) -> Pairs:
        """Pairs of all lists, list by list. O(lists * drawn)."""
        step = max(DRAWN_AT_ONCE // self.drawn, 1)
        parts = [self._sample(begin, begin + step, rng) for begin in range(0, len(self.offsets) - 1, step)]
        return Pairs(np.concatenate([p.better for p in parts]), np.concatenate([p.worse for p in parts]))

    def _sample(self, begin: int, end: int, rng: np.random.Generator) -> Pairs:
        offsets = self.offsets[begin : end + 1]
        lengths, starts = np.diff(offsets)[:, None], offsets[:-1, None]
        uniform = rng.random((2, len(lengths), self.drawn), dtype=np.float32)
        # float32 may round up to the length itself
        one, other = starts + np.minimum((uniform * lengths).astype(np.int64), lengths - 1)
        difference = np.abs(self.goodness[one] - self.goodness[other])
        fits = (difference >= self.threshold) & (difference <= self.ceiling) & (difference > 0)
        # Draws come in random order, so the first of those that fit are a random choice.
        rank = difference if self.keep == "top" else -np.arange(self.drawn) + np.zeros(difference.shape)
        rank = np.where(fits, rank, -np.inf)
        if self.kept < self.drawn:
            best = np.argpartition(-rank, self.kept - 1, axis=1)[:, : self.kept]
            one, other, fits = (np.take_along_axis(a, best, axis=1) for a in (one, other, fits))
        one, other = one[fits], other[fits]
        swap = self.goodness[one] < self.goodness[other]
        return Pairs(np.where(swap, other, one), np.where(swap, one, other))
