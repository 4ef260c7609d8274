"""Allocates large arrays: in main memory while they fit, then in temporary files that the system pages in and out.

Estimation asks a `Workspace` for every array that grows with the corpus. Up to `memory` bytes in all these are ordinary
arrays; the others are mapped to nameless temporary files, which vanish with them. The estimator goes through such
arrays bucket by bucket, so that pages are mostly read and written in sequence.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

PIECE = 1 << 22  # elements copied at a time from a file of blocks
ASIDE = 1 << 26  # bytes of an array that is worth a file
FRACTION = 8  # a collection of blocks goes to a file when it takes more than 1/8 of the memory


class Workspace:
    """Allocates arrays; `in_use` is the bytes of live arrays in memory, `spilled` the bytes that went to files."""

    def __init__(self, memory: int = 8 << 30, folder: Path | None = None) -> None:
        self.memory, self.folder = memory, folder
        self.in_use = self.spilled = 0

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """An array of undefined content. Raises OSError if it has to go to a disk that has no room for it."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if self.in_use + size <= self.memory or size == 0:
            array = np.empty(shape, dtype)
            self.in_use += size
            weakref.finalize(array, self._freed, size)
            return array
        self.spilled += size
        with tempfile.TemporaryFile(dir=self.folder) as file:
            if hasattr(os, "posix_fallocate"):  # now, as writing to the map of a full disk would kill the process
                os.posix_fallocate(file.fileno(), 0, size)
            return np.asarray(np.memmap(file, dtype, "w+", shape=shape))

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """An array of zeros."""
        array = self.empty(shape, dtype)
        array[...] = 0
        return array

    def set_aside(self, array: NDArray[Any]) -> NDArray[Any]:
        """The array, in a file if it is large: it has to wait while others need the memory."""
        if array.nbytes < ASIDE:
            return array
        if (mapped := _map_of(array)) is not None:
            if hasattr(mapped, "madvise") and hasattr(mmap, "MADV_DONTNEED"):  # it is read again when it is needed
                mapped.madvise(mmap.MADV_DONTNEED)
            return array
        with tempfile.TemporaryFile(dir=self.folder) as file:
            array.tofile(file)
            file.flush()
            return np.asarray(np.memmap(file, array.dtype, "r+", shape=array.shape))

    def _freed(self, size: int) -> None:
        self.in_use -= size


def _map_of(array: Any) -> mmap.mmap | None:
    """The map of a file that the array lies in."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array if isinstance(array, mmap.mmap) else None


class Collection:
    """Collects blocks of rows and joins them to one array in the end."""

    def __init__(self, workspace: Workspace, dtype: DTypeLike, width: int | None = None) -> None:
        self._workspace, self._dtype = workspace, np.dtype(dtype)
        self._row: tuple[int, ...] = () if width is None else (width,)
        self._blocks: list[NDArray[Any]] = []
        self._waiting = self.rows = 0  # bytes of the blocks in memory; rows in all
        self._file: Any = None

    def append(self, block: NDArray[Any]) -> None:
        """Add a block, which the caller must not change afterwards."""
        self._blocks.append(np.ascontiguousarray(block, self._dtype))
        self._waiting += block.nbytes
        self.rows += len(block)
        if self._waiting > self._workspace.memory // FRACTION:
            self._spill()

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._workspace.folder)  # noqa: SIM115  (lives as long as the array)
        for block in self._blocks:
            block.tofile(self._file)
        self._workspace.spilled += self._waiting
        self._blocks, self._waiting = [], 0

    def finish(self) -> NDArray[Any]:
        """(rows[, width]) all blocks one after the other; the collection is empty afterwards."""
        shape = (self.rows, *self._row)
        if self._file is not None:
            self._spill()
            with self._file as file:  # the map outlives it
                file.flush()
                return np.asarray(np.memmap(file, self._dtype, "r+", shape=shape))
        whole = self._workspace.empty(shape, self._dtype)
        start = 0
        for block in self._blocks:
            whole[start : start + len(block)] = block
            start += len(block)
        self._blocks = []
        return whole
