"""Levenshtein distance of a permuted hypothesis to a reference, 64 cells at a time (Myers 1999; Hyyrö 2003).

D(i, j) is the distance of the first i words of the hypothesis to the first j words of the reference. Row i of this
matrix is stored as two bit vectors, in which bit j - 1 is whether D(i, j) - D(i, j - 1) is +1 (`columns[0, i]`) or
-1 (`columns[1, i]`), and as its last cell D(i, m) (`last[i]`). All rows are kept, so that the distance of a permutation
is computed from the first position that it changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rerank_plugins.kit.kernels import allocating_part, part

ZERO, ONE, TOP = np.uint64(0), np.uint64(1), np.uint64(63)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@allocating_part
def compare_words(hypothesis: Any, reference: Any, equal: Any) -> int:
    """Set bit j of row i of `equal` where hypothesis word i is reference word j; return the distance of the word bags.

    That distance is the greater length less the number of words in common; no order of the words has a lower edit
    distance.
    """
    blocks = len(reference) // 64 + 1
    free = np.full(blocks, ALL, np.uint64)  # reference words that no hypothesis word has been matched with
    common = 0
    for i in range(len(hypothesis)):
        # Mark the reference words that hypothesis word i equals.
        equal[i, :blocks] = ZERO
        for j in range(len(reference)):
            if hypothesis[i] == reference[j]:
                equal[i, j >> 6] |= ONE << np.uint64(j & 63)
        # Match it with the first of them that is still free (x & -x is the lowest bit of x).
        for block in range(blocks):
            left = equal[i, block] & free[block]
            if left != ZERO:
                free[block] &= ~(left & (~left + ONE))
                common += 1
                break
    return max(len(hypothesis), len(reference)) - common


@part
def start_distance(columns: Any, last: Any, m: int) -> None:
    """Set row 0 for a reference of m words: D(0, j) = j."""
    columns[0, 0] = ALL
    columns[1, 0] = ZERO
    last[0] = m


@part
def continue_distance(order: Any, first: int, n: int, m: int, equal: Any, columns: Any, last: Any) -> int:
    """Compute rows first + 1 … n from row `first`, with word `order[i]` at position i; return the distance D(n, m).

    `m` is the number of reference words, `equal` the matches of `compare_words`. Names in brackets are Hyyrö's (2003).
    """
    top_block, top_bit = (m - 1) >> 6, np.uint64((m - 1) & 63)
    for i in range(first, n):
        carry_up, carry_down = ONE, ZERO  # the change in column 0: D(i + 1, 0) = D(i, 0) + 1
        last[i + 1] = last[i]
        for block in range(top_block + 1):
            # Row i: where it rises (Pv) and falls (Mv) from one cell to the next, and where words match (Eq).
            same = equal[order[i], block]
            plus, minus = columns[0, i, block], columns[1, i, block]
            # Xv = Eq | Mv; then a fall carried in from the block before acts as a match in the first cell.
            vertical = same | minus
            same |= carry_down
            # Xh: the addition propagates each match along the run of rises that follows it.
            horizontal = (((same & plus) + plus) ^ plus) | same
            # Ph, Mh: the cells in which row i + 1 is one above or one below row i.
            up = minus | ~(horizontal | plus)
            down = plus & horizontal
            # The last cell of the row follows from the change at bit m - 1.
            if block == top_block:
                last[i + 1] += np.int64((up >> top_bit) & ONE) - np.int64((down >> top_bit) & ONE)
            # Shift the changes by one cell, so that bit j has that of column j; the top bit goes to the next block.
            next_up, next_down = up >> TOP, down >> TOP
            up, down = (up << ONE) | carry_up, (down << ONE) | carry_down
            # Row i + 1: Pv = Mh | ~(Xv | Ph), Mv = Ph & Xv.
            columns[0, i + 1, block] = down | ~(vertical | up)
            columns[1, i + 1, block] = up & vertical
            carry_up, carry_down = next_up, next_down
    return int(last[n])
