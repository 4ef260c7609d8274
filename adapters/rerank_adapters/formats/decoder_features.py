"""From n-best lists to the feature table of the decoder's own features, dense and sparse.

Decoders that leave zeros out of a line do not say which of their features are dense. `DenseRule` decides, from the
whole set of lists and from nothing else, so that the same lists give the same table; `align` then gives the lists of a
test set the columns of the tuning set. Time and memory: linear in the values, plus one sort of the sparse ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain

import numpy as np

from rerank_adapters.formats.feature_field import names_differ
from rerank_adapters.formats.merging import check_same_features
from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.errors import ConfigError
from rerank_plugins.feature_table import FeatureTable, SparseBlock
from rerank_plugins.nbest import NBestList


@dataclass(frozen=True)
class DenseRule:
    """Which names that the reader kept as sparse become dense columns (a hypothesis without one has 0 there).

    `few`             all of them, where there are at most this many names in all the lists; otherwise
    `share`           those that at least this share of all hypotheses have
    `dense`           patterns of names that become dense whatever their number
    `sparse`          patterns of names that never do; they go first
    `absent_is_zero`  whether a name that no hypothesis has is a feature that was 0 everywhere (see `align`)

    The default takes only what every hypothesis has.
    """

    few: int = 0
    share: float = 1.0
    dense: tuple[str, ...] = ()
    sparse: tuple[str, ...] = ()
    absent_is_zero: bool = False

    def promotes(self, names: Sequence[str], counts: LongArray, rows: int) -> list[bool]:
        """For each name, held by `counts` of the `rows` hypotheses, whether it becomes a column."""
        common = counts >= (0 if len(names) <= self.few else max(1.0, self.share * rows))
        return [
            not _matches(name, self.sparse) and (_matches(name, self.dense) or bool(held))
            for name, held in zip(names, common, strict=True)
        ]


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def decoder_table(nbests: Sequence[NBestList], rule: DenseRule | None = None) -> FeatureTable:
    """One row per hypothesis: the decoder's dense features, then those that `rule` makes dense (by name), then the
    sparse block (columns by name).

    Take the rule from the format that read the lists (`format.dense_rule`, where it has one). Raises FormatError for
    lists whose dense features differ.
    """
    names = check_same_features(nbests)
    lengths = np.array([len(nbest) for nbest in nbests], np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = int(offsets[-1])
    flat = chain.from_iterable(h.features for nbest in nbests for h in nbest)
    values = np.fromiter(flat, np.float64, rows * len(names)).reshape(rows, len(names))
    ids = tuple(nbest.segment_id for nbest in nbests)
    block = SparseBlock.from_mappings([h.sparse for nbest in nbests for h in nbest])
    table = FeatureTable(names, values, offsets, ids, block)
    if not block.names:
        return table
    counts = np.bincount(block.indices, minlength=len(block.names))
    promoted = (rule or DenseRule()).promotes(block.names, counts, rows)
    dense = [name for name, yes in zip(block.names, promoted, strict=True) if yes]
    return _with_columns(table, (*names, *dense), [n for n, yes in zip(block.names, promoted, strict=True) if not yes])


def align(
    table: FeatureTable, names: Sequence[str], sparse_names: Sequence[str], *, absent_is_zero: bool = False
) -> FeatureTable:
    """The table with the columns of another: dense `names`, then sparse `sparse_names`, in that order.

    A feature that is dense in one table and sparse in the other moves. Sparse features that are not asked for are
    dropped: they have no weight. With `absent_is_zero` (the format says so) a dense column that the table lacks is 0
    and one that is not asked for is dropped. Raises ConfigError naming dense features that are missing or unexpected.
    """
    if table.names == tuple(names) and table.sparse.names == tuple(sparse_names):
        return table
    wanted, has = {*names, *sparse_names}, {*table.names, *table.sparse.names}
    missing = [name for name in names if name not in has]
    extra = [name for name in table.names if name not in wanted]
    if (missing or extra) and not absent_is_zero:
        raise ConfigError(f"features differ from those of the tuning lists: {names_differ(missing, extra)}")
    return _with_columns(table, names, sparse_names)


def _with_columns(table: FeatureTable, names: Sequence[str], sparse_names: Sequence[str]) -> FeatureTable:
    """The same features over other columns; those in neither list are dropped, those not in the table are 0."""
    block = table.sparse
    held = {name: i for i, name in enumerate(table.names)}
    values: FloatArray = np.zeros((len(table.values), len(names)))
    for to, name in enumerate(names):
        if name in held:
            values[:, to] = table.values[:, held[name]]
    dense = {name: i for i, name in enumerate(names)}
    to_dense = np.array([dense.get(name, -1) for name in block.names], np.int64)[block.indices]
    entry_rows = np.repeat(np.arange(len(values)), np.diff(block.indptr))
    values[entry_rows[to_dense >= 0], to_dense[to_dense >= 0]] = block.data[to_dense >= 0]
    moving = [name for name in sparse_names if name in held]
    sparse = _with_dense(block, moving, table.values[:, [held[name] for name in moving]]) if moving else block
    return replace(table, names=tuple(names), values=values, sparse=_ordered(sparse.renamed(sparse_names)))


def _with_dense(block: SparseBlock, names: Sequence[str], columns: FloatArray) -> SparseBlock:
    """The block with dense columns added (their zeros left out)."""
    rows, at = np.nonzero(columns)
    owner = np.repeat(np.arange(len(columns)), np.diff(block.indptr))
    order = np.argsort(np.concatenate([owner, rows]), kind="stable")
    indices = np.concatenate([block.indices, (at + len(block.names)).astype(np.int32)])[order]
    data = np.concatenate([block.data, columns[rows, at]])[order]
    counts = np.bincount(np.concatenate([owner, rows]), minlength=len(columns))
    return SparseBlock((*block.names, *names), _indptr(counts), indices, data)


def _ordered(block: SparseBlock) -> SparseBlock:
    """Columns ascending in each row, as FeatureTable wants them."""
    rows = np.repeat(np.arange(len(block.indptr) - 1), np.diff(block.indptr))
    order = np.lexsort((block.indices, rows))
    return replace(block, indices=block.indices[order], data=block.data[order])


def _indptr(counts: LongArray) -> LongArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
