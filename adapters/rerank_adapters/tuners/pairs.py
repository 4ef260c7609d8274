"""Samples pairs of hypotheses for PRO whose sentence scores differ enough, but not too much.

In Hopkins & May (2011), Figure 4, Γ pairs are drawn from each list; of those whose scores differ by at least α, the Ξ
most different ones are kept. Nakov, Guzmán & Vogel (2013) find that the most different pairs often contain a monster,
an absurdly long and absurdly bad hypothesis, which makes the weights prefer short output. Their remedies are a ceiling
on the difference and a random choice among the pairs above the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray

DRAWN_AT_ONCE = 50_000  # keeps the arrays in the processor's cache


class Pairs(NamedTuple):
    """(pairs) the rows of the better hypothesis of each pair, and those of the worse one."""

    better: LongArray
    worse: LongArray


@dataclass(frozen=True, eq=False)
class PairSampler:
    """Draws `drawn` pairs per list and keeps up to `kept` of those that differ by `threshold` to `ceiling`.

    `goodness` (rows) are sentence scores, higher is better; the thresholds are in their unit. `keep` selects the most
    different pairs or random ones. A list of one hypothesis has no pairs.
    """

    goodness: FloatArray
    offsets: LongArray
    drawn: int
    kept: int
    threshold: float
    ceiling: float
    keep: Literal["top", "random"] = "top"

    def sample(self, rng: np.random.Generator) -> Pairs:
        """Draw pairs from all lists; they are ordered by list. O(lists * drawn)."""
        step = max(DRAWN_AT_ONCE // self.drawn, 1)
        parts = [self._sample(begin, begin + step, rng) for begin in range(0, len(self.offsets) - 1, step)]
        return Pairs(np.concatenate([p.better for p in parts]), np.concatenate([p.worse for p in parts]))

    def _sample(self, begin: int, end: int, rng: np.random.Generator) -> Pairs:
        """The pairs of lists `begin` to `end`."""
        offsets = self.offsets[begin : end + 1]
        lengths, starts = np.diff(offsets)[:, None], offsets[:-1, None]
        uniform = rng.random((2, len(lengths), self.drawn), dtype=np.float32)
        # Rounding in float32 may give the length itself, hence the minimum.
        one, other = starts + np.minimum((uniform * lengths).astype(np.int64), lengths - 1)
        difference = np.abs(self.goodness[one] - self.goodness[other])
        fits = (difference >= self.threshold) & (difference <= self.ceiling) & (difference > 0)
        # The draws are in random order, so the first ones that fit are a random choice.
        rank = difference if self.keep == "top" else -np.arange(self.drawn) + np.zeros(difference.shape)
        rank = np.where(fits, rank, -np.inf)
        if self.kept < self.drawn:
            best = np.argpartition(-rank, self.kept - 1, axis=1)[:, : self.kept]
            one, other, fits = (np.take_along_axis(a, best, axis=1) for a in (one, other, fits))
        one, other = one[fits], other[fits]
        swap = self.goodness[one] < self.goodness[other]
        return Pairs(np.where(swap, other, one), np.where(swap, one, other))
