"""The sparse features of a feature table, as a matrix of compressed sparse rows (CSR)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray


@dataclass(frozen=True, eq=False)
class SparseBlock:
    """Sparse features in compressed rows.

    The values of row i are `data[indptr[i]:indptr[i+1]]`; their columns, which are positions in `names`, are
    `indices[indptr[i]:indptr[i+1]]`.
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
        """A row per mapping; the names are sorted, and so are the columns within each row."""
        lengths = np.fromiter(map(len, mappings), np.int64, len(mappings))
        flat = list(chain.from_iterable(mappings))
        names = sorted(set(flat))
        column = {name: i for i, name in enumerate(names)}
        indices = np.fromiter(map(column.__getitem__, flat), np.int32, len(flat))
        data = np.fromiter(chain.from_iterable(row.values() for row in mappings), np.float64, len(flat))
        order = np.lexsort((indices, np.repeat(np.arange(len(mappings)), lengths)))
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return cls(tuple(names), indptr, indices[order], data[order])

    def dot(self, weights: FloatArray) -> FloatArray:
        """(rows) The weighted sum of each row; `weights` has one value per name."""
        rows = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        products = self.data * weights[self.indices]
        return np.bincount(rows, products, len(self.indptr) - 1).astype(np.float64)

    def rows(self, rows: LongArray) -> SparseBlock:
        """The block of these rows, in this order, with the same names."""
        lengths = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        offsets_in_row = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
        positions = np.repeat(self.indptr[:-1][rows], lengths) + offsets_in_row
        return SparseBlock(self.names, indptr, self.indices[positions], self.data[positions])

    def renamed(self, names: Sequence[str]) -> SparseBlock:
        """The block with columns for these names; values of other names are dropped, and new names have none."""
        column = {name: i for i, name in enumerate(names)}
        columns = np.array([column.get(name, -1) for name in self.names], np.int32)[self.indices]
        keep = columns >= 0
        kept = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)
        return SparseBlock(tuple(names), kept[self.indptr], columns[keep], self.data[keep])
