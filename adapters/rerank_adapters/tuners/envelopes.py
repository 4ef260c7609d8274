"""Upper envelopes of the lines score + t * slope, one envelope per n-best list: the kernel of MERT's line search.

Along a direction each hypothesis is a line in t; the hypotheses that can be 1-best are those on the upper envelope of
their list (Och 2003; Macherey et al. 2008). The usual way sorts all lines by slope. Here instead, per list:

1. Find the lines on top at `low`, at 0 and at `high`: plain reductions, several rows an instruction.
2. As points (slope, score), lines of the envelope lie on or above the two chords between those three
   (Akl & Toussaint 1978): the few that do are copied together.
3. From the line on top at `low`, go to the line that crosses it first, and so on until `high` (Jarvis's march).

O(n + k h) for a list of n hypotheses, k of them kept and h on the envelope: of 100, typically 15 and 5.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from rerank_plugins.arrays import FloatArray, LongArray

# A line this far below a chord, relative to the chord's height, may still be an end of it, rounded.
ROUNDING = 1e-9


def upper_envelopes(
    scores: FloatArray, slopes: FloatArray, offsets: LongArray, low: float, high: float
) -> tuple[LongArray, FloatArray, LongArray, LongArray]:
    """The 1-bests of all lists as t goes from `low` to `high`, both finite.

    `scores`, `slopes` (rows), finite; rows of list s are `offsets[s]:offsets[s+1]`, at least one each.
    Returns `first` (lists), the row on top just above `low`, and for each change of a 1-best, by lists and ascending in
    t within each: `at`, the t where it happens, `before` and `after`, the rows that are on top on either side of it.
    Among hypotheses of equal slope and score the earliest stands for all.
    """
    rows = len(scores)
    first = np.empty(len(offsets) - 1, np.int64)
    at, before, after = np.empty(rows), np.empty(rows, np.int64), np.empty(rows, np.int64)
    changes = _envelopes(scores, slopes, offsets, low, high, first, at, before, after)
    return first, at[:changes], before[:changes], after[:changes]


# The flags let reductions run several rows at a time: there are no nans, and -0 may stand for 0.
@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"}, error_model="numpy")
def _envelopes(scores, slopes, offsets, low, high, first, at, before, after):  # type: ignore[no-untyped-def]
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    a, b, rows = np.empty(longest), np.empty(longest), np.empty(longest, np.int64)
    changes = 0
    for s in range(len(offsets) - 1):
        begin, end = offsets[s], offsets[s + 1]
        slope, score = slopes[begin:end], scores[begin:end]
        kept = _between_chords(slope, score, low, high, a, b, rows)
        current = 0
        for i in range(1, kept):
            x, y = b[i] + low * a[i], b[current] + low * a[current]
            if x > y or (x == y and a[i] > a[current]):
                current = i
        first[s] = begin + rows[current]
        while True:
            crossing = high
            for i in range(kept):
                steeper = a[i] - a[current]
                crossing = min(crossing, (b[current] - b[i]) / steeper if steeper > 0.0 else high)
            if crossing >= high:
                break
            following = -1
            for i in range(kept):
                steeper = a[i] - a[current]
                meets = steeper > 0.0 and (b[current] - b[i]) / steeper == crossing
                if meets and (following < 0 or a[i] > a[following]):
                    following = i
            if crossing <= low:  # they met at `low`, but for rounding
                first[s] = begin + rows[following]
            else:
                at[changes] = crossing
                before[changes] = begin + rows[current]
                after[changes] = begin + rows[following]
                changes += 1
            current = following
    return changes


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"}, error_model="numpy")
def _between_chords(slope, score, low, high, a, b, rows):  # type: ignore[no-untyped-def]
    """Copy to `a`, `b`, `rows` slopes, scores and positions of the lines that may be on top from low to high."""
    at_low = at_zero = at_high = -np.inf
    for i in range(len(slope)):
        at_low = max(at_low, score[i] + low * slope[i])
        at_zero = max(at_zero, score[i])
        at_high = max(at_high, score[i] + high * slope[i])
    left = middle = -np.inf
    right = np.inf
    for i in range(len(slope)):
        left = max(left, slope[i] if score[i] + low * slope[i] == at_low else -np.inf)
        middle = max(middle, slope[i] if score[i] == at_zero else -np.inf)
        right = min(right, slope[i] if score[i] + high * slope[i] == at_high else np.inf)
    left_score, right_score = at_low - low * left, at_high - high * right
    rise_left = (at_zero - left_score) / (middle - left) if middle > left else 0.0
    rise_right = (right_score - at_zero) / (right - middle) if right > middle else 0.0
    slack = ROUNDING * (2.0 * at_zero - left_score - right_score)
    kept = 0
    for i in range(len(slope)):
        run = slope[i] - middle
        chord = at_zero + (rise_left if run < 0.0 else rise_right) * run
        a[kept], b[kept], rows[kept] = slope[i], score[i], i
        kept += (slope[i] >= left) & (slope[i] <= right) & (score[i] >= chord - slack)
    return kept
