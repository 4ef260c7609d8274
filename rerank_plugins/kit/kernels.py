"""Decorators of compiled functions: `kernel` and `filling_kernel`, which Python calls, and for their parts `part` and
`allocating_part`.

Kernels assign arrays to slices and rows element by element: numba compiles the message about shapes that do not agree
with each `a[i:j] = b`, which takes longer, 3 s, than most kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numba.extending import register_jitable

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a function on its first call, and keep the machine code on disk."""
    return cast(Function, njit(cache=True)(function))


def filling_kernel(function: Function, **options: Any) -> Function:
    """Like `kernel`, for a function that fills arrays, but neither creates nor returns any: all come from the caller.

    It is compiled without reference counts, and therefore in about half the time, and releases the interpreter's lock.
    """
    options |= {"cache": True, "nogil": True, "_nrt": False}
    return cast(Function, njit(**options)(function))


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
