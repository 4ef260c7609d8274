"""Rows of dense and sparse features, with the two matrix products that tuners need.

The matrices are tall and thin, so on one core `einsum` is as fast as BLAS. On several cores BLAS would occupy all of
them for a product that is limited by memory bandwidth, and take them from the other restarts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.feature_table import SparseBlock


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
