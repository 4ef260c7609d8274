"""Kernels over two sequences of numbers: longest common substring, greedy string tiling."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True)
def longest_common_substring(a: Any, b: Any) -> int:
    """Length of the longest run that both have."""
    row = np.zeros(len(b) + 1, np.int64)
    longest = 0
    for i in range(len(a)):
        before = 0
        for j in range(len(b)):
            above = row[j + 1]
            row[j + 1] = before + 1 if a[i] == b[j] else 0
            before = above
            longest = max(longest, row[j + 1])
    return int(longest)


@njit(cache=True)
def greedy_string_tiling(a: Any, b: Any, shortest: int) -> int:
    """How many elements are covered by tiles: again and again the longest run (of `shortest` or more) that both have
    where no tile lies yet becomes one; of equal ones the first (Wise 1996).
    """
    free_a, free_b = np.ones(len(a), np.bool_), np.ones(len(b), np.bool_)
    covered = 0
    while True:
        row = np.zeros(len(b) + 1, np.int64)
        longest, end_a, end_b = 0, 0, 0
        for i in range(len(a)):
            before = 0
            for j in range(len(b)):
                above = row[j + 1]
                row[j + 1] = before + 1 if free_a[i] and free_b[j] and a[i] == b[j] else 0
                before = above
                if row[j + 1] > longest:
                    longest, end_a, end_b = row[j + 1], i + 1, j + 1
        if longest < shortest:
            return covered
        free_a[end_a - longest : end_a] = False
        free_b[end_b - longest : end_b] = False
        covered += longest
