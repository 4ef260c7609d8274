"""Tercom's greedy search for the fewest edits with shifts (Snover et al. 2006), the same as sacrebleu's `lib_ter`.

A shift moves a block of words that also occurs in the reference. As long as some shift lowers the edit distance, the
one that lowers it most is made; of equally good shifts, the one of the longest block, then the one from the earliest
position, then the one to the earliest position. The limits are sacrebleu's: blocks of up to 10 words, positions up to
50 apart, 1000 shifts tried in all, and an edit distance computed within 25 cells of the diagonal.

Three optimisations change no result. (1) A shift permutes the hypothesis, so words are compared only once, into bit
masks. (2) The distance after a shift is computed from the first word that moved, 64 cells at a time
(Myers 1999; Hyyrö 2003).
It equals the banded distance if distance + difference of lengths is at most 46: an alignment of n
words to m words with d edits leaves the diagonal by at most (d + |m - n|) / 2 ≤ 23 cells, plus one by rounding, so
every best alignment lies in the band; otherwise the band is computed. (3) No shift is tried once the distance is that
of the bags of words, which no shift can lower. Time is O(shifts tried × n × ⌈m / 64⌉).

Levenshtein distance of a permuted hypothesis to a reference, 64 cells at a time (Myers 1999; Hyyrö 2003).

D(i, j) is the distance of the first i words of the hypothesis to the first j words of the reference. Row i of this
matrix is stored as two bit vectors, in which bit j - 1 is whether D(i, j) - D(i, j - 1) is +1 (`columns[0, i]`) or
-1 (`columns[1, i]`), and as its last cell D(i, m) (`last[i]`). All rows are kept, so that the distance of a permutation
is computed from the first position that it changes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.kit.kernels import allocating_part, part

ZERO, ONE, TOP = np.uint64(0), np.uint64(1), np.uint64(63)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
MOST_WORDS = 10  # of a block
FARTHEST = 50  # positions between a block and its copy in the reference
MOST_TRIALS = 1000
BAND = 25
CERTAIN = 2 * (BAND - 2)  # up to this distance + difference of lengths, the band holds every best alignment
NONE, SUBSTITUTION, INSERTION, DELETION = range(4)
FAR = 1 << 29  # the cost of a cell outside the band


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


@njit(cache=True, nogil=True)
def count_edits(tokens: Any, starts: Any, pairs: Any, edits: Any) -> None:
    """Compute `edits[k]`, the edits, shifts included, that turn sequence `pairs[k, 0]` into sequence `pairs[k, 1]`."""
    # Allocate all matrices once, for the longest hypothesis and the longest reference.
    n_most, m_most = 0, 0
    for k in range(len(pairs)):
        n_most = max(n_most, starts[pairs[k, 0] + 1] - starts[pairs[k, 0]])
        m_most = max(m_most, starts[pairs[k, 1] + 1] - starts[pairs[k, 1]])
    order, best = np.empty(n_most, np.int64), np.empty(n_most, np.int64)  # word of the hypothesis at each position
    blocks = m_most // 64 + 1
    equal = np.empty((n_most, blocks), np.uint64)
    columns = np.empty((2, 2, n_most + 1, blocks), np.uint64)
    last = np.empty((2, n_most + 1), np.int64)
    cost = np.empty((n_most + 1, m_most + 1), np.int32)
    operation = np.empty((n_most + 1, m_most + 1), np.int8)
    for k in range(len(pairs)):
        hypothesis = tokens[starts[pairs[k, 0]] : starts[pairs[k, 0] + 1]]
        reference = tokens[starts[pairs[k, 1]] : starts[pairs[k, 1] + 1]]
        n, m = len(hypothesis), len(reference)
        if m == 0:
            edits[k] = n
            continue
        # Compare the words once; every order of the hypothesis is a permutation of the rows of `equal`.
        bags = compare_words(hypothesis, reference, equal)
        for i in range(n):
            order[i] = i
        # Make the best shift until none lowers the distance, the trials are used up, or the lower bound is reached.
        shifts, trials = 0, 0
        while True:
            fill_band(order, n, m, equal, cost, operation)
            if cost[n, m] == bags:
                break
            gain, trials = find_shift(order, n, m, bags, equal, cost, operation, columns, last, best, trials)
            if trials >= MOST_TRIALS or gain <= 0:
                break
            for i in range(n):
                order[i] = best[i]
            shifts += 1
        # Each shift counts as one edit.
        edits[k] = shifts + cost[n, m]


@allocating_part
def find_shift(
    order: Any,
    n: int,
    m: int,
    bags: int,
    equal: Any,
    cost: Any,
    operation: Any,
    columns: Any,
    last: Any,
    best: Any,
    trials: int,
) -> tuple[int, int]:
    """The gain of the best shift, whose order is written to `best`, and the number of shifts tried so far.

    The gain is the edit distance before the shift less that after it. `bags` is the lower bound of the distance. The
    search ends early when all trials are used up.
    """
    # Align the current order with the reference, and compute the rows from which trial distances will continue.
    aligned, hypothesis_wrong, reference_wrong = align(operation, n, m)
    start_distance(columns[0], last[0], m)
    continue_distance(order, 0, n, m, equal, columns[0], last[0])
    trial = np.empty(n, np.int64)
    before = cost[n, m]
    best_gain, best_length, best_start, best_target = -FAR, 0, 0, 0
    for start in range(n):
        for place in range(max(0, start - FARTHEST), min(m, start + FARTHEST + 1)):
            # Extend the block of hypothesis words from `start` as long as it equals the reference from index `place`
            # on.
            hypothesis_errors, reference_errors = 0, 0
            for length in range(1, min(MOST_WORDS, n - start, m - place) + 1):
                i, j = start + length - 1, place + length - 1
                if not (equal[order[i], j >> 6] >> np.uint64(j & 63)) & np.uint64(1):
                    break
                hypothesis_errors += hypothesis_wrong[i]
                reference_errors += reference_wrong[j]
                # Skip a block without a wrong word, in itself or in its copy, and one already aligned with its copy.
                if hypothesis_errors == 0 or reference_errors == 0 or start <= aligned[place] < start + length:
                    continue
                # Try each distinct target: the position after the alignment of the reference word before the copy,
                # and after that of each word of the copy.
                previous = -1
                for j in range(place - 1, place + length):
                    target = aligned[j] + 1 if j >= 0 else 0
                    if target == previous:
                        continue
                    previous = target
                    trials += 1
                    # Of equal gains the longest block is preferred, then the earliest start, then the earliest target.
                    preferred = length > best_length or (
                        length == best_length and (start, target) < (best_start, best_target)
                    )
                    if best_gain == before - bags and not preferred:
                        continue  # no gain can exceed that of the best shift so far
                    # Compute the distance of the shifted order from the first position that changed.
                    first = shift(order, n, start, length, target, trial)
                    gain = before - distance(trial, first, n, m, equal, cost, columns, last)
                    if gain > best_gain or (gain == best_gain and preferred):
                        best_gain, best_length, best_start, best_target = gain, length, start, target
                        for i in range(n):
                            best[i] = trial[i]
                if trials >= MOST_TRIALS:
                    return best_gain, trials
    return best_gain, trials


@part
def shift(order: Any, n: int, start: int, length: int, target: int, shifted: Any) -> int:
    """Write `order` to `shifted` with `length` words from `start` moved to before position `target`.

    Returns the first position that may differ. A target within the block or at its end moves the block on by
    `target - start` words, as in sacrebleu.
    """
    if target >= start:
        end = target if target > start + length else min(target + length, n)
        first, middle = start, start + length  # the block is swapped with the words from `middle` to `end`
    else:
        first, middle, end = target, start, start + length
    # Positions from `first` to `end` receive [middle, end) and then [first, middle); all others are unchanged.
    for i in range(n):
        shifted[i] = order[i]
    for i in range(middle, end):
        shifted[first + i - middle] = order[i]
    for i in range(first, middle):
        shifted[i + end - middle] = order[i]
    return first


@allocating_part
def distance(order: Any, first: int, n: int, m: int, equal: Any, cost: Any, columns: Any, last: Any) -> int:
    """The banded edit distance of `order`, which before position `first` is the order that `cost` was computed for."""
    # Continue the bit-parallel rows from the last one that is the same in both orders.
    for block in range(columns.shape[3]):
        columns[1, 0, first, block] = columns[0, 0, first, block]
        columns[1, 1, first, block] = columns[0, 1, first, block]
    last[1, first] = last[0, first]
    exact = continue_distance(order, first, n, m, equal, columns[1], last[1])
    # Every best alignment is within the band: the exact distance is the banded one.
    if exact + abs(m - n) <= CERTAIN:
        return exact
    # Otherwise compute the banded rows from row `first` on: D(i, j) is the least of D(i - 1, j - 1) + [words differ],
    # D(i - 1, j) + 1 and D(i, j - 1) + 1.
    row = np.empty(m + 1, np.int64)
    for j in range(m + 1):
        row[j] = cost[first, j]
    for i in range(first + 1, n + 1):
        low, high = band(i, n, m)
        diagonal = row[low - 1] if low > 0 else 0
        for j in range(m + 1):
            above = row[j]
            if j < low or j >= high:
                row[j] = FAR
            elif j == 0:
                row[0] = above + 1
            else:
                same = (equal[order[i - 1], (j - 1) >> 6] >> np.uint64((j - 1) & 63)) & np.uint64(1)
                row[j] = min(diagonal + (0 if same else 1), above + 1, row[j - 1] + 1, FAR)
            diagonal = above
    return int(row[m])


@part
def band(i: int, n: int, m: int) -> tuple[int, int]:
    """The first cell of row i that is computed, and the one after the last, as in sacrebleu."""
    ratio = m / n
    width = math.ceil(ratio / 2 + BAND) if ratio / 2 > BAND else BAND
    diagonal = math.floor(i * ratio)
    return max(0, diagonal - width), m + 1 if i == n else min(m + 1, diagonal + width)


@part
def fill_band(order: Any, n: int, m: int, equal: Any, cost: Any, operation: Any) -> None:
    """Fill the band of `cost[i, j]`, of turning i hypothesis words into j reference words, and of the last operation.

    Of operations of equal cost, substitution or none is preferred, then deletion, then insertion.
    """
    # Row 0: insert the first j words of the reference.
    for j in range(m + 1):
        cost[0, j] = j
        operation[0, j] = INSERTION
    for i in range(1, n + 1):
        # Cells outside the band can never be reached.
        low, high = band(i, n, m)
        for j in range(m + 1):
            cost[i, j] = FAR
        if low == 0:
            cost[i, 0] = cost[i - 1, 0] + 1
            operation[i, 0] = DELETION
        # cost[i, j] = min(cost[i - 1, j - 1] + [words differ], cost[i - 1, j] + 1, cost[i, j - 1] + 1)
        for j in range(max(1, low), high):
            same = (equal[order[i - 1], (j - 1) >> 6] >> np.uint64((j - 1) & 63)) & np.uint64(1)
            least, chosen = (cost[i - 1, j - 1], NONE) if same else (cost[i - 1, j - 1] + 1, SUBSTITUTION)
            if cost[i - 1, j] + 1 < least:
                least, chosen = cost[i - 1, j] + 1, DELETION
            if cost[i, j - 1] + 1 < least:
                least, chosen = cost[i, j - 1] + 1, INSERTION
            cost[i, j] = min(least, FAR)
            operation[i, j] = chosen


@allocating_part
def align(operation: Any, n: int, m: int) -> tuple[Any, Any, Any]:
    """(m) the last hypothesis word aligned up to each reference word (-1: none); (n), (m) which words are wrong."""
    aligned = np.empty(m, np.int64)
    hypothesis_wrong, reference_wrong = np.zeros(n, np.int64), np.zeros(m, np.int64)
    # Walk back from the last cell along the operations: deletions consume a hypothesis word, insertions a reference
    # word, substitutions and matches one of each; all but the words of matches are wrong.
    i, j = n, m
    while i > 0 or j > 0:
        last = operation[i, j]
        if last == DELETION:
            i -= 1
            hypothesis_wrong[i] = 1
            continue
        j -= 1
        aligned[j] = i - 1
        reference_wrong[j] = last != NONE
        if last != INSERTION:
            i -= 1
            hypothesis_wrong[i] = last != NONE
    return aligned, hypothesis_wrong, reference_wrong
