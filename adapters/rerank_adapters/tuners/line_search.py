"""Exact line search over a corpus metric (Och 2003): finds the t whose 1-bests by scores + t * slopes score best.

The metric is constant between two changes of any list's 1-best. All changes are sorted, the differences that they make
in the statistics are cumulated, and the metric is computed for all intervals in one call. It can be any additive
metric, to be maximised or minimised.

Of the intervals with the best score the widest wins, and t is its middle, since weights at the edge of an
interval would change their 1-bests with the next rounding. For the same reason, changes that are closer together than
NARROW times the whole range count as one. With `smoothing` > 0 the score of an interval is averaged over all t within
that distance of its middle, as a guard against narrow peaks, which do not generalise (Cer, Jurafsky & Manning 2008;
Foster & Kuhn 2009).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rerank_adapters.tuners.envelopes import upper_envelopes
from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.interfaces import Metric

NARROW = 1e-9


class Line(NamedTuple):
    """The metric along a line: it is `scores[i]` for t from `edges[i]` to `edges[i+1]`; adjacent scores differ."""

    edges: FloatArray
    scores: FloatArray

    def smoothed(self, smoothing: float) -> FloatArray:
        """(intervals): the score averaged over all t on the line within `smoothing` of the interval's middle."""
        if smoothing <= 0 or len(self.scores) == 1:
            return self.scores
        # The integral of the metric from edges[0] to each edge; it is linear in between, so `interp` is exact.
        area = np.concatenate([[0.0], np.cumsum(np.diff(self.edges) * self.scores)])
        middles = (self.edges[1:] + self.edges[:-1]) / 2
        low = np.maximum(middles - smoothing, self.edges[0])
        high = np.minimum(middles + smoothing, self.edges[-1])
        mean: FloatArray = (np.interp(high, self.edges, area) - np.interp(low, self.edges, area)) / (high - low)
        return mean

    def best(self, sign: float, smoothing: float = 0.0, penalties: FloatArray | None = None) -> tuple[float, float]:
        """The best t and the (smoothed) score there; `sign` is 1 to maximise the metric, -1 to minimise it.

        Each interval's score is worse by its part of `penalties` (intervals), in units of the metric.
        """
        gains = sign * self.smoothed(smoothing)
        if penalties is not None:
            gains = gains - penalties
        best = int(np.argmax(np.where(gains == gains.max(), np.diff(self.edges), 0.0)))
        return float(self.edges[best] + self.edges[best + 1]) / 2, float(sign * gains[best])


def metric_on_line(
    scores: FloatArray,
    slopes: FloatArray,
    offsets: LongArray,
    statistics: FloatArray,
    metric: Metric,
    low: float,
    high: float,
) -> Line:
    """The metric of the 1-bests by `scores + t * slopes` for t from `low` to `high`, both finite, with low < high."""
    # All changes of 1-bests in all lists, in ascending order of t.
    first, at, before, after = upper_envelopes(scores, slopes, offsets, low, high)
    order = np.argsort(at)
    starts = np.concatenate([[low], at[order]])
    # The intervals that are wide enough to count.
    wide = np.flatnonzero(np.diff(starts, append=high) > NARROW * (high - low))
    # totals[i] = statistics of the first 1-bests + the sum over changes 1 … i of (statistics after - before).
    changes = statistics[after[order]]
    changes -= statistics[before[order]]
    totals = np.concatenate([statistics[first].sum(axis=0, keepdims=True), changes])
    np.cumsum(totals, axis=0, out=totals)
    values = metric.score(totals[wide])
    # Merge neighbouring intervals with equal scores.
    differs = np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1])
    edges = np.concatenate([[low], starts[wide[differs[1:]]], [high]])
    return Line(edges, values[differs])
