"""The files of arrays that tasks hand over, and their folder, which is removed at the end or after a killed process.

A file has the parts of an array, and where each starts; it appears under its name when it is complete. A folder
`.shards-MACHINE.1a2b3c4d` belongs to the process that holds the lock of the file beside it (core/intact_files.py).
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.intact_files import unfinished
from rerank_plugins.core.paths import this_machine
from rerank_plugins.kit.backoff.events import EventLayout, bucket_bounds
from rerank_plugins.kit.workspace import Workspace

NEEDED = 160  # bytes that the tasks of an estimation need for each event of their part, about


@contextmanager
def shards_folder(parent: Path | None) -> Iterator[Path]:
    """A new folder in `parent`, by default that of temporary files, for as long as the block. Raises OSError."""
    parent = Path(parent or tempfile.gettempdir()).resolve()
    name = f".shards-{hashlib.blake2b(this_machine().encode(), digest_size=4).hexdigest()}"
    with unfinished(parent / name) as lock:  # which removes the files of killed processes
        for folder in parent.glob(f"{name}.*"):
            if not (parent / f".{folder.name}.tmp").exists():
                shutil.rmtree(folder, ignore_errors=True)
        folder = parent / lock.name.removeprefix(".").removesuffix(".tmp")
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Shards:
    """What all tasks of an estimation know.

    `folder` is on storage that all machines share; `sizes` are those of the layout. Part i of the predicted symbols has
    those from `bounds[i]` to `bounds[i + 1]`, and part i of the contexts the nearest symbols between `context_bounds`;
    these are the same in a `text`, where contexts consist of the symbols that are predicted. The rows of events come in
    files of `sources` tasks. `cut` has the cut-offs of the orders, `continuation` says which counts are used
    (kit/backoff/suffix_trie.py), `last_links` whether the n-grams of the highest order are linked. A task uses `memory`
    bytes for large arrays, and files beyond it.
    """

    folder: Path
    sizes: tuple[int, ...]
    bounds: tuple[int, ...]
    context_bounds: tuple[int, ...]
    text: bool
    sources: int
    cut: tuple[int, ...]
    continuation: bool
    last_links: bool
    memory: int

    @property
    def layout(self) -> EventLayout:
        """How events are packed."""
        return EventLayout(self.sizes)

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.sizes)

    @property
    def parts(self) -> int:
        """The number of parts of the predicted symbols."""
        return len(self.bounds) - 1

    @property
    def context_parts(self) -> int:
        """The number of parts of the contexts."""
        return len(self.context_bounds) - 1

    @property
    def part_of(self) -> IntArray:
        """(symbols) the part of each predicted symbol."""
        return _parts_of(self.bounds)

    @property
    def context_part_of(self) -> IntArray:
        """(symbols) the part of each context whose nearest symbol this is."""
        return _parts_of(self.context_bounds)

    @property
    def raw(self) -> bool:
        """Whether raw counts are needed beside the counts that the model is estimated from."""
        return any(self.cut) and self.continuation

    def workspace(self) -> Workspace:
        """Memory for the arrays of a task."""
        return Workspace(self.memory, self.folder)

    def file(self, name: str, *numbers: int) -> Path:
        """The file of this name and these numbers."""
        return self.folder / "-".join([name, *map(str, numbers)])


def balanced_bounds(counts: LongArray, parts: int) -> tuple[int, ...]:
    """The bounds of at most so many parts of the symbols with these (symbols) counts, about equal in events."""
    part_of, _ = bucket_bounds(counts, max(1, -(-int(counts.sum()) // parts)))
    return (*np.searchsorted(part_of, np.arange(int(part_of[-1]) + 2)).tolist(),)


def parts_within(memory: int, events: int) -> int:
    """How many parts of so many events a task with this memory needs."""
    return -(-NEEDED * events // max(1, memory))


def _parts_of(bounds: tuple[int, ...]) -> IntArray:
    return np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))


def write_parts(path: Path, array: NDArray[Any], starts: Sequence[int] | LongArray) -> None:
    """Write an array whose parts are `array[starts[i] : starts[i + 1]]`. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "xb") as stream:
            np.array([len(starts), *starts], np.int64).tofile(stream)
            np.ascontiguousarray(array).tofile(stream)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array of one part. Raises OSError."""
    write_parts(path, array, [0, len(array)])


def part_of_file(path: Path, part: int, dtype: DTypeLike, width: int = 1) -> NDArray[Any]:
    """One part of an array of rows of `width` values, (n) or (n, width). Raises OSError."""
    with open(path, "rb") as stream:
        size = int(np.fromfile(stream, np.int64, 1)[0])
        starts = np.fromfile(stream, np.int64, size)
        start, end = starts[part : part + 2].tolist()
        stream.seek(8 * (1 + size) + start * width * np.dtype(dtype).itemsize)
        values = np.fromfile(stream, dtype, (end - start) * width)
    return values.reshape(-1, width) if width > 1 else values


def mapped_array(path: Path, dtype: DTypeLike) -> NDArray[Any]:
    """The array of one part, mapped into memory if it has any elements. Raises OSError."""
    size = int(np.fromfile(path, np.int64, 3)[2])
    return np.asarray(np.memmap(path, dtype, "r", offset=24, shape=(size,))) if size else np.zeros(0, dtype)
