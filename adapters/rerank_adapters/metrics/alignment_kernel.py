"""The kernel that aligns two sequences of numbered words (alignment.py)."""

from __future__ import annotations

import numpy as np

from rerank_plugins.core.arrays import IntArray
from rerank_plugins.kit.kernels import kernel


@kernel
def aligned_codes(hypothesis: IntArray, reference: IntArray, substitution: int, gap: int) -> IntArray:
    """(operations): 0 correct, 1 substitution, 2 deletion, 3 insertion, from left to right.

    Among cheapest alignments the last differing operation is a match or substitution, then an insertion, then a
    deletion.
    """
    rows, columns = len(reference) + 1, len(hypothesis) + 1
    cost = np.empty((rows, columns), np.int32)
    back = np.empty((rows, columns), np.int8)
    for i in range(rows):
        cost[i, 0], back[i, 0] = gap * i, 2
    for j in range(columns):
        cost[0, j], back[0, j] = gap * j, 3
    # cost[i, j] is that of the first i words of the reference and the first j of the hypothesis.
    for i in range(1, rows):
        for j in range(1, columns):
            same = reference[i - 1] == hypothesis[j - 1]
            best, operation = cost[i - 1, j - 1] + (0 if same else substitution), 0 if same else 1
            if cost[i, j - 1] + gap < best:
                best, operation = cost[i, j - 1] + gap, 3
            if cost[i - 1, j] + gap < best:
                best, operation = cost[i - 1, j] + gap, 2
            cost[i, j], back[i, j] = best, operation
    codes = np.empty(rows + columns, np.int32)
    i, j, length = rows - 1, columns - 1, 0
    while i > 0 or j > 0:
        operation = back[i, j]
        codes[length] = operation
        length += 1
        if operation != 3:
            i -= 1
        if operation != 2:
            j -= 1
    return codes[:length][::-1].copy()
