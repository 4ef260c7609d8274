"""Tests of whether two systems differ by more than chance: the paired bootstrap and approximate randomisation.

Both resample segments, and a corpus metric over additive statistics needs only the sums over each resample: B
resamples of N segments are one (B, N) matrix of counts times the (N, S) statistics. All systems and metrics have the
same resamples, side by side in the columns, and `metric.score` turns all sums into scores at once. Cost: O(B · N · S)
multiply-adds.

Paired bootstrap: Koehn (2004), "Statistical significance tests for machine translation evaluation". Approximate
randomisation: Noreen (1989). P-values as in sacrebleu, after Riezler & Maxwell (2005), with (c + 1) / (B + 1); with
the same seed the resamples are sacrebleu's own. In one point we depart from sacrebleu, which takes a resample that
ties with the observed difference as evidence against chance, so that two identical systems differ "significantly";
here a tie is evidence for chance. Of the two tests the bootstrap is the more liberal (see `bootstrap_p_value`).

P-values of several tests that are reported together are corrected by Holm (1979), "A simple sequentially rejective
multiple test procedure". Whichever of the null hypotheses are true, the probability that any of these is rejected at
the level α is at most α, however the tests depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rerank_plugins import FloatArray

BLOCK_CELLS = 1 << 22  # cells of a block of the resampling matrix: 32 MB of float64
MAX_TIE = 1e-9  # scores that differ by no more are equal: sums of the same numbers in another order differ by less


def holm(p_values: Sequence[float] | FloatArray) -> FloatArray:
    """(n) adjusted p-values, in the order of the (n) p-values: a test is significant at α if its value is at most α.

    The smallest p-value is multiplied by n, the next by n - 1, and so on; no adjusted value is below that of a smaller
    p-value, and none above 1. Raises ValueError for a p-value outside [0, 1].

    >>> holm([0.01, 0.04, 0.03, 0.005]).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    p = np.asarray(p_values, np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"a p-value is {p[~((p >= 0) & (p <= 1))][0]}, wanted 0 to 1")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


class Interval(NamedTuple):
    """A 95 % confidence interval."""

    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of its length, which tables write after ±."""
        return (self.high - self.low) / 2

    @property
    def excludes_zero(self) -> bool:
        """Whether all of it is above zero, or all of it below."""
        return self.low > 0 or self.high < 0

    @property
    def written(self) -> str:
        """An interval of differences as text: `[+0.12, +1.20]`."""
        return f"[{self.low:+.2f}, {self.high:+.2f}]"


def bootstrap_totals(statistics: FloatArray, samples: int, rng: np.random.Generator) -> FloatArray:
    """(samples, K): the sums of rows of `statistics` (segments, K) over segments drawn with replacement."""
    segments = len(statistics)
    totals = [np.zeros((0, statistics.shape[1]))]
    for rows in _blocks(samples, segments):
        drawn = rng.choice(segments, size=(rows, segments), replace=True)
        cells = drawn + np.arange(rows)[:, None] * segments
        counts = np.bincount(cells.ravel(), minlength=rows * segments).reshape(rows, segments)
        totals.append(counts.astype(np.float64) @ statistics)
    return np.concatenate(totals)


def swapped_totals(statistics: FloatArray, trials: int, rng: np.random.Generator) -> FloatArray:
    """(trials, K): the sums of rows of `statistics` (segments, K) over the segments that a trial swaps, each with
    probability ½. Where the statistics are differences between two systems, a sum is the amount that the swap moves
    from one total to the other.
    """
    segments = len(statistics)
    totals = [np.zeros((0, statistics.shape[1]))]
    for rows in _blocks(trials, segments):
        swapped = rng.integers(2, size=(rows, segments), dtype=bool)
        totals.append(swapped.astype(np.float64) @ statistics)
    return np.concatenate(totals)


def percentile_interval(scores: FloatArray) -> Interval:
    """The interval between the 2.5th and the 97.5th percentile of resampled scores (n)."""
    ordered = np.sort(scores)
    cut = len(ordered) // 40
    return Interval(float(ordered[cut]), float(ordered[-1 - cut]))


def bootstrap_p_value(differences: FloatArray, observed: float) -> float:
    """The p-value of the observed difference: how often the differences of the resamples (n) deviate from their mean
    size by at least as much. Where the difference is large compared with its spread, only one tail is counted, so that
    the value is about half of a two-sided p-value.
    """
    sizes = np.abs(differences)
    return _p_value(sizes - sizes.mean(), observed)


def randomisation_p_value(differences: FloatArray, observed: float) -> float:
    """The p-value of the observed difference: how often the differences of the trials (n), in which outputs are swapped
    between the systems at random, are at least as large.
    """
    return _p_value(np.abs(differences), observed)


def _p_value(statistic: FloatArray, observed: float) -> float:
    return float((np.count_nonzero(statistic >= abs(observed) - MAX_TIE) + 1) / (len(statistic) + 1))


def _blocks(samples: int, segments: int) -> Iterator[int]:
    """Numbers of rows of blocks, multiples of 32, so that the generator's bits are used as if there were one block."""
    rows = max(32, BLOCK_CELLS // max(segments, 1) // 32 * 32)
    for done in range(0, samples, rows):
        yield min(rows, samples - done)
