"""Files of the user: where paths lead, files that are whole or not there, checksums, and the folder of the cache.

`atomic_write` writes a file `NAME` as `.NAME.1a2b3c4d.tmp` and renames it when it is complete. Until then its process
holds a lock (flock) on it; a process that writes a file of the same name later removes the temporary files that it can
lock. Tables and models end in checksums, so that damage is detected before any of their content is used:

    content | CRC-32 of each 16 MiB of it | CRC-32 of these checksums | length of the content (8 bytes) | "rerankCK"

Numbers are little-endian and have 4 bytes, except the length. Other programs can still read Zstandard files and zip
archives: the checksums are in a skippable frame of a Zstandard file (whose first 8 bytes count as content), and in the
comment of an archive.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import struct
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from rerank_plugins.core.errors import ConfigError, RerankError

try:
    import fcntl
except ImportError:  # no locks, as on Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE_MODULE = "rerank_plugin_"  # prefix of the module names of plugin files
KERNELS = "kernels"  # folder of machine code in the cache
MAGIC = b"rerankCK"
BYTES_A_BLOCK = 1 << 24
END = 4 + 8 + len(MAGIC)  # bytes after the checksums of the blocks
ZSTD, ZIP = b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
SKIPPED = b"\x50\x2a\x4d\x18"  # the start of a skippable frame of Zstandard
SETTLED_NS = 2_000_000_000  # nanoseconds after which any change to a file changes its modification time

_switched_off = ContextVar("_switched_off", default=False)
_checked: set[tuple[str, int, int, int]] = set()  # path, inode, size and time of files that this process has checked


# --- paths


def resolve(path: Path | str, base: Path) -> Path:
    """The path, with `~` and `$VARIABLE` expanded, relative to `base`.

    Raises ConfigError for an environment variable that is not set.

    >>> resolve("lm.arpa", Path("models")).as_posix()
    'models/lm.arpa'
    """
    text = os.path.expandvars(os.path.expanduser(path))
    if unset := re.search(r"\$(\w+|\{\w+\})", text):
        raise ConfigError(f"{path}: the environment variable {unset[1].strip('{}')} is not set")
    return base / text


def begins_with(path: Path, magic: bytes) -> bool:
    """Whether these are the first bytes of a file; False for a file that cannot be read."""
    try:
        with open(path, "rb") as stream:
            return stream.read(len(magic)) == magic
    except OSError:
        return False


def content_hash(path: Path) -> str:
    """The SHA-256 of a file, computed again only if its modification time or size has changed. Raises OSError."""
    status = path.stat()
    return _content_hash(path, status.st_mtime_ns, status.st_size)


@cache
def _content_hash(path: Path, modified: int, size: int) -> str:  # noqa: ARG001 -- part of the cache's key
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_output(path: Path) -> None:
    """Raise ConfigError for a folder, and for a file whose folder does not exist or may not be written."""
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder, expected a file to write")
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: there is no folder {path.parent} to write it in")
    if not (path.exists() and not path.is_file()) and not os.access(path.parent, os.W_OK | os.X_OK):
        raise ConfigError(f"{path}: the folder {path.parent} may not be written (permission denied)")


# --- the folder of the cache


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The folder of the cache; None if the user wants no cache.

    It is the value of `RERANK_CACHE` (empty: no cache), else that of `default_cache_folder`.

    >>> cache_folder({"RERANK_CACHE": "/data/parses"}).as_posix(), cache_folder({"RERANK_CACHE": ""})
    ('/data/parses', None)
    """
    if _switched_off.get():
        return None
    if "RERANK_CACHE" in environment:
        return Path(environment["RERANK_CACHE"]).expanduser() if environment["RERANK_CACHE"] else None
    return default_cache_folder(environment)


