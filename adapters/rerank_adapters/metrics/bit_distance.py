"""Levenshtein distance of a permuted hypothesis to a reference, 64 cells at a time (Myers 1999; Hyyrö 2003).

Row i of the distance matrix, over the words of the reference, is kept as two bit vectors: where it grows by one from
one cell to the next (`columns[0, i]`) and where it falls by one (`columns[1, i]`), and its last cell (`last[i]`).
Rows are kept so that a permutation is computed from the first position that it changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

ZERO, ONE, TOP = np.uint64(0), np.uint64(1), np.uint64(63)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True)
def compare_words(hypothesis: Any, reference: Any, equal: Any) -> int:
    """Sets bit j of row i of `equal` where hypothesis word i is reference word j; the distance of the bags of words.

    That is the longer length less the words in common: no order has a lower edit distance.
    """
    blocks = len(reference) // 64 + 1
    free = np.full(blocks, ALL, np.uint64)
    common = 0
    for i in range(len(hypothesis)):
        equal[i, :blocks] = ZERO
        for j in range(len(reference)):
            if hypothesis[i] == reference[j]:
                equal[i, j >> 6] |= ONE << np.uint64(j & 63)
        for block in range(blocks):
            left = equal[i, block] & free[block]
            if left != ZERO:
                free[block] &= ~(left & (~left + ONE))  # take the first of them
                common += 1
                break
    return max(len(hypothesis), len(reference)) - common


@njit(cache=True, nogil=True)
def start_distance(columns: Any, last: Any, m: int) -> None:
    """Row 0, for a reference of m words: 0, 1, …, m."""
    columns[0, 0] = ALL
    columns[1, 0] = ZERO
    last[0] = m


@njit(cache=True, nogil=True)
def continue_distance(order: Any, first: int, n: int, m: int, equal: Any, columns: Any, last: Any) -> int:
    """Rows first + 1 … n from row `first`, word `order[i]` of the hypothesis standing at position i; the distance."""
    top_block, top_bit = (m - 1) >> 6, np.uint64((m - 1) & 63)
    for i in range(first, n):
        grows, falls = ONE, ZERO  # cell (i + 1, 0) is one more than cell (i, 0)
        last[i + 1] = last[i]
        for block in range(top_block + 1):
            same = equal[order[i], block]
            plus, minus = columns[0, i, block], columns[1, i, block]
            vertical = same | minus
            same |= falls
            horizontal = (((same & plus) + plus) ^ plus) | same
            up = minus | ~(horizontal | plus)
            down = plus & horizontal
            if block == top_block:
                last[i + 1] += np.int64((up >> top_bit) & ONE) - np.int64((down >> top_bit) & ONE)
            next_grows, next_falls = up >> TOP, down >> TOP
            up, down = (up << ONE) | grows, (down << ONE) | falls
            columns[0, i + 1, block] = down | ~(vertical | up)
            columns[1, i + 1, block] = up & vertical
            grows, falls = next_grows, next_falls
    return int(last[n])
