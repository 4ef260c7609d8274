"""Decorators of compiled functions: `kernel` and `filling_kernel`, and of their parts: `part`, `allocating_part`.

Kernels assign arrays to slices and rows element by element: numba compiles the message about shapes that do not agree
with each `a[i:j] = b`, which takes longer, 3 s, than most kernels. They assign to three variables at once at most: of
four values, Python makes a tuple first, whose type numba compiles. A part is compiled once for the kernels that call it
and once for the parts that do.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit
from numba.extending import register_jitable

Function = TypeVar("Function", bound=Callable[..., Any])


def forget_other_versions(package: Path = Path(__file__).parents[1]) -> None:
    """Remove machine code beside the source that another version of the package has compiled.

    Its index may name classes of modules that have gone, and a kernel does not notice a change to its parts in another
    file.
    """
    modules = sorted(path.relative_to(package).as_posix() for path in package.rglob("*.py"))
    present = f"{version('rerank-plugins')} {zlib.crc32(' '.join(modules).encode()):08x}"
    marker = package / "__pycache__" / "kernels.version"
    with suppress(OSError):  # where nothing can be written, no machine code is kept beside the source
        if not marker.exists() or marker.read_text() != present:
            for index in package.rglob("*.nb[ci]"):
                index.unlink(missing_ok=True)
            marker.parent.mkdir(exist_ok=True)
            marker.write_text(present)


forget_other_versions()


def kernel(function: Function) -> Function:
    """Compile a function on its first call, and keep the machine code on disk."""
    return filling_kernel(function, nogil=False, _nrt=True)


def filling_kernel(function: Function, **options: Any) -> Function:
    """Like `kernel`, for a function that fills arrays, but neither creates nor returns any: all come from the caller.

    It is compiled without reference counts, and therefore in about half the time, and releases the interpreter's lock.
    """
    settings = {"cache": True, "nogil": True, "_nrt": False, "no_cfunc_wrapper": True} | options
    return cast(Function, njit(**settings)(function))


def part(function: Function, **options: Any) -> Function:
    """Let kernels call a function that has no machine code of its own; called from Python, it is plain Python.

    It is compiled with the kernels that call it, without a wrapper for Python, which would take longer to compile than
    most such functions, and without reference counts of its arrays, which would take longer than short loops. It must
    therefore neither create arrays nor return any. Kernels do not notice a change to a part in another file: delete
    their cache then.
    """
    return allocating_part(function, _nrt=False, **options)


def allocating_part(function: Function, **options: Any) -> Function:
    """Like `part`, for a function that creates arrays or returns some, with reference counts."""
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiled: Function = register_jitable(**options)(function)
    return compiled


@part
def first_not_below(keys: Any, low: int, high: int, key: int) -> int:
    """Return the first index in `keys[low:high]`, which ascend, whose key is not below `key`; `high` if none is."""
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@part
def place_of(keys: Any, low: int, high: int, key: int) -> int:
    """Return the index of the key in `keys[low:high]`, which ascend; -1 if it is not there."""
    place = first_not_below(keys, low, high, key)
    return place if place < high and keys[place] == key else -1
