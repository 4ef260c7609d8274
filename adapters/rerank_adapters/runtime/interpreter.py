"""How commands run in Python's interpreter: with fewer collections of garbage.

The compiler of kernels, and the readers of lists, make objects by the million, few of them in cycles. Each full
collection visits all objects, of the libraries and models too; by CPython's own thresholds, they take a tenth of the
compiler's time.
"""

from __future__ import annotations

import gc

THRESHOLDS = 50_000, 10, 10  # new objects, and collections of each younger generation, before the next collection


def relax_gc() -> None:
    """Let this process collect garbage less often than CPython does by itself."""
    gc.set_threshold(*THRESHOLDS)
