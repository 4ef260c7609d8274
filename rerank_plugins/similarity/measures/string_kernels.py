"""Kernels over two sequences of integers: longest common substring and greedy string tiling."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True)
def longest_common_substring(a: Any, b: Any) -> int:
    """The length of the longest contiguous run that occurs in both sequences. O(|a| |b|)."""
    row = np.zeros(len(b) + 1, np.int64)
    longest = 0
    for i in range(len(a)):
        diagonal = 0
        for j in range(len(b)):
            above = row[j + 1]
            row[j + 1] = diagonal + 1 if a[i] == b[j] else 0
            diagonal = above
            longest = max(longest, row[j + 1])
    return int(longest)


@njit(cache=True)
def greedy_string_tiling(a: Any, b: Any, shortest: int) -> int:
    """The number of elements covered by greedy string tiling (Wise 1996).

    The longest common run of uncovered elements becomes a tile, again and again, until no run of `shortest` or more
    elements is left. Of runs of equal length, the first in `a`, then in `b`, is taken.
    """
    free_a, free_b = np.ones(len(a), np.bool_), np.ones(len(b), np.bool_)
    covered = 0
    while True:
        row = np.zeros(len(b) + 1, np.int64)
        longest, end_a, end_b = 0, 0, 0
        for i in range(len(a)):
            diagonal = 0
            for j in range(len(b)):
                above = row[j + 1]
                row[j + 1] = diagonal + 1 if free_a[i] and free_b[j] and a[i] == b[j] else 0
                diagonal = above
                if row[j + 1] > longest:
                    longest, end_a, end_b = row[j + 1], i + 1, j + 1
        if longest < shortest:
            return covered
        free_a[end_a - longest : end_a] = False
        free_b[end_b - longest : end_b] = False
        covered += longest
