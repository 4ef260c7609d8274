"""Where compiled kernels are kept, and how processes share them.

numba keeps them beside the code, in the folder where Python keeps its own compiled modules: they come and go with the
installation. Where that folder cannot be written (an installation of the system's, a container), they go to `kernels`
in the program's cache (`paths.cache_folder`), and where there is none either, to a temporary folder, which is removed
when the process ends. Whoever sets NUMBA_CACHE_DIR has the last word.

Several processes may compile at once. numba writes files whole, but not a kernel's two files together: the index, and
the code it points to. So both are read and written under a lock here, the code of older sources is removed before new
code takes its number, and a file that cannot be read is one that is not there.

numba is slow to import, and is imported by whoever needs it first: what is to be done then is done by an import hook.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from rerank_plugins.paths import cache_folder

CACHING = "numba.core.caching"
FOLDER = "kernels"
BESIDE = Path(__file__).parent / "__pycache__"
logger = logging.getLogger(__name__)


def install() -> None:
    """Set numba's cache up: now if it has been imported, else as soon as it is."""
    if CACHING in sys.modules:
        _set_up(sys.modules[CACHING])
    elif not any(isinstance(finder, _Hook) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Hook())


class _Hook:
    """Finds the module of numba's cache as others do, and has it set up when it has been executed."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG002
        """The module's spec; None for other modules."""
        if name != CACHING:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_set_up(module: ModuleType) -> None:
                execute(module)
                _set_up(module)

            spec.loader.exec_module = execute_and_set_up  # type: ignore[method-assign]
        return spec


def _set_up(caching: Any) -> None:
    with suppress(AttributeError):  # another numba than those known: it does as it does by itself
        if not caching.config.CACHE_DIR and not _writable(BESIDE):
            caching.config.CACHE_DIR = str(_own_folder())
        share(caching.IndexDataCacheFile)


def _own_folder() -> Path:
    folder = cache_folder()
    if folder is not None and _writable(folder / FOLDER):
        return folder / FOLDER
    temporary = Path(tempfile.mkdtemp(prefix="rerank-kernels-"))
    os.environ["NUMBA_CACHE_DIR"] = str(temporary)  # for worker processes
    atexit.register(_remove, temporary, os.getpid())
    logger.warning(
        "%s: cannot be written, and neither can a cache (RERANK_CACHE may name a folder for one):"
        " kernels are compiled for this run only",
        BESIDE,
    )
    return temporary


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def share(files: Any) -> None:
    """Let numba's class for a kernel's index and code be used by several processes at a time."""
    load, save = files.load, files.save
    if hasattr(load, "__wrapped__"):
        return

    def load_locked(self: Any, key: Any) -> Any:
        with _locked(self._cache_path, exclusive=False):
            try:
                return load(self, key)
            except Exception:  # cut short, or of a class that is no more: pickle raises anything
                return None

    def save_locked(self: Any, key: Any, data: Any) -> None:
        with _locked(self._cache_path, exclusive=True):
            if not _index(self):
                _unlink(self, ".*.nbc")  # of older sources; a process killed before it writes code must not revive it
            try:
                save(self, key, data)
            except BaseException as error:
                _unlink(self, ".*.tmp.*")
                if not isinstance(error, OSError):  # a full disk: the kernel can do without its file
                    raise

    load_locked.__wrapped__, save_locked.__wrapped__ = load, save  # type: ignore[attr-defined]
    files.load, files.save = load_locked, save_locked


def _index(file: Any) -> Any:
    try:
        return file._load_index()
    except Exception:
        Path(file._index_path).unlink(missing_ok=True)
        return {}


def _unlink(file: Any, ending: str) -> None:
    index = Path(file._index_path)
    for path in index.parent.glob(index.stem + ending):
        path.unlink(missing_ok=True)


@contextmanager
def _locked(folder: str, *, exclusive: bool) -> Iterator[None]:
    """The folder is this process's own; without a lock where the system or the file system has none."""
    descriptor = None
    with suppress(ImportError, OSError):
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)
