"""The sums that tuners compute within lists: 1-bests, centred values, gains, and products with rows of features.

A corpus metric is not a sum over segments, but its first-order approximation around the totals of a document is (for
BLEU: Smith & Eisner 2006, section 4; Tromble et al. 2008). The gain of a hypothesis is the product of its statistics
with the slope of the metric at such totals, by central differences as wide as one segment's part of them, so that any
metric can be used. For gains higher is better, whatever the metric.

The matrices of features are tall and thin, so on one core `einsum` is as fast as BLAS. On several cores BLAS would
occupy all of them for a product that is limited by memory bandwidth, and take them from the other restarts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_plugins import FloatArray, Metric, SparseBlock
from rerank_plugins.core.arrays import LongArray

CONSTANT = 1e-10  # a deviation below this fraction of the values' magnitude is the rounding error of a constant


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """`dense` (rows, F) in Fortran order and `sparse` of the same rows; dense weights precede sparse ones."""

    dense: FloatArray
    sparse: SparseBlock

    def dot(self, weights: FloatArray) -> FloatArray:
        """(rows): the weighted sum of the features of each row."""
        width = self.dense.shape[1]
        sums: FloatArray = np.einsum("ij,j->i", self.dense, weights[:width])
        return sums + self.sparse.dot(weights[width:]) if self.sparse.names else sums

    def pull(self, amounts: FloatArray) -> FloatArray:
        """(F + sparse): the sum of the rows, each times its amount: the gradient of `amounts @ dot(weights)`."""
        dense: FloatArray = np.einsum("i,ij->j", amounts, self.dense)
        if not self.sparse.names:
            return dense
        products = self.sparse.data * np.repeat(amounts, np.diff(self.sparse.indptr))
        return np.concatenate([dense, np.bincount(self.sparse.indices, products, len(self.sparse.names))])

    def rows(self, rows: LongArray) -> FeatureRows:
        """The rows with these numbers, in this order."""
        return FeatureRows(np.asfortranarray(self.dense[rows]), self.sparse.rows(rows))


def dot(a: FloatArray, b: FloatArray) -> float:
    """The inner product, summed in one order on every processor, as `a @ b` is not.

    A search stops by comparisons, so that a difference in the last digit may grow to one in the fourth.
    """
    return float((a * b).sum())


def one_best(scores: FloatArray, offsets: LongArray) -> LongArray:
    """(segments): the row of the highest score in each list; the earliest row wins a tie.

    `scores` (rows) are finite; the rows of segment s are `offsets[s]:offsets[s+1]`, at least one each.
    """
    highest = np.maximum.reduceat(scores, offsets[:-1])
    hits = np.flatnonzero(scores == np.repeat(highest, np.diff(offsets)))
    return hits[np.searchsorted(hits, offsets[:-1])]


def centred(values: FloatArray, offsets: LongArray) -> FloatArray:
    """(rows): the values less the mean of their list, which is all that a choice within the list can depend on."""
    lengths = np.diff(offsets)
    result: FloatArray = values - np.repeat(np.add.reduceat(values, offsets[:-1]) / lengths, lengths)
    return result


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


def correlations_within_lists(columns: FloatArray, offsets: LongArray) -> FloatArray:
    """(columns, columns) Pearson's r of the values (rows, columns) less the means of their lists, over all lists.

    It is nan for a column that is constant in every list.
    """
    varying = np.stack([centred(column, offsets) for column in columns.T])
    lengths = np.linalg.norm(varying, axis=1)
    magnitudes = np.linalg.norm(columns, axis=0)
    lengths = np.where(lengths > CONSTANT * np.maximum(magnitudes, 1e-300), lengths, np.nan)
    unit = varying / lengths[:, None]
    result: FloatArray = np.clip(unit @ unit.T, -1.0, 1.0)
    return result
