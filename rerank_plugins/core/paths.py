"""Paths in configs (relative to the config, `~` and `$VARIABLE` expanded), hashes of files, and the cache folder."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from rerank_plugins.core.errors import ConfigError

FILE_MODULE = "rerank_plugin_"  # prefix of the module names of plugin files
KERNELS = "kernels"  # folder of machine code in the cache, and the beginning of the names of its folders

_switched_off = ContextVar("_switched_off", default=False)


def resolve(path: Path | str, base: Path) -> Path:
    """The path, expanded and relative to `base`. Raises ConfigError for an environment variable that is not set.

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


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The folder of the store, and of kernels that cannot be cached beside the code; None if the user wants no cache.

    It is the value of `RERANK_CACHE` (empty: no cache), else `rerank-plugins` in `XDG_CACHE_HOME` or `~/.cache`.

    >>> cache_folder({"RERANK_CACHE": "/data/parses"}).as_posix(), cache_folder({"RERANK_CACHE": ""})
    ('/data/parses', None)
    """
    if _switched_off.get():
        return None
    if "RERANK_CACHE" in environment:
        return Path(environment["RERANK_CACHE"]).expanduser() if environment["RERANK_CACHE"] else None
    home = environment.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "rerank-plugins"


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


def check_output(path: Path) -> None:
    """Raise ConfigError for a folder, and for a file whose folder does not exist or may not be written."""
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder, expected a file to write")
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: there is no folder {path.parent} to write it in")
    if not (path.exists() and not path.is_file()):
        check_writable(path, path.parent)


def check_writable(path: Path, folder: Path) -> None:
    """Raise ConfigError for `path` where this process may not write in its folder."""
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"{path}: the folder {folder} may not be written (permission denied)")


@cache
def this_machine() -> str:
    """A name of the running machine that no other one has (on Linux, until it is started again)."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return platform.node() + (f" {boot.read_text().strip()}" if boot.is_file() else "")


@contextmanager
def without_cache() -> Iterator[None]:
    """Within the block, `cache_folder` is None: what is made there neither reads nor writes a cache, as for timings."""
    token = _switched_off.set(True)
    try:
        yield
    finally:
        _switched_off.reset(token)


def content_hash(path: Path) -> str:
    """The SHA-256 of a file, computed again only if its modification time or size has changed. Raises OSError."""
    status = path.stat()
    return _content_hash(path, status.st_mtime_ns, status.st_size)


@cache
def _content_hash(path: Path, modified: int, size: int) -> str:  # noqa: ARG001 -- part of the cache's key
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
