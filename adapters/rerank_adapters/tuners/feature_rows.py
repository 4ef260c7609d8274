"""Rows of dense and sparse features, and the two products that tuners take with them.

Matrices here are tall and thin, so `einsum` is as fast as BLAS on one core; on several, BLAS keeps all of them spinning
for a product bound by memory, and takes them from the other restarts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.feature_table import SparseBlock


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """`dense` (rows, F) in Fortran order, `sparse` of the same rows. Weights are for dense features, then sparse."""

    dense: FloatArray
    sparse: SparseBlock

    def dot(self, weights: FloatArray) -> FloatArray:
        """(rows): the weighted sum of each row."""
        width = self.dense.shape[1]
        sums: FloatArray = np.einsum("ij,j->i", self.dense, weights[:width])
        return sums + self.sparse.dot(weights[width:]) if self.sparse.names else sums

    def pull(self, amounts: FloatArray) -> FloatArray:
        """(F + sparse): the rows, each times its amount, summed: the gradient of `amounts @ dot(weights)`."""
        dense: FloatArray = np.einsum("i,ij->j", amounts, self.dense)
        if not self.sparse.names:
            return dense
        products = self.sparse.data * np.repeat(amounts, np.diff(self.sparse.indptr))
        return np.concatenate([dense, np.bincount(self.sparse.indices, products, len(self.sparse.names))])

    def rows(self, rows: LongArray) -> FeatureRows:
        """Some of the rows, in that order."""
        return FeatureRows(np.asfortranarray(self.dense[rows]), self.sparse.rows(rows))
