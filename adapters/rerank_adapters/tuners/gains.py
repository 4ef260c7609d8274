"""Gains: how much each hypothesis would add to a corpus metric, to first order.

A corpus metric is not a sum over segments, but its first-order approximation around the totals of a document is (for
BLEU: Smith & Eisner 2006, section 4; Tromble et al. 2008). A gain is the product of a hypothesis's statistics with the
slope of the metric at such totals. The slope is computed by central differences as wide as one segment's part of the
totals, so any metric can be used. For gains higher is better, whatever the metric.
"""

from __future__ import annotations

import numpy as np

from rerank_adapters.tuners.one_best import centred
from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.metrics_and_tuners import Metric


def metric_slope(metric: Metric, totals: FloatArray, segments: float, width: float = 1.0) -> FloatArray:
    """(S): how much the metric improves per unit of each statistic at `totals`, the sum over `segments` segments.

    The slope is multiplied by `segments`, so that it does not depend on their number. `width` is that of the
    differences, as a multiple of one segment's part of the totals.
    """
    widths = width * np.maximum(np.abs(totals) / segments, 1e-3)
    around = np.concatenate([np.diag(widths), -np.diag(widths)]) + totals
    values = metric.score(around)
    slope = (values[: len(totals)] - values[len(totals) :]) / (2.0 * widths) * segments
    return slope if metric.higher_is_better else -slope


def gains_of(statistics: FloatArray, slope: FloatArray) -> FloatArray:
    """(rows): the gain of each row of the statistics (rows, S)."""
    gains: FloatArray = np.einsum("ij,j->i", statistics, slope)
    return gains


def spread(gains: FloatArray, offsets: LongArray) -> float:
    """The standard deviation within lists, pooled over all lists; 1 instead of 0, so that it can be a divisor."""
    return float(np.sqrt(np.mean(centred(gains, offsets) ** 2))) or 1.0
