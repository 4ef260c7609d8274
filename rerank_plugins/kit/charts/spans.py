"""The cells of a chart: the spans of a sentence, in numbers."""

from __future__ import annotations

from functools import cache

import numpy as np

from rerank_plugins.core.arrays import LongArray
from rerank_plugins.kit.kernels import part


@part
def cell_number(i: int, j: int, n: int) -> int:
    """Number the cells by width, then from left to right: those of width d begin after Σ_{e<d} (n - e + 1) others."""
    d = j - i - 1
    return d * n - d * (d - 1) // 2 + i


@cache
def spans(n: int) -> tuple[LongArray, LongArray]:
    """Return the begin and the end of each cell's span in a sentence of n words, in the order of their numbers.

    >>> [bounds.tolist() for bounds in spans(2)]
    [[0, 1, 0], [1, 2, 2]]
    """
    widths = np.repeat(np.arange(1, n + 1), np.arange(n, 0, -1))
    begins = np.concatenate([np.arange(n - width) for width in range(n)])
    return begins, begins + widths
