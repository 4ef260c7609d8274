"""Exact line search over a corpus metric (Och 2003): the t that makes the 1-bests by scores + t * slopes best.

The metric is constant between two changes of any list's 1-best. All changes are sorted together, the differences of
statistics that they make are cumulated, and the metric is computed at once for every interval: any additive metric,
maximised or minimised, no call per interval.

Among the intervals that share the best score the widest wins, and t is its middle: weights at the edge of an interval
change their 1-bests with the next rounding. For the same reason changes closer to each other than NARROW of the whole
range count as one. With `smoothing` > 0 an interval's score is averaged over all t within that distance of its middle,
a guard against narrow peaks, which do not generalise (Cer, Jurafsky & Manning 2008; Foster & Kuhn 2009).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rerank_adapters.tuners.envelopes import upper_envelopes
from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.interfaces import Metric

NARROW = 1e-9


class Line(NamedTuple):
    """The metric along a line: `scores[i]` holds for t from `edges[i]` to `edges[i+1]`; neighbours differ."""

    edges: FloatArray
    scores: FloatArray

    def smoothed(self, smoothing: float) -> FloatArray:
        """Each interval's score, averaged over the t within `smoothing` of its middle (and on the line)."""
        if smoothing <= 0 or len(self.scores) == 1:
            return self.scores
        area = np.concatenate([[0.0], np.cumsum(np.diff(self.edges) * self.scores)])
        middles = (self.edges[1:] + self.edges[:-1]) / 2
        low = np.maximum(middles - smoothing, self.edges[0])
        high = np.minimum(middles + smoothing, self.edges[-1])
        mean: FloatArray = (np.interp(high, self.edges, area) - np.interp(low, self.edges, area)) / (high - low)
        return mean

    def best(self, sign: float, smoothing: float = 0.0) -> tuple[float, float]:
        """The t to go to, and the (smoothed) score there; `sign` is -1 for a metric to be made low."""
        gains = sign * self.smoothed(smoothing)
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
    """The metric of the 1-bests by `scores + t * slopes` for t from `low` to `high`, both finite, low < high."""
    first, at, before, after = upper_envelopes(scores, slopes, offsets, low, high)
    order = np.argsort(at)
    starts = np.concatenate([[low], at[order]])
    wide = np.flatnonzero(np.diff(starts, append=high) > NARROW * (high - low))
    changes = statistics[after[order]]
    changes -= statistics[before[order]]
    totals = np.concatenate([statistics[first].sum(axis=0, keepdims=True), changes])
    np.cumsum(totals, axis=0, out=totals)
    values = metric.score(totals[wide])
    differs = np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1])
    edges = np.concatenate([[low], starts[wide[differs[1:]]], [high]])
    return Line(edges, values[differs])
