"""Gives a file that is being written a temporary name beside its own, and removes those of killed processes.

A file `NAME` is written as `.NAME.1a2b3c4d.tmp` and renamed when it is complete. While it is written, its process holds
a lock (flock) on it, which ends with the process, however that ends. A process that writes a file of the same name
later tries to lock the temporary files that lie there, and removes those that it can lock. Where there are no locks,
nothing is removed.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


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
        if not _locks_exist():  # as on Windows, where open files cannot be renamed
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


def _locks_exist() -> bool:
    try:
        import fcntl  # noqa: F401
    except ImportError:
        return False
    return True


def _lock(descriptor: int) -> bool:
    """Lock a file; return whether it is locked now: not where another process holds it, or where there are no locks."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
