"""Where compiled kernels are cached, and how processes share them.

numba caches them beside the source code, in the folder where Python keeps its own compiled modules, so that they are
removed with the installation. If that folder cannot be written (a system-wide installation, a container), they go to
`kernels` in the program's cache (`paths.cache_folder`), and if that cannot be written either, to a temporary folder,
which is removed when the process ends. The variable NUMBA_CACHE_DIR overrides all of this.

Several processes may compile at once. numba writes each file atomically, but not a kernel's two files together: the
index, and the code to which it points. This module therefore reads and writes both under a lock, removes the code of
older sources before new code gets the same number, and treats an unreadable file as missing. Which of them compiles a
kernel is decided in kernel_compilation.py.

numba is slow to import, so it is imported only where it is needed; an import hook sets up its cache at that moment.
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

from rerank_plugins.core.paths import cache_folder
from rerank_plugins.kit.kernel_compilation import claim_kernels

CACHING = "numba.core.caching"
FOLDER = "kernels"
BESIDE = Path(__file__).parent / "__pycache__"
logger = logging.getLogger(__name__)


def install() -> None:
    """Set up numba's cache: now if numba has been imported, else as soon as it is."""
    if CACHING in sys.modules:
        _set_up(sys.modules[CACHING])
    elif not any(isinstance(finder, _Hook) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Hook())


class _Hook:
    """Finds the module of numba's cache as other finders do, and sets the cache up after the module is executed."""

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
    with suppress(AttributeError):  # a version of numba with other internals: keep its own cache
        if not caching.config.CACHE_DIR and not _writable(BESIDE):
            caching.config.CACHE_DIR = str(_own_folder())
        share(caching.IndexDataCacheFile)
        claim_kernels(caching.Cache)


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
    """Make numba's class for a kernel's index and code safe for use by several processes at once."""
    load, save = files.load, files.save
    if hasattr(load, "__wrapped__"):
        return

    def load_locked(self: Any, key: Any) -> Any:
        with _locked(self._cache_path, exclusive=False):
            try:
                return load(self, key)
            except Exception:  # cut short, or of a removed class: pickle may raise any error
                return None

    def save_locked(self: Any, key: Any, data: Any) -> None:
        with _locked(self._cache_path, exclusive=True):
            if not _index(self):
                _unlink(self, ".*.nbc")  # code of older sources, which a new index must not point to
            try:
                save(self, key, data)
            except BaseException as error:
                _unlink(self, ".*.tmp.*")
                if not isinstance(error, OSError):  # a kernel that cannot be saved (full disk) still works
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
    """Hold a lock on the folder, shared or exclusive; none if the operating or file system has no locks."""
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
