"""Files that are complete or not there, and whose damage is detected before any of their content is used.

    content | CRC-32 of each 16 MiB of it | CRC-32 of these checksums | length of the content (8 bytes) | "rerankCK"

Numbers are little-endian and have 4 bytes, except the length. Other programs can still read Zstandard files and zip
archives: the checksums are in a skippable frame of a Zstandard file (whose first 8 bytes count as content), and in the
comment of an archive.

A file `NAME` is written as `.NAME.1a2b3c4d.tmp` and renamed when it is complete. Until then its process holds a lock
(flock) on it; a process that writes a file of the same name later removes the temporary files that it can lock.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.errors import RerankError
from rerank_plugins.core.threads import cores, in_threads

try:
    import fcntl
except ImportError:  # no locks, as on Windows
    fcntl = None  # type: ignore[assignment]

MAGIC = b"rerankCK"
BYTES_A_BLOCK = 1 << 24
END = 4 + 8 + len(MAGIC)  # bytes after the checksums of the blocks
ZSTD, ZIP = b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
SKIPPED = b"\x50\x2a\x4d\x18"  # the start of a skippable frame of Zstandard
SETTLED = 2_000_000_000  # nanoseconds after which any change to a file changes its modification time
Content = NDArray[np.uint8]
Identity = tuple[str, int, int, int]  # path, inode, size, modification time
_checked: set[Identity] = set()


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """The name of a new, empty file beside `path`, to be written and renamed; it is removed if it is not renamed.

    Temporary files of the same `path` whose processes have died are removed first. Raises OSError, with the name `path`
    where the temporary file cannot be created.
    """
    _remove_abandoned(path)
    temporary, descriptor = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp"), None
    try:  # from before the file is there, since a signal may come as soon as it is
        try:
            descriptor = _create(temporary)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
        if descriptor is not None:
            os.close(descriptor)


def _create(temporary: Path) -> int | None:
    """Create the file; return a descriptor that holds its lock, or None where there are no locks."""
    while True:
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        if fcntl is None:  # as on Windows, where open files cannot be renamed
            os.close(descriptor)
            return None
        _lock(descriptor)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # another process locked the file before this one did, and removed it


def _remove_abandoned(path: Path) -> None:
    name = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}\.tmp")
    with suppress(OSError):
        for entry in list(os.scandir(path.parent)):
            if name.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_if_abandoned(entry.path)


def _remove_if_abandoned(temporary: str) -> None:
    with suppress(OSError):
        descriptor = os.open(temporary, os.O_RDWR)
        try:
            if _lock(descriptor):
                os.unlink(temporary)
        finally:
            os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Lock a file; return whether it is locked now: not where another process holds it, or where there are no locks."""
    with suppress(OSError):
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def write_error(name: str, error: OSError) -> RerankError:
    """The error of a file that could not be written, in one line."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return RerankError(f"{name}: the disk is full; nothing was written")
    return RerankError(f"{name}: cannot be written ({error.strerror or error})")


class DamagedFileError(Exception):
    """The content of a file does not match its checksums; the message has the position, but not the file."""


def add_checksums(path: Path) -> int:
    """Append checksums to a file that has none; return its new size in bytes. Raises OSError."""
    with open(path, "r+b") as stream:
        start, size = stream.read(4), stream.seek(0, 2)
        if start == ZSTD:
            size += 8
            stream.write(SKIPPED + _size_after(size).to_bytes(4, "little"))
        elif start == ZIP:
            stream.seek(-2, 2)  # the archive ends with the length of its comment
            stream.write(_size_after(size).to_bytes(2, "little"))
        stream.flush()
        blocks = block_checksums(np.memmap(path, np.uint8, "r", shape=(size,)))
        stream.seek(0, 2)
        stream.write(blocks + zlib.crc32(blocks).to_bytes(4, "little") + size.to_bytes(8, "little") + MAGIC)
        return stream.tell()


def checked(whole: Content) -> Content | None:
    """The content of a file without its checksums; None if it does not end with checksums.

    Raises DamagedFileError if the content does not match them.
    """
    size = len(whole)
    end = whole[max(0, size - END) :].tobytes()
    if len(end) < END or not end.endswith(MAGIC):
        return None
    length = int.from_bytes(end[4:12], "little")
    if length + _size_after(length) != size:
        raise DamagedFileError(f"damaged: {size} bytes, but checksums for {length}")
    stored = whole[length : size - END].tobytes()
    if zlib.crc32(stored).to_bytes(4, "little") != end[:4]:
        raise DamagedFileError(f"damaged: its checksums (bytes {length} to {size}) do not fit together")
    numbers = (np.frombuffer(checksums, "<u4") for checksums in (block_checksums(whole[:length]), stored))
    for block, (actual, expected) in enumerate(zip(*numbers, strict=True)):
        if actual != expected:
            where = f"bytes {block * BYTES_A_BLOCK} to {min(length, (block + 1) * BYTES_A_BLOCK)}"
            raise DamagedFileError(f"damaged: the checksum of {where} is {actual:08x}, wanted {expected:08x}")
    return whole[:length]


def checked_file(stream: BinaryIO, whole: Content) -> Content | None:
    """Like `checked`, but skips the check of files that this process, or the one that started it, has checked before.

    `stream` is the open file, `whole` its mapping into memory. Raises DamagedFileError, OSError.
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
    """The files that this process has checked, to be passed to `trust` in the processes that it starts."""
    return frozenset(_checked)


def trust(files: Iterable[Identity]) -> None:
    """Skip the check of files that another process has checked; files that change afterwards are checked again."""
    _checked.update(files)


def block_checksums(content: Any) -> bytes:
    """The CRC-32 of each 16 MiB of a buffer, in 4 bytes each."""
    view = memoryview(content)
    blocks = [(view[start : start + BYTES_A_BLOCK],) for start in range(0, len(view), BYTES_A_BLOCK)]
    return np.array(in_threads(zlib.crc32, blocks, min(cores(), max(1, len(blocks)))), "<u4").tobytes()


def _size_after(length: int) -> int:
    """How many bytes of checksums follow a content of `length` bytes."""
    return 4 * -(-length // BYTES_A_BLOCK) + END
