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
matrix is stored as two bit vectors, in which bit j - 1 is whether D(i, j) - D(i, j - 1) is +1 (`rises[i]`) or -1
(`falls[i]`), and as its last cell D(i, m) (`last[i]`). All rows are kept, so that the distance of a permutation is
computed from the first position that it changes.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel, part

ZERO, ONE, TOP = np.uint64(0), np.uint64(1), np.uint64(63)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
MOST_WORDS = 10  # of a block
FARTHEST = 50  # positions between a block and its copy in the reference
MOST_TRIALS = 1000
BAND = 25
CERTAIN = 2 * (BAND - 2)  # up to this distance + difference of lengths, the band holds every best alignment
NONE, SUBSTITUTION, INSERTION, DELETION = range(4)
FAR = 1 << 29  # the cost of a cell outside the band
CURRENT, TRIAL = range(2)  # the order of the hypothesis, and the one that a shift would make of it
PLACE_BITS = 24  # of a position in the number of a shift
PLACE = (1 << PLACE_BITS) - 1
WORST = 1 << 62  # greater than the number of any shift


class Work(NamedTuple):
    """The pairs, and room for hypotheses of n words and references of m, which are b = ⌊m / 64⌋ + 1 blocks."""

    # Sequence s is tokens[starts[s]:starts[s + 1]]; edits[k] are those of the sequences pairs[k].
    tokens: IntArray
    starts: LongArray
    pairs: LongArray
    edits: LongArray
    # What `compare_words` fills in, (n, b), and the reference words that no hypothesis word has been matched with.
    equal: NDArray[np.uint64]
    free: NDArray[np.uint64]
    # Of CURRENT and TRIAL: (2, n) the word at each position, and the rows 0 … n of D, all cells or those of the band.
    orders: LongArray
    rises: NDArray[np.uint64]
    falls: NDArray[np.uint64]
    last: LongArray
    cost: IntArray  # (2, n + 1, m + 1)
    operation: NDArray[np.int8]  # the last one of those that `cost` counts
    trials: LongArray  # the numbers of the shifts tried, see `list_trials`
    # What `align` fills in: (m) the last hypothesis word aligned up to each reference word; (n), (m) the wrong words.
    aligned: LongArray
    hypothesis_wrong: NDArray[np.int8]
    reference_wrong: NDArray[np.int8]


def count_edits(tokens: IntArray, starts: LongArray, pairs: LongArray, edits: LongArray) -> None:
    """Compute `edits[k]`, the edits, shifts included, that turn sequence `pairs[k, 0]` into sequence `pairs[k, 1]`."""
    # All pairs use the same room, that of the longest hypothesis and the longest reference.
    n, m = np.diff(starts)[pairs].max(axis=0, initial=0).tolist()
    blocks = m // 64 + 1
    rises, falls = np.empty((2, 2, n + 1, blocks), np.uint64)
    cost, operation = np.empty((2, n + 1, m + 1), np.int32), np.empty((2, n + 1, m + 1), np.int8)
    # Row 0, the same for all: D(0, j) = j, by inserting the first j words of the reference.
    rises[CURRENT, 0], falls[CURRENT, 0] = ALL, ZERO
    cost[CURRENT, 0], operation[CURRENT, 0] = np.arange(m + 1), INSERTION
    work = Work(
        tokens, starts, pairs, edits, np.empty((n, blocks), np.uint64), np.empty(blocks, np.uint64),
        np.empty((2, n), np.int64), rises, falls, np.empty((2, n + 1), np.int64), cost, operation,
        np.empty(MOST_TRIALS + MOST_WORDS + 1, np.int64), np.empty(m, np.int64),
        np.empty(n, np.int8), np.empty(m, np.int8),
    )  # fmt: skip
    search_shifts(work)


