"""Where numba keeps compiled kernels, how it writes errors, and what the user is told while it compiles.

numba caches them beside the source code, so that they are removed with the installation. Where that folder cannot be
written (a system-wide installation, a container), the command line sets `NUMBA_CACHE_DIR`, which worker processes
inherit, to `kernels` in the program's cache or, without one, to a temporary folder, which the end of the process
removes.
"""

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rerank_plugins
from rerank_plugins.core.paths import cache_folder

VARIABLE = "NUMBA_CACHE_DIR"
PLAIN = "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING"
FOLDER = "kernels"
BESIDE = Path(rerank_plugins.__file__).parent / "__pycache__"
logger = logging.getLogger(__name__)


def write_plain_errors() -> None:
    """Let numba write its errors without colours, before it is imported.

    It makes some thousand errors for each kernel, of attempts that another attempt follows, and colours are a thirtieth
    of the time of compilation.
    """
    os.environ.setdefault(PLAIN, "1")


def choose_folder() -> None:
    """Set the variable of the folder where it is needed, before numba is imported."""
    if os.environ.get(VARIABLE) or _writable(BESIDE):
        return
    cache = cache_folder()
    if cache is None or not _writable(cache / FOLDER):
        cache = _temporary()
    os.environ[VARIABLE] = str(cache / FOLDER / rerank_plugins.__version__)


def _temporary() -> Path:
    import shutil
    import tempfile

    folder, owner = Path(tempfile.mkdtemp(prefix="rerank-kernels-")), os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # and not a fork
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    logger.warning(
        "%s: cannot be written, and neither can a cache (RERANK_CACHE may name a folder for one):"
        " kernels are compiled for this run only",
        BESIDE,
    )
    return folder


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


@contextmanager
def compilations(listener: Callable[[str], object]) -> Iterator[None]:
    """In the block, call the listener with the name of each kernel that numba begins to compile."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            listener(event.data["dispatcher"].py_func.__name__)

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield
