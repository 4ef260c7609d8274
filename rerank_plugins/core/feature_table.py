"""The feature table, which extraction writes and tuning reads: a row per hypothesis, a column per feature.

Its file is one uncompressed .npz (a zip archive of .npy arrays) whose comment holds the checksums of the file
(files.py). Equal tables give equal bytes. Sparse features are a matrix of compressed sparse rows (CSR).
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.core.errors import DAMAGE, ConfigError, FormatError
from rerank_plugins.core.files import DamagedFileError, add_checksums, atomic_write, checked, write_error
from rerank_plugins.core.json_and_toml import read_json

VERSION = 2


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


@dataclass(frozen=True, eq=False, repr=False)
class FeatureTable:
    """The features of all hypotheses of a set of n-best lists.

    `names`        (F) dense feature names
    `values`       (rows, F) float64, finite; rows in the order of the lists
    `offsets`      (segments + 1): rows of segment s are `offsets[s]:offsets[s+1]`
    `segment_ids`  (segments) as in the n-best file
    `sparse`       the decoder's sparse features
    `provenance`   the extractors, their settings, and fingerprints of the lists

    >>> table = FeatureTable.dense(["lm", "length"], np.array([[-3.0, 2.0], [-4.0, 3.0]]), np.array([0, 2]))
    >>> table
    FeatureTable of 1 segments, 2 hypotheses: lm, length
    >>> np.asarray(table).tolist()
    [[-3.0, 2.0], [-4.0, 3.0]]
    """

    names: tuple[str, ...]
    values: FloatArray
    offsets: LongArray
    segment_ids: tuple[str, ...]
    sparse: SparseBlock
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def dense(cls, names: Sequence[str], values: FloatArray, offsets: LongArray) -> FeatureTable:
        """A table without sparse features, whose segment ids are the numbers from 0."""
        ids = tuple(str(s) for s in range(len(offsets) - 1))
        offsets = np.asarray(offsets, np.int64)
        return cls(tuple(names), values, offsets, ids, SparseBlock.empty(len(values)))

    def __repr__(self) -> str:
        """One line: the numbers of segments and hypotheses, and the names of the dense features."""
        sparse = f", and {len(self.sparse.names)} sparse features" if self.sparse.names else ""
        names = ", ".join(self.names) or "no dense features"
        return f"FeatureTable of {self.segments} segments, {len(self.values)} hypotheses: {names}{sparse}"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The dense values, for `numpy.asarray`."""
        return np.array(self.values, dtype, copy=copy)

    @property
    def segments_of_rows(self) -> list[str]:
        """The segment id of each row."""
        return np.repeat(np.array(self.segment_ids, object), np.diff(self.offsets)).tolist()

    @property
    def rows_in_lists(self) -> LongArray:
        """(rows) the number, from 0, of each hypothesis in its list."""
        return np.arange(len(self.values)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))

    def columns(self, *, sparse: bool = False) -> dict[str, FloatArray]:
        """By name, the values of each dense feature and, if told so, of each sparse one."""
        columns = dict(zip(self.names, self.values.T, strict=True))
        if sparse:
            rows = np.repeat(np.arange(len(self.values)), np.diff(self.sparse.indptr))
            for column, name in enumerate(self.sparse.names):
                chosen = self.sparse.indices == column
                values = np.zeros(len(self.values))
                values[rows[chosen]] = self.sparse.data[chosen]
                columns[name] = values
        return columns

    def to_pandas(self, *, sparse: bool = False) -> Any:
        """A pandas frame: a row for each hypothesis, under its segment and its number in the list (from 0).

        Raises ConfigError where pandas is not installed.
        """
        pandas = _library("pandas")
        index = pandas.MultiIndex.from_arrays(
            [self.segments_of_rows, self.rows_in_lists], names=["segment", "hypothesis"]
        )
        return pandas.DataFrame(self.columns(sparse=sparse), index=index)

    def to_arrow(self, *, sparse: bool = False) -> Any:
        """An Arrow table with the columns `segment` and `hypothesis`, then the features.

        Raises ConfigError where pyarrow is not installed.
        """
        columns = self.columns(sparse=sparse)
        names = ["segment", "hypothesis", *columns]
        return _library("pyarrow").table([self.segments_of_rows, self.rows_in_lists, *columns.values()], names=names)

    def to_parquet(self, path: str | Path, *, sparse: bool = False) -> None:
        """Write the columns of `to_arrow` to a Parquet file, in full or not at all, for other programs.

        `save` writes what `load` reads. Raises ConfigError where pyarrow is not installed, and RerankError as `save`.
        """
        table, parquet = self.to_arrow(sparse=sparse), _library("pyarrow.parquet")
        try:
            with atomic_write(Path(path)) as temporary:
                parquet.write_table(table, temporary)
                os.replace(temporary, path)
        except OSError as error:
            raise write_error(str(path), error) from error

    @property
    def all_names(self) -> tuple[str, ...]:
        """The dense names, then the sparse names: the order of a weight vector."""
        return self.names + self.sparse.names

    @property
    def segments(self) -> int:
        """The number of n-best lists."""
        return len(self.offsets) - 1

    def scores(self, weights: FloatArray) -> FloatArray:
        """(rows) Weighted sums, added up in one order on every processor; `weights` is in the order of `all_names`."""
        dense: FloatArray = np.einsum("ij,j->i", self.values, weights[: len(self.names)])
        return dense + self.sparse.dot(weights[len(self.names) :]) if self.sparse.names else dense

    def take_segments(self, segments: Sequence[int] | LongArray) -> tuple[FeatureTable, LongArray]:
        """The table of these segments, in this order, and the numbers of its rows in this table."""
        chosen = np.asarray(segments, np.int64)
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        starts = self.offsets[:-1][chosen]
        rows = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
        ids = tuple(self.segment_ids[s] for s in chosen)
        sparse = self.sparse.rows(rows)
        return replace(self, values=self.values[rows], offsets=offsets, segment_ids=ids, sparse=sparse), rows

    def save(self, path: str | Path) -> None:
        """Write a temporary file beside `path`, then rename it, so that `path` never holds part of a table.

        Raises RerankError if the disk is full or the folder cannot be written.
        """
        path = Path(path)
        meta = {"version": VERSION, "names": self.names, "segment_ids": self.segment_ids}
        meta |= {"sparse_names": self.sparse.names, "provenance": self.provenance}
        text = np.frombuffer(json.dumps(meta, ensure_ascii=False, sort_keys=True).encode(), np.uint8)
        try:
            with atomic_write(path) as temporary:
                with open(temporary, "wb") as stream:
                    sparse = {name: getattr(self.sparse, name) for name in ("indptr", "indices", "data")}
                    np.savez(stream, meta=text, values=self.values, offsets=self.offsets, **sparse)
                add_checksums(temporary)
                os.replace(temporary, path)
        except OSError as error:
            raise write_error(str(path), error) from error

    @classmethod
    def load(cls, path: str | Path) -> FeatureTable:
        """Read a saved table.

        Raises FormatError for a file that is not a feature table, is damaged or cut short, or is of another version.
        """
        path = Path(path)
        try:
            if not zipfile.is_zipfile(path):
                path.stat()  # raises OSError if the file is missing or cannot be read
                raise FormatError("not a feature table, or cut short: `rerank extract` makes one", path=str(path))
            has_checksums = checked(np.asarray(np.memmap(path, np.uint8, "r"))) is not None
            with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as arrays:
                meta = read_json(bytes(arrays["meta"]))
                if (version := meta["version"]) != VERSION:
                    raise FormatError(f"feature table of version {version}, expected {VERSION}", path=str(path))
                if not has_checksums:
                    raise FormatError("not a feature table, or cut short: it does not end in checksums", path=str(path))
                sparse = SparseBlock(tuple(meta["sparse_names"]), arrays["indptr"], arrays["indices"], arrays["data"])
                names, ids = tuple(meta["names"]), tuple(meta["segment_ids"])
                return cls(names, arrays["values"], arrays["offsets"], ids, sparse, meta["provenance"])
        except FileNotFoundError:
            raise FormatError("no such feature table", path=str(path)) from None
        except DamagedFileError as error:
            raise FormatError(str(error), path=str(path)) from None
        except (*DAMAGE, EOFError, OSError, MemoryError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise FormatError(f"not a feature table, or cut short ({why})", path=str(path)) from None


def _library(name: str) -> Any:
    """A library of data frames. Raises ConfigError where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise ConfigError(f"a table for {name} needs {name}: pip install {name}") from None
