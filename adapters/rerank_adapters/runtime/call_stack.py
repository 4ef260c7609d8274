"""The stack of Python's calls: room in it, so that no loop calls across the end of a chunk.

CPython keeps the frames of calls in chunks of 16 kB. A call that does not fit into the present one maps another, which
its return unmaps. Where a loop comes to be at such a depth, each of its calls takes as long as a hundred others; the
compiler of kernels, whose calls are deep, may spend an eighth of its time so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
SLOTS = 1 << 17  # of 8 bytes each: a frame of so many gets a chunk of 2 MB, half of which is left for the calls below


def with_room(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what the function returns, called with a chunk of its own for the frames of all calls below it."""
    return function(*args, **kwargs)


with_room.__code__ = with_room.__code__.replace(co_stacksize=SLOTS)
