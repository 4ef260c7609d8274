"""How commands run in Python's interpreter: with room on the stack of calls, and with fewer collections of garbage.

CPython keeps the frames of calls in chunks of 16 kB. A call that does not fit into the present one maps another, which
its return unmaps. Where a loop comes to be at such a depth, each of its calls takes as long as a hundred others; the
compiler of kernels, whose calls are deep, may spend an eighth of its time so.

The compiler, and the readers of lists, make objects by the million, few of them in cycles. Each full collection visits
all objects, of the libraries and models too; by CPython's own thresholds, they take a tenth of the compiler's time.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
THRESHOLDS = 50_000, 10, 10  # new objects, and collections of each younger generation, before the next collection
SLOTS = 1 << 17  # of 8 bytes each: a frame of so many gets a chunk of 2 MB, half of which is left for the calls below


def with_room(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what the function returns, called with a chunk of its own for the frames of all calls below it."""
    return function(*args, **kwargs)


with_room.__code__ = with_room.__code__.replace(co_stacksize=SLOTS)


def collect_seldom() -> None:
    """Let this process collect garbage less often than CPython does by itself."""
    gc.set_threshold(*THRESHOLDS)
