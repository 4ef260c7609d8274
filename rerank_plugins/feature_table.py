"""The table between extraction and tuning: a row per hypothesis, a column per feature, segment offsets.

Extractors fill it, tuners only read it. On disk it is one uncompressed .npz (a zip of .npy arrays), whose comment holds
the checksums of the file (checksums.py): the same table gives the same bytes.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.checksums import DamagedFileError, add_checksums, checked
from rerank_plugins.errors import FormatError, RerankError
from rerank_plugins.sparse_block import SparseBlock

VERSION, FORMER = 2, 1  # the former one had no checksums

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Features of all hypotheses of a set of n-best lists.

    `names`        (F) dense feature names
    `values`       (rows, F) float64, finite; rows in the order of the lists
    `offsets`      (segments + 1): rows of segment s are `offsets[s]:offsets[s+1]`
    `segment_ids`  (segments) as in the n-best file
    `sparse`       the decoder's sparse features
    `provenance`   how it was made: extractors and their settings, fingerprints of the lists
    """

    names: tuple[str, ...]
    values: FloatArray
    offsets: LongArray
    segment_ids: tuple[str, ...]
    sparse: SparseBlock
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def dense(cls, names: Sequence[str], values: FloatArray, offsets: LongArray) -> FeatureTable:
        """A table with no sparse block, segments numbered from 0."""
        ids = tuple(str(s) for s in range(len(offsets) - 1))
        offsets = np.asarray(offsets, np.int64)
        return cls(tuple(names), values, offsets, ids, SparseBlock.empty(len(values)))

    @property
    def all_names(self) -> tuple[str, ...]:
        """Dense names, then sparse names: the order of a weight vector."""
        return self.names + self.sparse.names

    @property
    def segments(self) -> int:
        """How many n-best lists."""
        return len(self.offsets) - 1

    def scores(self, weights: FloatArray) -> FloatArray:
        """Weighted sum of every row; `weights` follows `all_names`."""
        dense = self.values @ weights[: len(self.names)]
        return dense + self.sparse.dot(weights[len(self.names) :]) if self.sparse.names else dense

    def take_segments(self, segments: Sequence[int] | LongArray) -> tuple[FeatureTable, LongArray]:
        """The table of some segments, and the rows it took from this one."""
        chosen = np.asarray(segments, np.int64)
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        starts = self.offsets[:-1][chosen]
        rows = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
        ids = tuple(self.segment_ids[s] for s in chosen)
        taken = replace(self, values=self.values[rows], offsets=offsets, segment_ids=ids, sparse=self.sparse.rows(rows))
        return taken, rows

    def save(self, path: Path) -> None:
        """Write to a temporary file beside `path`, then rename: never half a table.

        Raises RerankError where the disk is full or the folder cannot be written.
        """
        meta = {
            "version": VERSION,
            "names": self.names,
            "segment_ids": self.segment_ids,
            "sparse_names": self.sparse.names,
            "provenance": self.provenance,
        }
        text = np.frombuffer(json.dumps(meta, ensure_ascii=False, sort_keys=True).encode(), np.uint8)
        temporary = path.with_name(path.name + f".{os.getpid()}.tmp")
        try:
            with open(temporary, "wb") as stream:
                np.savez(
                    stream,
                    meta=text,
                    values=self.values,
                    offsets=self.offsets,
                    indptr=self.sparse.indptr,
                    indices=self.sparse.indices,
                    data=self.sparse.data,
                )
            add_checksums(temporary)
            os.replace(temporary, path)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            why = "the disk is full; nothing was written" if full else f"cannot be written ({error.strerror})"
            raise RerankError(f"{path}: {why}") from error
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: Path) -> FeatureTable:
        """Read a saved table; one of version 1, without checksums, with a warning in the log.

        Raises FormatError on a file that is not one, is damaged, cut short or of another version.
        """
        try:
            if not zipfile.is_zipfile(path):
                path.stat()  # missing, or unreadable, comes first
                raise FormatError("not a feature table, or cut short: `rerank extract` makes one", path=str(path))
            has_checksums = checked(np.asarray(np.memmap(path, np.uint8, "r"))) is not None
            with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as arrays:
                meta = json.loads(bytes(arrays["meta"]))
                if meta["version"] == (FORMER if has_checksums else VERSION):
                    raise FormatError("not a feature table, or cut short: it does not end in checksums", path=str(path))
                if meta["version"] == FORMER:
                    logger.warning(
                        "%s: feature table of version %d, without checksums: damage to it goes unseen", path, FORMER
                    )
                elif meta["version"] != VERSION:
                    found = meta["version"]
                    raise FormatError(f"feature table of version {found}, expected {VERSION}", path=str(path))
                sparse = SparseBlock(tuple(meta["sparse_names"]), arrays["indptr"], arrays["indices"], arrays["data"])
                return cls(
                    tuple(meta["names"]),
                    arrays["values"],
                    arrays["offsets"],
                    tuple(meta["segment_ids"]),
                    sparse,
                    meta["provenance"],
                )
        except FileNotFoundError:
            raise FormatError("no such feature table", path=str(path)) from None
        except DamagedFileError as error:
            raise FormatError(str(error), path=str(path)) from None
        except (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile) as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise FormatError(f"not a feature table, or cut short ({why})", path=str(path)) from None
