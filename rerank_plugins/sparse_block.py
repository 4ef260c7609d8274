"""Sparse features of the rows of a feature table, in compressed rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from rerank_plugins.arrays import FloatArray, IntArray, LongArray


@dataclass(frozen=True, eq=False)
class SparseBlock:
    """Sparse features in compressed rows: the values of row i are `data[indptr[i]:indptr[i+1]]`,
    their columns (positions in `names`) `indices[indptr[i]:indptr[i+1]]`.
    """

    names: tuple[str, ...]
    indptr: LongArray
    indices: IntArray
    data: FloatArray

    @classmethod
    def empty(cls, rows: int) -> SparseBlock:
        """No sparse features for `rows` rows."""
        nothing = np.zeros(0)
        return cls((), np.zeros(rows + 1, np.int64), nothing.astype(np.int32), nothing)

    @classmethod
    def from_mappings(cls, mappings: Sequence[Mapping[str, float]]) -> SparseBlock:
        """One row per mapping; names sorted, columns ascending in each row."""
        lengths = np.fromiter(map(len, mappings), np.int64, len(mappings))
        flat = list(chain.from_iterable(mappings))
        names = sorted(set(flat))
        column = {name: i for i, name in enumerate(names)}
        indices = np.fromiter(map(column.__getitem__, flat), np.int32, len(flat))
        data = np.fromiter(chain.from_iterable(each.values() for each in mappings), np.float64, len(flat))
        order = np.lexsort((indices, np.repeat(np.arange(len(mappings)), lengths)))
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return cls(tuple(names), indptr, indices[order], data[order])

    def dot(self, weights: FloatArray) -> FloatArray:
        """Weighted sums, one per row; `weights` has one value per name."""
        rows = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        products = self.data * weights[self.indices]
        return np.bincount(rows, products, len(self.indptr) - 1).astype(np.float64)

    def rows(self, rows: LongArray) -> SparseBlock:
        """The block of the given rows, in that order, with the same names."""
        lengths = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
        take = np.repeat(self.indptr[:-1][rows], lengths) + within
        return SparseBlock(self.names, indptr, self.indices[take], self.data[take])

    def renamed(self, names: Sequence[str]) -> SparseBlock:
        """The same values over another list of names; values of names not in it are dropped."""
        column = {name: i for i, name in enumerate(names)}
        new = np.array([column.get(name, -1) for name in self.names], np.int32)[self.indices]
        keep = new >= 0
        kept = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)
        return SparseBlock(tuple(names), kept[self.indptr], new[keep], self.data[keep])
