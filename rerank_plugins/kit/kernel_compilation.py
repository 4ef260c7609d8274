"""Lets each kernel be compiled by one process while others wait for it, and reports what is being compiled.

A process that does not find a kernel in the cache (kernel_cache.py) claims it before it compiles it, and looks again:
another one may have compiled it in the meantime. A claim is a record lock on one byte of a file in the cache's folder.
It ends when the kernel is saved or its process ends. A process that has waited `PATIENCE` seconds compiles the kernel
itself, so that a claim delays nothing for ever. A kernel claims those that it calls while it is compiled, and never the
reverse, so processes do not wait for each other in a circle. Where there are no record locks, each process compiles.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

FILE = "compiling.lock"
PATIENCE, LOOK = 120.0, 0.05  # seconds: the longest wait for another process, and between two looks

_files: dict[str, int] = {}  # descriptors by folder; to close one would end all claims in it
_listeners: list[Callable[[str], None]] = []


@contextmanager
def told(listener: Callable[[str], None]) -> Iterator[None]:
    """Call the listener with the name of each kernel that this process is about to compile, or waits for."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def claim_kernels(cache: Any) -> None:
    """Let numba's class for the cache of a kernel claim what it does not find, and end the claim when it is saved."""
    load, save = cache.load_overload, cache.save_overload
    if hasattr(load, "__wrapped__"):
        return

    def load_or_claim(self: Any, signature: Any, context: Any) -> Any:
        loaded = load(self, signature, context)
        if loaded is None:
            path = Path(self._cache_file._index_path)
            for listener in list(_listeners):
                listener(path.name.partition("-")[0])
            with suppress(OSError):
                self._impl.locator.ensure_cache_path()
            if _claim(path):
                loaded = load(self, signature, context)
                if loaded is not None:
                    _release(path)
        return loaded

    def save_and_release(self: Any, signature: Any, data: Any) -> None:
        try:
            save(self, signature, data)
        finally:
            _release(Path(self._cache_file._index_path))

    load_or_claim.__wrapped__, save_and_release.__wrapped__ = load, save  # type: ignore[attr-defined]
    cache.load_overload, cache.save_overload = load_or_claim, save_and_release


def _claim(path: Path) -> bool:
    """Claim the kernel with this index file; return whether another process had to be waited for."""
    end, waited = time.monotonic() + PATIENCE, False
    while time.monotonic() < end:
        try:
            _lock(path, held=True)
        except (BlockingIOError, PermissionError):  # another process holds it
            waited = True
            time.sleep(LOOK)
        except OSError:  # a folder that cannot be written, or a file system without locks
            break
        else:
            break
    return waited


def _release(path: Path) -> None:
    with suppress(OSError):
        _lock(path, held=False)


def _lock(path: Path, *, held: bool) -> None:
    """Lock or unlock the byte of a kernel; does nothing where the operating system has no record locks."""
    try:
        import fcntl
    except ImportError:
        return
    folder = str(path.parent)
    if folder not in _files:
        _files[folder] = os.open(path.parent / FILE, os.O_RDWR | os.O_CREAT, 0o666)
    how = fcntl.LOCK_EX | fcntl.LOCK_NB if held else fcntl.LOCK_UN
    fcntl.lockf(_files[folder], how, 1, zlib.crc32(path.name.encode()))
