"""The cells of a chart, and the split points of each: the spans of a sentence, in numbers."""

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


@part
def split_number(i: int, k: int, j: int, n: int) -> int:
    """Number the split points k of all spans i … j-1, in the order of the cells and then from left to right.

    Σ_{e<d} e (n - e) belong to narrower cells, which have e split points each.
    """
    d = j - i - 1
    return n * (d * (d - 1) // 2) - (d - 1) * d * (2 * d - 1) // 6 + i * d + k - i - 1


def splits(n: int) -> int:
    """Return how many split points all spans of n words have.

    >>> [splits(n) for n in range(5)]
    [0, 0, 1, 4, 10]
    """
    return n * (n * n - 1) // 6


@cache
def spans(n: int) -> tuple[LongArray, LongArray]:
    """Return the begin and the end of each cell's span in a sentence of n words, in the order of their numbers.

    >>> [bounds.tolist() for bounds in spans(2)]
    [[0, 1, 0], [1, 2, 2]]
    """
    widths = np.repeat(np.arange(1, n + 1), np.arange(n, 0, -1))
    begins = np.concatenate([np.arange(n - width) for width in range(n)])
    return begins, begins + widths
