"""The cache of feature values on disk, so that no value is extracted twice by any command.

    FOLDER/<hash of an identity>/identity.json          what the values depend on, besides what a key stands for
    FOLDER/<hash of an identity>/<name>.values          a block: a file of arrays with checksums
    (kit/files/model_file.py)

A block holds the keys of its rows (two uint64 each, sorted by the first, which distinguishes them) and their values.
Blocks are written under another name and then renamed, and they are never changed, so that several processes can read
and write one cache at the same time, and a killed process loses only the rows that it had not written yet (`PACE`). A
block that is damaged, or of another kind, is removed, and its rows are extracted again. Blocks are mapped into memory:
of a large cache, only the pages in which keys are searched are read.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, ModelError, read_model, write_model
from rerank_plugins.core.arrays import BoolArray
from rerank_plugins.core.identity import plain_hash

FEATURES = "features"  # the folder of feature values in the program's cache (paths.cache_folder)
KIND = "feature values"
BLOCKS = "*.values"
IDENTITY = "identity.json"
UNKNOWN = '{"values": {"extractor": {}}}'
LIMIT = 2_000_000_000  # bytes of all blocks; the least recently used ones are removed first
LARGE = 64_000_000  # bytes of a block that is not merged with others any more
MANY = 8  # small blocks of an identity that are merged into one when a run ends
PACE = 2.0  # seconds after which finished rows are written
ABANDONED = 3600.0  # seconds after which the unfinished file of a killed process is removed

Keys = NDArray[np.uint64]  # (rows, 2)

logger = logging.getLogger(__name__)


class Holding(NamedTuple):
    """The values of one identity: the number of rows in its blocks, and their size in bytes."""

    identity: str
    rows: int
    size: int


class _Block(NamedTuple):
    path: Path
    first: NDArray[np.uint64]
    second: NDArray[np.uint64]
    values: FloatArray


@dataclass
class StoredValues:
    """The values of one identity, `width` numbers for each key.

    If the folder cannot be written, one warning is logged, and nothing more is kept.
    """

    folder: Path
    width: int
    identity: str
    _blocks: dict[Path, _Block] = field(default_factory=dict, repr=False)
    _listed: bool = field(default=False, repr=False)
    _new: list[tuple[Keys, FloatArray]] = field(default_factory=list, repr=False)
    _written: float = field(default_factory=time.monotonic, repr=False)
    _broken: bool = field(default=False, repr=False)

    def load(self, keys: Keys) -> tuple[FloatArray, BoolArray]:
        """(rows, width) the values of the keys, and (rows) whether they are known; values of unknown keys are 0.

        The blocks are those that are there at the first call.
        """
        values, known = np.zeros((len(keys), self.width)), np.zeros(len(keys), bool)
        for block in self._open():
            left = np.flatnonzero(~known)
            if not len(left):
                break
            wanted = keys[left]
            place = np.minimum(np.searchsorted(block.first, wanted[:, 0]), len(block.first) - 1)
            hits = (block.first[place] == wanted[:, 0]) & (block.second[place] == wanted[:, 1])
            if hits.any():
                values[left[hits]] = block.values[place[hits]]
                known[left[hits]] = True
                with suppress(OSError):
                    os.utime(block.path)  # it is in use: see `ValueCache.shrink`
        return values, known

    def add(self, keys: Keys, values: FloatArray) -> None:
        """Keep values; they are written a while later, or when `flush` is called."""
        self._new.append((keys, values))
        if time.monotonic() - self._written > PACE:
            self.flush()

    def flush(self) -> None:
        """Write what has been added."""
        new, self._new, self._written = self._new, [], time.monotonic()
        if sum(len(keys) for keys, _ in new):
            self._write(np.concatenate([keys for keys, _ in new]), np.concatenate([values for _, values in new]))

    def close(self) -> None:
        """Write what has been added, and merge the small blocks if there are many."""
        self.flush()
        small = [path for path in self._paths() if _size(path) < LARGE]
        if len(small) <= MANY or self._broken:
            return
        blocks = [block for path in small if (block := self._read(path)) is not None]
        if len(blocks) < 2:  # another process has merged them
            return
        keys = np.concatenate([np.column_stack([block.first, block.second]) for block in blocks])
        self._write(keys, np.concatenate([block.values for block in blocks]))
        if not self._broken:
            for block in blocks:
                block.path.unlink(missing_ok=True)

    def _write(self, keys: Keys, values: FloatArray) -> None:
        if self._broken:
            return
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        distinct = np.ones(len(order), bool)
        distinct[1:] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
        order = order[distinct]
        keys = keys[order]
        arrays = {"first": keys[:, 0], "second": keys[:, 1], "values": values[order]}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            note = self.folder / IDENTITY
            if not note.exists():
                temporary = note.with_name(f".{IDENTITY}.{secrets.token_hex(4)}.tmp")
                temporary.write_text(self.identity, encoding="utf-8")
                temporary.replace(note)
            write_model(self.folder / f"{time.time_ns():x}-{secrets.token_hex(4)}.values", KIND, {}, arrays)
        except OSError as error:
            self._broken = True
            logger.warning("%s: feature values are not kept (%s)", self.folder, error.strerror or error)
            self._remove_if_empty()

    def _remove_if_empty(self) -> None:
        """Remove the folder if it has no values, and the one that it is in if that has nothing else."""
        if not self._paths():
            with suppress(OSError):
                (self.folder / IDENTITY).unlink(missing_ok=True)
                self.folder.rmdir()
                self.folder.parent.rmdir()

    def _open(self) -> list[_Block]:
        whole, self._listed = self._listed, True
        while not whole:
            whole = True
            for path in self._paths():
                block = self._blocks.get(path) or self._read(path)
                if block is not None and len(block.first):
                    self._blocks[path] = block
                whole = whole and block is not None  # where another process has just merged blocks, list them again
        return list(self._blocks.values())

    def _paths(self) -> list[Path]:
        return sorted(self.folder.glob(BLOCKS), reverse=True)

    def _read(self, path: Path) -> _Block | None:
        """A block; None if it is gone, or is removed because it is unusable."""
        try:
            _, arrays = read_model(path, KIND)
            block = _Block(path, arrays["first"], arrays["second"], arrays["values"])
            rows = len(block.first)
            shapes = [array.shape for array in block[1:]]
            types = [array.dtype for array in block[1:]]
            if shapes != [(rows,), (rows,), (rows, self.width)] or types != [np.uint64, np.uint64, np.float64]:
                raise ModelError(f"{path}: holds other arrays than the {self.width} values of each key")
        except (ModelError, KeyError) as error:
            if path.exists():
                logger.warning("%s; it is removed, and its values are extracted again", error)
                with suppress(OSError):
                    path.unlink()
            return None
        return block


@dataclass
class ValueCache:
    """The values of all identities in a folder."""

    folder: Path
    limit: int = LIMIT
    taken: Counter[str] = field(default_factory=Counter)  # rows that a run found in the cache, by feature

    def of(self, identity: str, width: int) -> StoredValues:
        """The values of an identity, a JSON text."""
        return StoredValues(self.folder / plain_hash(identity)[:32], width, identity)

    def holdings(self) -> list[Holding]:
        """What the cache holds, by identity."""
        held = []
        for folder in self._folders():
            rows = size = 0
            for path in folder.glob(BLOCKS):
                with suppress(ModelError, KeyError):
                    rows += len(read_model(path, KIND)[1]["first"])
                size += _size(path)
            held.append(Holding(_identity(folder), rows, size))
        return held

    def size(self) -> int:
        """The size on disk in bytes."""
        return sum(_size(path) for path in self.folder.rglob("*"))

    def shrink(self) -> None:
        """Remove unfinished files of killed processes and, beyond the limit, the least recently used blocks."""
        blocks: list[tuple[float, int, Path]] = []
        for path in self.folder.glob("*/*"):
            with suppress(OSError):
                status = path.stat()
                if path.suffix == ".tmp" and time.time() - status.st_mtime > ABANDONED:
                    path.unlink()
                elif path.match(BLOCKS):
                    blocks.append((status.st_mtime, status.st_size, path))
        size = sum(size for _, size, _ in blocks)
        for _, bytes_, path in sorted(blocks):
            if size <= self.limit:
                break
            size -= bytes_
            with suppress(OSError):  # the folder may not be written any more
                path.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove all values, and the folder if it is empty then; files of other kinds stay. Raises OSError."""
        for folder in self._folders():
            shutil.rmtree(folder)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _folders(self) -> Sequence[Path]:
        return [path.parent for path in sorted(self.folder.glob(f"*/{IDENTITY}"))]


def _identity(folder: Path) -> str:
    """The JSON text of an identity; that of an empty table if it is damaged."""
    try:
        text = (folder / IDENTITY).read_text(encoding="utf-8")
        return text if "extractor" in json.loads(text)["values"] else UNKNOWN
    except (OSError, ValueError, LookupError, TypeError):
        return UNKNOWN


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0
