"""Where the machine code of kernels is kept, so that none is used after an edit, a checkout or an upgrade.

numba keeps the machine code of a function with a hash of the function's own file, and does not notice a change to a
function or a constant that comes from another file. The code of a package is therefore kept in a folder that is named
after the contents of all modules that hold kernels, and of all modules that these import. An edit of one of them begins
a new folder, and a checkout of the earlier contents finds the earlier folder again.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import config as numba_config

from rerank_plugins.core.files import KERNELS, cache_folder

config: Any = numba_config  # it has no types
LIBRARY = Path(__file__).parents[1]
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
    """The folder for the machine code of a package's kernels; None where there is none that can be written.

    It is in the folder that `NUMBA_CACHE_DIR` names, else beside the source of this library, else in the user's cache.
    """
    source = getattr(sys.modules.get(package), "__file__", None)
    packages = dict.fromkeys([LIBRARY, *([Path(source).parent] if source else [])])
    beside = LIBRARY / "__pycache__"
    if config.CACHE_DIR:
        folder = Path(config.CACHE_DIR)
    elif os.access(beside if beside.exists() else LIBRARY, os.W_OK) and (beside.is_dir() or not beside.exists()):
        folder = beside
    else:
        user = cache_folder()
        if user is None:
            return None
        folder = user / KERNELS
    return folder / f"{KERNELS}-{digest(packages)}"


@contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """In the block, functions that numba decorates are to keep their machine code in a folder."""
    before: str = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before
