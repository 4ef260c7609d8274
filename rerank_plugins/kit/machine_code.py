"""Where the machine code of kernels is kept, so that none is used after an edit, a checkout or an upgrade.

numba keeps the machine code of a function with a hash of the function's own file, and does not notice a change to a
function or a constant that comes from another file. The code of a package is therefore kept in a folder that is named
after the contents of all modules that hold kernels, and of all modules that these import. An edit of one of them begins
a new folder, and a checkout of the earlier contents finds the earlier folder again.

numba unpickles the files that it finds there, so that whoever can write to the folder can run code as the user. A
folder is therefore made for the user alone, and used only where it belongs to the user and nobody else may write to it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import config as numba_config

from rerank_plugins.core.files import KERNELS, cache_folder, default_cache_folder

config: Any = numba_config  # it has no types
LIBRARY = Path(__file__).parents[1]
DAYS_UNUSED = 30  # after which machine code is removed
logger = logging.getLogger(__name__)
_IMPORT = re.compile(rb"^\s*(?:from ([\w.]+) import (\([^)]*\)|[^\n]*)|import ([\w.]+))", re.MULTILINE)


def digest(packages: Iterable[Path], versions: tuple[str, ...] = (numba.__version__, np.__version__)) -> str:
    """A digest of the versions and of the contents of all modules in these packages that kernels may depend on."""
    contents = {path: path.read_bytes() for package in packages for path in sorted(package.rglob("*.py"))}
    modules = {_name(path, package): path for package in packages for path in contents if path.is_relative_to(package)}
    reached = set[Path]()
    waiting = [path for path, text in contents.items() if b"kit.kernels import" in text]
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting.extend(modules[name] for name in _imported(contents[path]) if name in modules)
    sums = [hashlib.sha256(contents[path]).hexdigest() for path in contents if path in reached]
    return hashlib.sha256("\n".join([*versions, *sums]).encode()).hexdigest()[:16]


def _name(path: Path, package: Path) -> str:
    """The name by which the module in a file is imported."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(text: bytes) -> Iterator[str]:
    """The names of all modules that a module may import: of what follows `import`, some names are no modules."""
    for source, names, module in _IMPORT.findall(text):
        yield (source or module).decode()
        yield from (f"{source.decode()}.{name.decode()}" for name in re.findall(rb"\w+", names))


@cache
def folder_of(package: str) -> Path | None:
    """The folder for the machine code of a package's kernels; None where none can be kept, which a warning says.

    It is in the folder that `NUMBA_CACHE_DIR` names, else in `kernels` of the program's cache, also where that keeps
    nothing else (`RERANK_CACHE` is empty).
    """
    source = getattr(sys.modules.get(package), "__file__", None)
    packages = dict.fromkeys([LIBRARY, *([Path(source).parent] if source else [])])
    parent = Path(config.CACHE_DIR) if config.CACHE_DIR else (cache_folder() or default_cache_folder()) / KERNELS
    folder = parent / digest(packages)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.utime(folder)
    except OSError as error:
        reason = f"{folder}: cannot be written ({error.strerror})"
    else:
        if is_private(folder):
            if not config.CACHE_DIR:  # which other programs may use, too
                _remove_unused(parent)
            return folder
        reason = f"{folder}: others may write there, and so run code as you"
    logger.warning("%s; kernels are compiled for this run only (RERANK_CACHE may name a folder for them)", reason)
    return None


def is_private(folder: Path) -> bool:
    """Whether a folder belongs to the user, who alone may write to it and, within the one above it, replace it."""
    if not hasattr(os, "geteuid"):
        return True
    own, above = folder.stat(), folder.parent.stat()
    replaceable = above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX
    return own.st_uid == os.geteuid() and not own.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not replaceable


def _remove_unused(parent: Path) -> None:
    """Remove the machine code of other contents of the source that no process has used for a month."""
    with suppress(OSError):  # another process may remove it, too
        for folder in parent.iterdir():
            if folder.stat().st_mtime < time.time() - DAYS_UNUSED * 86_400:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """In the block, functions that numba decorates are to keep their machine code in a folder."""
    before: str = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before
