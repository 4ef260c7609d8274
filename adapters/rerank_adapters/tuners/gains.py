"""What each hypothesis would bring to a corpus metric: its statistics times the metric's slope at some corpus totals.

A corpus metric does not add up over segments; to first order around the totals of a document it does (for BLEU:
Smith & Eisner 2006, section 4; Tromble et al. 2008). The slope is taken by central differences as wide as one segment's
share of the totals, so that any metric will do. Gains point up: higher is better whatever the metric.
"""

from __future__ import annotations

import numpy as np

from rerank_adapters.tuners.one_best import centred
from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.interfaces import Metric


def metric_slope(metric: Metric, totals: FloatArray, segments: float, width: float = 1.0) -> FloatArray:
    """(S): how much better the metric gets per unit of each statistic at `totals`, the sum over `segments` segments.

    Times `segments`, so that it does not depend on their number. `width` of the differences: in segments' shares.
    """
    widths = width * np.maximum(np.abs(totals) / segments, 1e-3)
    around = np.concatenate([np.diag(widths), -np.diag(widths)]) + totals
    values = metric.score(around)
    slope = (values[: len(totals)] - values[len(totals) :]) / (2.0 * widths) * segments
    return slope if metric.higher_is_better else -slope


def gains_of(statistics: FloatArray, slope: FloatArray) -> FloatArray:
    """(rows): what each row of statistics (rows, S) would bring."""
    gains: FloatArray = np.einsum("ij,j->i", statistics, slope)
    return gains


def spread(gains: FloatArray, offsets: LongArray) -> float:
    """Standard deviation within lists, pooled over all; 1 where there is none, so that it can divide."""
    return float(np.sqrt(np.mean(centred(gains, offsets) ** 2))) or 1.0