def default_cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder `rerank-plugins` in `XDG_CACHE_HOME` or `~/.cache`."""
    home = environment.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "rerank-plugins"


@contextmanager
def without_cache() -> Iterator[None]:
    """Within the block, `cache_folder` is None: what is made there neither reads nor writes a cache, as for timings."""
    token = _switched_off.set(True)
    try:
        yield
    finally:
        _switched_off.reset(token)


def cache_limit(environment: Mapping[str, str] = os.environ) -> int:
    """The most bytes that parses and feature values may take on disk: the value of `RERANK_CACHE_LIMIT`, else 10 GB.

    Raises ConfigError for a value that is no size.

    >>> cache_limit({}), cache_limit({"RERANK_CACHE_LIMIT": "500 MB"})
    (10000000000, 500000000)
    """
    return size_in_bytes(environment.get("RERANK_CACHE_LIMIT") or "10 GB", "RERANK_CACHE_LIMIT")


def size_in_bytes(text: str, name: str) -> int:
    """The number of bytes of a size such as `500 MB`, which is the value of `name`. Raises ConfigError.

    >>> size_in_bytes("1.5G", "--prune"), size_in_bytes("4096", "--prune")
    (1500000000, 4096)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kMGT]?)B?", text.strip(), re.IGNORECASE)
    if match is None:
        raise ConfigError(f"{name} is {text!r}; wanted a number of bytes, or a size such as 500 MB or 10 GB")
    return int(float(match[1]) * 1000 ** " kmgt".index(match[2].lower() or " "))


# --- whole files or none


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
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
                with suppress(OSError), open(entry.path, "r+b") as stream:
                    if _lock(stream.fileno()):
                        os.unlink(entry.path)


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


# --- checksums


class DamagedFileError(Exception):
    """The content of a file does not match its checksums; the message has the position, but not the file."""


def add_checksums(path: Path) -> int:
    """Append checksums to a file that has none; return its new size in bytes. Raises OSError."""
    with open(path, "r+b") as stream:
        start, size = stream.read(4), stream.seek(0, 2)
        if start == ZSTD:
            size += 8
            stream.write(SKIPPED + struct.pack("<I", _size_after(size)))
        elif start == ZIP:
            stream.seek(-2, 2)  # the archive ends with the length of its comment
            stream.write(struct.pack("<H", _size_after(size)))
        stream.seek(0)
        blocks = _packed(iter(lambda: stream.read(BYTES_A_BLOCK), b""))
        stream.seek(0, 2)
        stream.write(blocks + struct.pack("<IQ", zlib.crc32(blocks), size) + MAGIC)
        return stream.tell()


def checked(whole: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    """The content of a file without its checksums; None if it does not end with checksums.

    Raises DamagedFileError if the content does not match them.
    """
    view, size = whole.data, len(whole)
    end = bytes(view[max(0, size - END) :])
    if len(end) < END or not end.endswith(MAGIC):
        return None
    of_blocks, length = struct.unpack("<IQ", end[:12])
    if length + _size_after(length) != size:
        raise DamagedFileError(f"damaged: {size} bytes, but checksums for {length}")
    stored = bytes(view[length : size - END])
    if zlib.crc32(stored) != of_blocks:
        raise DamagedFileError(f"damaged: its checksums (bytes {length} to {size}) do not fit together")
    starts = range(0, length, BYTES_A_BLOCK)
    actual = _packed(view[start : min(length, start + BYTES_A_BLOCK)] for start in starts)
    for start, (found,), (wanted,) in zip(
        starts, struct.iter_unpack("<I", actual), struct.iter_unpack("<I", stored), strict=True
    ):
        if found != wanted:
            where = f"bytes {start} to {min(length, start + BYTES_A_BLOCK)}"
            raise DamagedFileError(f"damaged: the checksum of {where} is {found:08x}, wanted {wanted:08x}")
    return whole[:length]


def checked_file(stream: BinaryIO, whole: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    """Like `checked`, but skips the check of a file that this process has checked before, unless it has changed.

    `stream` is the open file, `whole` its mapping into memory. Raises DamagedFileError, OSError.
    """
    status = os.fstat(stream.fileno())
    key = str(Path(stream.name).resolve()), status.st_ino, status.st_size, status.st_mtime_ns
    if key in _checked:
        return whole[: int.from_bytes(whole[-16:-8].tobytes(), "little")]
    content = checked(whole)
    if content is not None and time.time_ns() - status.st_mtime_ns > SETTLED_NS:
        _checked.add(key)
    return content


def _packed(blocks: Iterable[Any]) -> bytes:
    """The CRC-32 of each block, in 4 bytes each."""
    return b"".join(struct.pack("<I", zlib.crc32(block)) for block in blocks)


def _size_after(length: int) -> int:
    """How many bytes of checksums follow a content of `length` bytes."""
    return 4 * -(-length // BYTES_A_BLOCK) + END