@filling_kernel
def search_shifts(work: Work) -> None:
    """Compute `edits`."""
    starts, pairs, trials, orders = work.starts, work.pairs, work.trials, work.orders
    for k in range(len(pairs)):
        hypothesis, reference = starts[pairs[k, 0]], starts[pairs[k, 1]]
        n, m = starts[pairs[k, 0] + 1] - hypothesis, starts[pairs[k, 1] + 1] - reference
        if n == 0 or m == 0:
            work.edits[k] = n + m
            continue
        # Compare the words once; every order of the hypothesis is a permutation of the rows of `equal`.
        bags = compare_words(work, hypothesis, n, reference, m)
        for i in range(n):
            orders[CURRENT, i] = i
        work.last[CURRENT, 0] = m
        # Make the best shift until none lowers the distance, the trials are used up, or the lower bound is reached.
        shifts, tried = 0, 0
        while True:
            before = fill_band(work, CURRENT, 0, n, m)
            if before == bags:
                break
            align(work, n, m)
            next_trial, tried = tried, list_trials(work, n, m, tried)
            if tried >= MOST_TRIALS:
                break
            # Compute the distance after each shift, from the first position that it changes.
            continue_distance(work, CURRENT, 0, n, m)
            best, least = WORST, before
            for t in range(next_trial, tried):
                if least == bags and trials[t] >= best:
                    continue  # no distance can be below the least one so far
                first = shift(work, trials[t], n)
                distance = continue_distance(work, TRIAL, first, n, m)
                if distance + abs(m - n) > CERTAIN:  # some best alignment may leave the band
                    distance = fill_band(work, TRIAL, first, n, m)
                if distance < least or (distance == least and trials[t] < best):
                    best, least = trials[t], distance
            if least == before:
                break
            for i in range(shift(work, best, n), n):
                orders[CURRENT, i] = orders[TRIAL, i]
            shifts += 1
        # Each shift counts as one edit.
        work.edits[k] = shifts + before


@part
def compare_words(work: Work, hypothesis: int, n: int, reference: int, m: int) -> int:
    """Set bit j of row i of `equal` where hypothesis word i is reference word j; return the distance of the word bags.

    The n and m words are those in `tokens` from `hypothesis` and `reference` on. That distance is the greater length
    less the number of words in common; no order of the words has a lower edit distance.
    """
    tokens, equal, free = work.tokens, work.equal, work.free
    blocks = (m >> 6) + 1
    for block in range(blocks):
        free[block] = ALL
    common = 0
    for i in range(n):
        # Mark the reference words that hypothesis word i equals.
        for block in range(blocks):
            equal[i, block] = ZERO
        for j in range(m):
            if tokens[hypothesis + i] == tokens[reference + j]:
                equal[i, j >> 6] |= ONE << np.uint64(j & 63)
        # Match it with the first of them that is still free (x & -x is the lowest bit of x).
        for block in range(blocks):
            left = equal[i, block] & free[block]
            if left != ZERO:
                free[block] &= ~(left & (~left + ONE))
                common += 1
                break
    return (n if n > m else m) - common


@part
def continue_distance(work: Work, which: int, first: int, n: int, m: int) -> Any:
    """Compute rows first + 1 … n of an order from row `first` of the current one; return the distance D(n, m).

    Names in brackets are Hyyrö's (2003).
    """
    equal, order = work.equal, work.orders[which]
    rises, falls, last = work.rises[which], work.falls[which], work.last[which]
    top_block, top_bit = (m - 1) >> 6, np.uint64((m - 1) & 63)
    for block in range(top_block + 1):
        rises[first, block], falls[first, block] = work.rises[CURRENT, first, block], work.falls[CURRENT, first, block]
    last[first] = work.last[CURRENT, first]
    for i in range(first, n):
        carry_up, carry_down = ONE, ZERO  # the change in column 0: D(i + 1, 0) = D(i, 0) + 1
        last[i + 1] = last[i]
        for block in range(top_block + 1):
            # Row i: where it rises (Pv) and falls (Mv) from one cell to the next, and where words match (Eq).
            same = equal[order[i], block]
            plus, minus = rises[i, block], falls[i, block]
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
            rises[i + 1, block] = down | ~(vertical | up)
            falls[i + 1, block] = up & vertical
            carry_up, carry_down = next_up, next_down
    return last[n]


