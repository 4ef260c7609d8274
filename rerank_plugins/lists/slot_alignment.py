"""The kernel that aligns a hypothesis with the slots of a confusion network."""

from __future__ import annotations

import numpy as np
from numba import njit

from rerank_plugins.core.arrays import FloatArray, IntArray

MATCH, SKIP, INSERT = 0, 1, 2  # a word in a slot; a slot without a word; a word that needs a new slot


@njit(cache=True, nogil=True)
def cheapest_path(costs: FloatArray, skips: FloatArray, insert_first: bool) -> IntArray:
    """The operations, from left to right, of the cheapest alignment of m words with n slots.

    `costs` (m, n) is the cost of each word in each slot, `skips` (n) that of leaving a slot empty; a new slot costs 1.
    Among equal costs, seen from the end, a match is taken before a skip, and a skip before a new slot, or
    (`insert_first`) a new slot before a skip. O(m · n).
    """
    words, slots = costs.shape
    total = np.empty((words + 1, slots + 1))
    back = np.empty((words + 1, slots + 1), np.int8)
    total[0, 0], back[0, 0] = 0.0, SKIP
    for i in range(1, words + 1):
        total[i, 0], back[i, 0] = float(i), INSERT
    for j in range(1, slots + 1):
        total[0, j], back[0, j] = total[0, j - 1] + skips[j - 1], SKIP
    for i in range(1, words + 1):
        for j in range(1, slots + 1):
            best, operation = total[i - 1, j - 1] + costs[i - 1, j - 1], MATCH
            skipped, inserted = total[i, j - 1] + skips[j - 1], total[i - 1, j] + 1.0
            if insert_first and inserted < best - 1e-12:
                best, operation = inserted, INSERT
            if skipped < best - 1e-12:
                best, operation = skipped, SKIP
            if not insert_first and inserted < best - 1e-12:
                best, operation = inserted, INSERT
            total[i, j] = best
            back[i, j] = operation
    path = np.empty(words + slots, np.int32)
    i, j, length = words, slots, 0
    while i > 0 or j > 0:
        operation = int(back[i, j])
        path[length] = operation
        length += 1
        if operation != SKIP:
            i -= 1
        if operation != INSERT:
            j -= 1
    return path[:length][::-1].copy()
