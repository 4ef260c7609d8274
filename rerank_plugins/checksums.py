"""Checksums at the end of a file, which say whether it is what was written, before anything in it is believed.

    content | CRC-32 of each 16 MiB of it | CRC-32 of these numbers | length of the content (8 bytes) | "rerankCK"

Numbers are little-endian, of 4 bytes but for the length. Zstandard files and zip archives remain what they are for
other programs: the checksums are a frame that is skipped in the one (its first 8 bytes are content), the comment of the
other. Blocks are checked on all cores, at some 2 GB/s on each, and the pass leaves the file in the system's cache.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.threads import cores, in_threads

MAGIC = b"rerankCK"
BLOCK = 1 << 24  # bytes
END = 4 + 8 + len(MAGIC)  # bytes after the checksums of the blocks
ZSTD, ZIP = b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
SKIPPED = b"\x50\x2a\x4d\x18"  # begins a frame that Zstandard skips
SETTLED = 2_000_000_000  # nanoseconds after which a change of a file shows in its time

Content = NDArray[np.uint8]
Identity = tuple[str, int, int, int]  # path, inode, size, time of change
_checked: set[Identity] = set()


class DamagedFileError(Exception):
    """A file that is not what was written; says where, without its name."""


def add_checksums(path: Path) -> int:
    """Append its checksums to a file that has none; how many bytes it has then. Raises OSError."""
    with open(path, "r+b") as stream:
        start, size = stream.read(4), stream.seek(0, 2)
        if start == ZSTD:
            size += 8
            stream.write(SKIPPED + _size_after(size).to_bytes(4, "little"))
        elif start == ZIP:
            stream.seek(-2, 2)  # the archive ends in the length of its comment
            stream.write(_size_after(size).to_bytes(2, "little"))
        stream.flush()
        blocks = block_checksums(np.memmap(path, np.uint8, "r", shape=(size,)))
        stream.seek(0, 2)
        stream.write(blocks + zlib.crc32(blocks).to_bytes(4, "little") + size.to_bytes(8, "little") + MAGIC)
        return stream.tell()


def checked(whole: Content) -> Content | None:
    """The content of a file, which its checksums fit; None where it does not end in checksums.

    Raises DamagedFileError where they do not fit.
    """
    size = len(whole)
    end = whole[max(0, size - END) :].tobytes()
    if len(end) < END or not end.endswith(MAGIC):
        return None
    length = int.from_bytes(end[4:12], "little")
    if length + _size_after(length) != size:
        raise DamagedFileError(f"damaged: {size} bytes, but checksums for {length}")
    wanted = whole[length : size - END].tobytes()
    if zlib.crc32(wanted).to_bytes(4, "little") != end[:4]:
        raise DamagedFileError(f"damaged: its checksums (bytes {length} to {size}) do not fit together")
    numbers = (np.frombuffer(text, "<u4") for text in (block_checksums(whole[:length]), wanted))
    for place, (number, right) in enumerate(zip(*numbers, strict=True)):
        if number != right:
            where = f"bytes {place * BLOCK} to {min(length, (place + 1) * BLOCK)}"
            raise DamagedFileError(f"damaged: the checksum of {where} is {number:08x}, wanted {right:08x}")
    return whole[:length]


def checked_file(stream: BinaryIO, whole: Content) -> Content | None:
    """`checked`, but for files that this process, or the one that started it, has checked: those are not read again.

    `stream` is the open file, `whole` what is mapped from it. Raises DamagedFileError, OSError.
    """
    status = os.fstat(stream.fileno())
    identity = str(Path(stream.name).resolve()), status.st_ino, status.st_size, status.st_mtime_ns
    if identity in _checked:
        return whole[: int.from_bytes(whole[-16:-8].tobytes(), "little")]
    content = checked(whole)
    if content is not None and time.time_ns() - identity[-1] > SETTLED:
        _checked.add(identity)
    return content


def checked_files() -> frozenset[Identity]:
    """The files that `checked_file` need not check again: for `trust` in the processes that this one starts."""
    return frozenset(_checked)


def trust(files: Iterable[Identity]) -> None:
    """Take the word of another process for the files that it has checked; changed ones are checked all the same."""
    _checked.update(files)


def block_checksums(content: Any) -> bytes:
    """CRC-32 of each 16 MiB of a buffer, 4 bytes each."""
    view = memoryview(content)
    blocks = [(view[start : start + BLOCK],) for start in range(0, len(view), BLOCK)]
    return np.array(in_threads(zlib.crc32, blocks, min(cores(), max(1, len(blocks)))), "<u4").tobytes()


def _size_after(length: int) -> int:
    """How many bytes stand after a content of so many."""
    return 4 * -(-length // BLOCK) + END
