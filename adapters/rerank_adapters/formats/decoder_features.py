"""Builds the feature table of the decoder's own features, dense and sparse, from n-best lists.

A weighted sum of features knows the order of the decoder only by features: lists that have neither features nor totals
get the column RANK.

Decoders that leave zeros out of a line do not show which of their features are dense. `DenseRule` decides that from the
whole set of lists and nothing else, so that the same lists always give the same table; `align` then gives the table of
a test set the columns of the tuning set. Time and memory are linear in the number of values, plus one sort of the
sparse ones. All lists of a table have the same dense features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from rerank_adapters.formats.items import names_differ
from rerank_plugins import ConfigError, FeatureTable, FloatArray, FormatError, NBestList, SparseBlock
from rerank_plugins.core.arrays import LongArray

RANK = "reciprocal-rank"  # 1 / rank in the decoder's order
RANKS_ADDED = f"the lists have no scores: the feature {RANK}, 1 / rank in the recogniser's order, is added"
MIN_CONSTANT_LISTS = 10  # lists that show a feature to be constant; it may be by chance in fewer


@dataclass(frozen=True)
class DenseRule:
    """Decides which names that the reader kept as sparse become dense columns, with 0 where a hypothesis lacks one.

    `few`             where all lists together have at most this many names, all of them become dense; otherwise
    `fraction`        those that at least this fraction of all hypotheses have
    `dense`           patterns of names that become dense in any case
    `sparse`          patterns of names that never become dense; they take precedence over all other rules
    `absent_is_zero`  whether a name that no hypothesis has is a feature that was 0 everywhere (see `align`)

    By default only names that every hypothesis has become dense.
    """

    few: int = 0
    fraction: float = 1.0
    dense: tuple[str, ...] = ()
    sparse: tuple[str, ...] = ()
    absent_is_zero: bool = False

    def promotes(self, names: Sequence[str], counts: LongArray, rows: int) -> list[bool]:
        """Whether each name becomes a column, given that `counts` of the `rows` hypotheses have it."""
        common = counts >= (0 if len(names) <= self.few else max(1.0, self.fraction * rows))
        return [
            not _matches(name, self.sparse) and (_matches(name, self.dense) or bool(is_common))
            for name, is_common in zip(names, common, strict=True)
        ]


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def check_same_features(nbests: Sequence[NBestList]) -> tuple[str, ...]:
    """The dense feature names of the lists, in their common order.

    Raises FormatError with the segment and the features that it lacks or adds, compared with the first list. A
    different order is an error too; `as_first` gives a list the order of another one beforehand.
    """
    names = nbests[0].feature_names if nbests else ()
    for nbest in nbests:
        if nbest.feature_names != names:
            raise _features_error(nbest, names, nbests[0].segment_id)
    return names


def _features_error(nbest: NBestList, names: Sequence[str], first: str) -> FormatError:
    difference = names_differ(names, nbest.feature_names) or "has them in another order"
    if not set(names) & set(nbest.feature_names):
        difference += " (lists of different decoders are combined by `rerank lists merge NAME=FILE NAME=FILE`)"
    return FormatError(f"the features of segment {nbest.segment_id} differ from those of segment {first}: {difference}")


def as_first(nbest: NBestList, first: NBestList, path: str = "") -> NBestList:
    """The list with its dense features in the order of the first list of a set.

    Raises FormatError, with `path` and the line of the list, where the names differ, and where some hypotheses of both
    lists have totals and some have none.
    """
    _check_totals(nbest, first, path)
    names = first.feature_names
    if nbest.feature_names == names:
        return nbest
    if sorted(nbest.feature_names) != sorted(names):
        message = _features_error(nbest, names, first.segment_id).message
        raise FormatError(message, path=path, line=nbest.line or None)
    columns = [nbest.feature_names.index(name) for name in names]
    hypotheses = tuple(h._replace(features=tuple(h.features[c] for c in columns)) for h in nbest)
    return replace(nbest, hypotheses=hypotheses, feature_names=names)


def _check_totals(nbest: NBestList, first: NBestList, path: str) -> None:
    scored = any(hypothesis.score is not None for hypothesis in first[:1])  # it was compared with itself before
    other = next((h for h in nbest if (h.score is not None) != scored), None)
    if other is not None:
        has, have = ("no total", "one") if scored else ("a total", "none")
        message = f"a hypothesis has {has}, but those of segment {first.segment_id} have {have}"
        raise FormatError(message, path=path, line=nbest.line or None)


class ConstantFeatures:
    """Finds the features of lists, read one after another, that have one value in each list.

    Such a feature tells no hypotheses apart. A feature that has two values in some list is not looked at again.
    """

    def __init__(self) -> None:
        self._columns: dict[str, int] | None = None
        self._lists = 0

    def add(self, nbest: NBestList) -> None:
        """Take a list with the features of the first one, in the same order."""
        if self._columns is None:
            self._columns = {name: column for column, name in enumerate(nbest.feature_names)}
        if self._columns and len(nbest) > 1:
            self._lists += 1
            first = nbest[0].features
            differ = {c for c in self._columns.values() if any(h.features[c] != first[c] for h in nbest)}
            self._columns = {name: column for name, column in self._columns.items() if column not in differ}

    @property
    def names(self) -> list[str]:
        """The names of the constant features; none before MIN_CONSTANT_LISTS lists show them."""
        return list(self._columns or ()) if self._lists >= MIN_CONSTANT_LISTS else []


def without_scores(nbests: Sequence[NBestList]) -> bool:
    """Whether the lists have neither features nor totals, so that nothing but their order is known of the decoder."""
    scored = any(nbest.feature_names or any(h.sparse or h.score is not None for h in nbest) for nbest in nbests)
    return bool(nbests) and not scored


def decoder_table(nbests: Sequence[NBestList], rule: DenseRule | None = None, *, ranks: bool = False) -> FeatureTable:
    """A table with one row per hypothesis: the decoder's dense features, those that `rule` makes dense, sorted by name,
    and the sparse block, with its columns sorted by name.

    The rule is that of the format that read the lists (`format.dense_rule`, where it has one). With `ranks`, lists
    without scores have the column RANK. Raises FormatError for lists whose dense features differ.
    """
    names = check_same_features(nbests)
    if ranked := ranks and without_scores(nbests):
        names = (RANK,)
    lengths = np.array([len(nbest) for nbest in nbests], np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = int(offsets[-1])
    values: FloatArray = np.empty((rows, len(names)))
    for nbest, start, end in zip(nbests, offsets, offsets[1:], strict=False):
        values[start:end] = 1.0 / np.arange(1.0, len(nbest) + 1.0)[:, None] if ranked else nbest.values
    ids = tuple(nbest.segment_id for nbest in nbests)
    block = SparseBlock.from_mappings([sparse for nbest in nbests for sparse in nbest.sparse])
    table = FeatureTable(names, values, offsets, ids, block)
    if not block.names:
        return table
    counts = np.bincount(block.indices, minlength=len(block.names))
    promoted = (rule or DenseRule()).promotes(block.names, counts, rows)
    dense = [name for name, is_dense in zip(block.names, promoted, strict=True) if is_dense]
    sparse = [name for name, is_dense in zip(block.names, promoted, strict=True) if not is_dense]
    return _with_columns(table, (*names, *dense), sparse)


def align(
    table: FeatureTable, names: Sequence[str], sparse_names: Sequence[str], *, absent_is_zero: bool = False
) -> FeatureTable:
    """The table with the columns of another one: the dense `names`, then the sparse `sparse_names`, in that order.

    A feature that is dense in one table and sparse in the other moves. Sparse features that are not listed have no
    weight and are dropped, and so is RANK. Where `absent_is_zero` (a property of the format), a dense column that the
    table lacks is filled with 0 and one that is not listed is dropped; otherwise ConfigError names the dense features
    that are missing or unexpected.
    """
    if table.names == tuple(names) and table.sparse.names == tuple(sparse_names):
        return table
    wanted, present = {*names, *sparse_names}, {*table.names, *table.sparse.names}
    missing = [name for name in names if name not in present]
    extra = [name for name in table.names if name not in {*wanted, RANK}]
    if (missing or extra) and not absent_is_zero:
        raise ConfigError(f"features differ from those of the tuning lists: {names_differ(missing, extra)}")
    return _with_columns(table, names, sparse_names)


def _with_columns(table: FeatureTable, names: Sequence[str], sparse_names: Sequence[str]) -> FeatureTable:
    """The same features in other columns: those in neither list are dropped, those that the table lacks are 0."""
    block = table.sparse
    column_of = {name: i for i, name in enumerate(table.names)}
    values: FloatArray = np.zeros((len(table.values), len(names)))
    for to, name in enumerate(names):
        if name in column_of:
            values[:, to] = table.values[:, column_of[name]]
    dense = {name: i for i, name in enumerate(names)}
    to_dense = np.array([dense.get(name, -1) for name in block.names], np.int64)[block.indices]
    entry_rows = np.repeat(np.arange(len(values)), np.diff(block.indptr))
    values[entry_rows[to_dense >= 0], to_dense[to_dense >= 0]] = block.data[to_dense >= 0]
    moving = [name for name in sparse_names if name in column_of]
    sparse = _with_dense(block, moving, table.values[:, [column_of[name] for name in moving]]) if moving else block
    return replace(table, names=tuple(names), values=values, sparse=_ordered(sparse.renamed(sparse_names)))


def _with_dense(block: SparseBlock, names: Sequence[str], columns: FloatArray) -> SparseBlock:
    """The block with dense columns added, without their zeros."""
    rows, at = np.nonzero(columns)
    owner = np.repeat(np.arange(len(columns)), np.diff(block.indptr))
    order = np.argsort(np.concatenate([owner, rows]), kind="stable")
    indices = np.concatenate([block.indices, (at + len(block.names)).astype(np.int32)])[order]
    data = np.concatenate([block.data, columns[rows, at]])[order]
    counts = np.bincount(np.concatenate([owner, rows]), minlength=len(columns))
    return SparseBlock((*block.names, *names), _indptr(counts), indices, data)


def _ordered(block: SparseBlock) -> SparseBlock:
    """The block with the columns of each row in ascending order, as FeatureTable requires."""
    rows = np.repeat(np.arange(len(block.indptr) - 1), np.diff(block.indptr))
    order = np.lexsort((block.indices, rows))
    return replace(block, indices=block.indices[order], data=block.data[order])


def _indptr(counts: LongArray) -> LongArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
