"""Decorators of compiled functions: `kernel`, and `part` of kernels; and parts that several kernels call.

A kernel is compiled on its first call, and its machine code is kept on disk (machine_code.py). A part is compiled with
the kernels that call it.

Kernels assign arrays to slices and rows element by element: numba compiles the message about shapes that do not agree
with each `a[i:j] = b`, which takes longer, 3 s, than most kernels. They assign to three variables at once at most: of
four values, Python makes a tuple first, whose type numba compiles.

An index that is a signed number counts from the end of the array if it is below 0, and the machine code asks whether it
is. In loops over rules that takes a third of the time, so places in their arrays are unsigned (`PlaceArray`); of an
unsigned and a signed number, numba makes a float. Python hands over a named tuple in 0.7 µs, and each of its arrays in
0.1 µs: what is called once for each word is one kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

import numpy as np
from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

from rerank_plugins.kit.machine_code import config, folder_of, kept_in

Function = TypeVar("Function", bound=Callable[..., Any])
NO_CALLBACK: dict[str, Any] = {"no_cfunc_wrapper": True}  # C calls none of them
# The option of the example in numba's `register_jitable`, which no other can stand for: without it, the HHMM takes half
# as long again or more, even if all parts are inlined; other families take the same time.
NO_REFERENCES: dict[str, Any] = {"_nrt": False}
_kernels: list[Any] = []  # all that have been decorated


def kernel(function: Function, **options: Any) -> Function:
    """Compile a function on its first call, without the interpreter's lock, and keep the machine code on disk."""
    if config.DISABLE_JIT:
        return _interpreted(function, **options)
    folder = folder_of(function.__module__.partition(".")[0])
    with kept_in(folder) if folder else nullcontext():
        compiled: Any = njit(cache=folder is not None, **({"nogil": True} | NO_CALLBACK | options))(function)
    _kernels.append(compiled)
    return compiled  # type: ignore[no-any-return]


def filling_kernel(function: Function, **options: Any) -> Function:
    """Like `kernel`, for a function that fills arrays, but neither creates nor returns any: all come from the caller.

    It counts no references to arrays, which would take as long as the short loops of a search do.
    """
    return kernel(function, **(NO_REFERENCES | options))


def _interpreted(function: Function, error_model: str = "python", **_: Any) -> Function:
    """The function as plain Python, whose whole numbers wrap around in silence, as those of machine code do."""
    division: Any = {"divide": "ignore", "invalid": "ignore"} if error_model == "numpy" else {}
    interpreted: Any = np.errstate(over="ignore", **division)(function)
    interpreted.py_func = function  # as compiled functions have it
    return interpreted  # type: ignore[no-any-return]


def part(function: Function, **options: Any) -> Function:
    """Let kernels call a function that has no machine code of its own; called from Python, it is plain Python.

    It is compiled with the kernels that call it, without a wrapper for Python, which would take longer to compile than
    most such functions, and counts no references to arrays: it neither creates nor returns any.
    """
    if config.DISABLE_JIT:
        return _interpreted(function, **options)
    compiled: Function = register_jitable(**(NO_CALLBACK | NO_REFERENCES | options))(function)
    return compiled


def records(count: int, kind: np.dtype[Any]) -> Any:
    """Room for so many records, whose fields are attributes of an element in kernels and in plain Python."""
    empty: Any = np.empty(count, kind)
    return empty.view(np.recarray) if config.DISABLE_JIT else empty


def decorated() -> list[Any]:
    """All kernels of the modules that have been imported; none without compilation (`NUMBA_DISABLE_JIT=1`)."""
    return list(_kernels)


def compiled() -> list[str]:
    """Names of the kernels that this process has compiled, or is compiling, once for each combination of types."""
    return [each.__qualname__ for each in decorated() for _ in range(sum(each.stats.cache_misses.values()))]


@part
def first_not_below(keys: NDArray[np.integer], low: int, high: int, key: int) -> int:
    """Return the first index in `keys[low:high]`, which ascend, whose key is not below `key`; `high` if none is."""
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@part
def place_of(keys: NDArray[np.integer], low: int, high: int, key: int) -> int:
    """Return the index of the key in `keys[low:high]`, which ascend; -1 if it is not there."""
    place = first_not_below(keys, low, high, key)
    return place if place < high and keys[place] == key else -1


@part
def place_in_row(starts: NDArray[np.integer], keys: NDArray[np.integer], row: int, key: int) -> int:
    """Return the index of the key in `keys[starts[row]:starts[row + 1]]`, which ascend; -1 if it is not there."""
    return place_of(keys, starts[row], starts[row + 1], key)