@part
def list_trials(work: Work, n: int, m: int, tried: int) -> int:
    """List the shifts of the current order to be tried; return the number of shifts in `trials`, `tried` of them old.

    The list ends early when all trials are used up. Of equally good shifts, the one with the least number is preferred:
    the one of the longest block, then the one from the earliest position, then the one to the earliest position.
    """
    equal, order, aligned, trials = work.equal, work.orders[CURRENT], work.aligned, work.trials
    for start in range(n):
        lowest = start - FARTHEST if start > FARTHEST else 0
        highest = start + FARTHEST if start + FARTHEST < m else m - 1
        for place in range(lowest, highest + 1):
            # Extend the block of hypothesis words from `start` as long as it equals the reference from index `place`
            # on.
            hypothesis_errors, reference_errors, length = 0, 0, 0
            while length < MOST_WORDS and start + length < n and place + length < m:
                i, j = start + length, place + length
                if not (equal[order[i], j >> 6] >> np.uint64(j & 63)) & ONE:
                    break
                length += 1
                hypothesis_errors += work.hypothesis_wrong[i]
                reference_errors += work.reference_wrong[j]
                # Skip a block without a wrong word, in itself or in its copy, and one already aligned with its copy.
                if hypothesis_errors == 0 or reference_errors == 0 or start <= aligned[place] < start + length:
                    continue
                # Try each distinct target: the position after the alignment of the reference word before the copy,
                # and after that of each word of the copy.
                previous = -1
                for word in range(place - 1, place + length):
                    target = aligned[word] + 1 if word >= 0 else 0
                    if target != previous:
                        trials[tried] = ((MOST_WORDS - length) << PLACE_BITS | start) << PLACE_BITS | target
                        previous = target
                        tried += 1
                if tried >= MOST_TRIALS:
                    return tried
    return tried


@part
def shift(work: Work, trial: int, n: int) -> int:
    """Make the trial order: the current one with a block of words moved to before the target.

    Returns the first position that may differ, from which on the trial order is written. A target within the block or
    at its end moves the block on by `target - start` words, as in sacrebleu.
    """
    order, shifted = work.orders[CURRENT], work.orders[TRIAL]
    start, target = trial >> PLACE_BITS & PLACE, trial & PLACE
    after = start + MOST_WORDS - (trial >> 2 * PLACE_BITS)
    first, middle, end = target, start, after
    if target >= start:
        first, middle, end = start, after, target if target > after else target + after - start
        end = end if end < n else n
    # The words from `middle` to `end` come first, then those from `first` to `middle`.
    for i in range(first, end):
        moved = i + middle - first
        shifted[i] = order[moved if moved < end else moved - (end - first)]
    for i in range(end, n):
        shifted[i] = order[i]
    return first


@partial(part, error_model="numpy")
def fill_band(work: Work, which: int, first: int, n: int, m: int) -> Any:
    """Fill the band of `cost[i, j]`, of turning i words of an order into j reference words, and of the last operation.

    Rows up to `first` are those of the current order. Of operations of equal cost, substitution or none is preferred,
    then deletion, then insertion. The first cell of row i that is computed, and the one after the last, are as in
    sacrebleu. Returns the distance, which is the last cell.
    """
    equal, order = work.equal, work.orders[which]
    ratio = m / n
    width = math.ceil(ratio / 2 + BAND) if ratio / 2 > BAND else BAND
    for j in range(m + 1):
        work.cost[which, first, j] = work.cost[CURRENT, first, j]
    for i in range(first + 1, n + 1):
        above, cost, operation = work.cost[which, i - 1], work.cost[which, i], work.operation[which, i]
        diagonal = math.floor(i * ratio)
        low = diagonal - width if diagonal > width else 0
        high = diagonal + width if i < n and diagonal + width <= m else m + 1
        # Cells outside the band can never be reached.
        for j in range(m + 1):
            cost[j] = FAR
        if low == 0:
            cost[0], operation[0] = above[0] + 1, DELETION
            low = 1
        # cost[i, j] = min(cost[i - 1, j - 1] + [words differ], cost[i - 1, j] + 1, cost[i, j - 1] + 1)
        for j in range(low, high):
            least, chosen = above[j - 1], NONE
            if not (equal[order[i - 1], (j - 1) >> 6] >> np.uint64((j - 1) & 63)) & ONE:
                least, chosen = least + 1, SUBSTITUTION
            if above[j] + 1 < least:
                least, chosen = above[j] + 1, DELETION
            if cost[j - 1] + 1 < least:
                least, chosen = cost[j - 1] + 1, INSERTION
            cost[j], operation[j] = least if least < FAR else FAR, chosen
    return work.cost[which, n, m]


@part
def align(work: Work, n: int, m: int) -> None:
    """Fill in which words the current order aligns (-1: none), and which words are wrong.

    The walk goes back from the last cell along the operations: deletions consume a hypothesis word, insertions a
    reference word, substitutions and matches one of each; all but the words of matches are wrong.
    """
    i, j = n, m
    while i > 0 or j > 0:
        last = work.operation[CURRENT, i, j]
        if last != DELETION:
            j -= 1
            work.aligned[j], work.reference_wrong[j] = i - 1, last != NONE
        if last != INSERTION:
            i -= 1
            work.hypothesis_wrong[i] = last != NONE
