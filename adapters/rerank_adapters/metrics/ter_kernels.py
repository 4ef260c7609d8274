"""Tercom's greedy search for the fewest edits with shifts (Snover et al. 2006), as sacrebleu's `lib_ter` does it.

While some shift of a block of words that also stands in the reference lowers the edit distance, the one that lowers
it most is made; of equally good ones that of the longest block, then from the earliest place, then to the earliest.
The limits are sacrebleu's: blocks of up to 10 words, places up to 50 apart, 1000 shifts tried in all, and an edit
distance within 25 cells of the diagonal.

What makes it fast changes no result. A shift permutes the hypothesis, so words are compared once, into bit masks.
The distance after a shift is computed from the first word that moved, 64 cells at a time (`bit_distance.py`). That is
the banded distance too if distance + difference of lengths is at most 46: an alignment with d edits of n words to m
strays from the diagonal by at most (d + |m - n|) / 2 ≤ 23 cells and one more by rounding, so every best one lies in the
band; else the band is computed. And none is tried once the distance is that of the bags of words, for no shift
can lower that. Time is O(shifts tried × n × ⌈m / 64⌉).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from rerank_adapters.metrics.bit_distance import compare_words, continue_distance, start_distance

MOST_WORDS = 10
FARTHEST = 50
MOST_TRIALS = 1000
BAND = 25
CERTAIN = 2 * (BAND - 2)
NONE, SUBSTITUTION, INSERTION, DELETION = range(4)
FAR = 1 << 29


@njit(cache=True, nogil=True)
def count_edits(tokens: Any, starts: Any, pairs: Any, edits: Any) -> None:
    """`edits[k]` = edits, shifts among them, that make sequence `pairs[k, 1]` of sequence `pairs[k, 0]`."""
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
        bags = compare_words(hypothesis, reference, equal)
        for i in range(n):
            order[i] = i
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
        edits[k] = shifts + cost[n, m]


@njit(cache=True, nogil=True)
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
    """The gain of the best shift (its order in `best`), and the number of shifts tried so far.

    `bags` bounds the distance from below; with all trials used up, the search is cut short.
    """
    aligned, hypothesis_wrong, reference_wrong = align(operation, n, m)
    start_distance(columns[0], last[0], m)
    continue_distance(order, 0, n, m, equal, columns[0], last[0])
    trial = np.empty(n, np.int64)
    before = cost[n, m]
    best_gain, best_length, best_start, best_target = -FAR, 0, 0, 0
    for start in range(n):
        for place in range(max(0, start - FARTHEST), min(m, start + FARTHEST + 1)):
            hypothesis_errors, reference_errors = 0, 0
            for length in range(1, min(MOST_WORDS, n - start, m - place) + 1):
                i, j = start + length - 1, place + length - 1
                if not (equal[order[i], j >> 6] >> np.uint64(j & 63)) & np.uint64(1):
                    break
                hypothesis_errors += hypothesis_wrong[i]
                reference_errors += reference_wrong[j]
                if hypothesis_errors == 0 or reference_errors == 0 or start <= aligned[place] < start + length:
                    continue
                previous = -1
                for j in range(place - 1, place + length):
                    target = aligned[j] + 1 if j >= 0 else 0
                    if target == previous:
                        continue
                    previous = target
                    trials += 1
                    preferred = length > best_length or (
                        length == best_length and (start, target) < (best_start, best_target)
                    )
                    if best_gain == before - bags and not preferred:
                        continue  # it could gain no more
                    first = shift(order, n, start, length, target, trial)
                    gain = before - distance(trial, first, n, m, equal, cost, columns, last)
                    if gain > best_gain or (gain == best_gain and preferred):
                        best_gain, best_length, best_start, best_target = gain, length, start, target
                        for i in range(n):
                            best[i] = trial[i]
                if trials >= MOST_TRIALS:
                    return best_gain, trials
    return best_gain, trials


@njit(cache=True, nogil=True)
def shift(order: Any, n: int, start: int, length: int, target: int, shifted: Any) -> int:
    """`order` with `length` words from `start` moved before position `target`; the first position that may differ.

    A target within the block, or at its end, means as many words further on (as in sacrebleu).
    """
    if target >= start:
        end = target if target > start + length else min(target + length, n)
        first, middle = start, start + length  # the words from `middle` to `end` change places with the block
    else:
        first, middle, end = target, start, start + length
    for i in range(n):
        shifted[i] = order[i]
    for i in range(middle, end):
        shifted[first + i - middle] = order[i]
    for i in range(first, middle):
        shifted[i + end - middle] = order[i]
    return first


@njit(cache=True, nogil=True)
def distance(order: Any, first: int, n: int, m: int, equal: Any, cost: Any, columns: Any, last: Any) -> int:
    """The banded edit distance of an order that equals, before position `first`, the one that `cost` is of."""
    for block in range(columns.shape[3]):
        columns[1, 0, first, block] = columns[0, 0, first, block]
        columns[1, 1, first, block] = columns[0, 1, first, block]
    last[1, first] = last[0, first]
    exact = continue_distance(order, first, n, m, equal, columns[1], last[1])
    if exact + abs(m - n) <= CERTAIN:
        return exact
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


@njit(cache=True, nogil=True)
def band(i: int, n: int, m: int) -> tuple[int, int]:
    """The cells of row i that are computed: from the first up to, and without, the second."""
    ratio = m / n
    width = math.ceil(ratio / 2 + BAND) if ratio / 2 > BAND else BAND
    diagonal = math.floor(i * ratio)
    return max(0, diagonal - width), m + 1 if i == n else min(m + 1, diagonal + width)


@njit(cache=True, nogil=True)
def fill_band(order: Any, n: int, m: int, equal: Any, cost: Any, operation: Any) -> None:
    """The banded matrix: `cost[i, j]` of making j words of the reference of i words, and the last operation.

    Of equally dear operations: substitution or none, then deletion, then insertion.
    """
    for j in range(m + 1):
        cost[0, j] = j
        operation[0, j] = INSERTION
    for i in range(1, n + 1):
        low, high = band(i, n, m)
        for j in range(m + 1):
            cost[i, j] = FAR
        if low == 0:
            cost[i, 0] = cost[i - 1, 0] + 1
            operation[i, 0] = DELETION
        for j in range(max(1, low), high):
            same = (equal[order[i - 1], (j - 1) >> 6] >> np.uint64((j - 1) & 63)) & np.uint64(1)
            least, chosen = (cost[i - 1, j - 1], NONE) if same else (cost[i - 1, j - 1] + 1, SUBSTITUTION)
            if cost[i - 1, j] + 1 < least:
                least, chosen = cost[i - 1, j] + 1, DELETION
            if cost[i, j - 1] + 1 < least:
                least, chosen = cost[i, j - 1] + 1, INSERTION
            cost[i, j] = min(least, FAR)
            operation[i, j] = chosen


@njit(cache=True, nogil=True)
def align(operation: Any, n: int, m: int) -> tuple[Any, Any, Any]:
    """For each reference word the last hypothesis word aligned up to it (-1: none), and which words are wrong."""
    aligned = np.empty(m, np.int64)
    hypothesis_wrong, reference_wrong = np.zeros(n, np.int64), np.zeros(m, np.int64)
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
