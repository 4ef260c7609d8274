"""Exact line search over a corpus metric (Och 2003): finds the t whose 1-bests by scores + t * slopes score best.

The metric is constant between two changes of any list's 1-best. All changes are sorted, the differences that they make
in the statistics are cumulated, and the metric is computed for all intervals in one call. It can be any additive
metric, to be maximised or minimised.

Of the intervals with the best score the widest wins, and t is its middle, since weights at the edge of an
interval would change their 1-bests with the next rounding. For the same reason, changes that are closer together than
NARROW times the whole range count as one.

Upper envelopes of the lines score + t * slope, one envelope per n-best list: the kernel of MERT's line search.

Along a direction each hypothesis is a line in t, and the hypotheses that can be 1-best are those on the upper envelope
of their list (Och 2003; Macherey et al. 2008). The usual algorithm sorts all lines by slope. The one used here has
three steps for each list:

1. Find the highest lines at `low`, at 0 and at `high` by plain reductions, which process several rows per instruction.
2. Seen as points (slope, score), all lines of the envelope lie on or above the two chords between those three points
   (Akl & Toussaint 1978). Copy the few lines that do to contiguous arrays.
3. From the highest line at `low`, go to the line that crosses it first, and so on up to `high` (Jarvis's march).

The time is O(n + k h) for a list of n hypotheses, of which k are kept and h are on the envelope; for n = 100, k is
typically 15 and h is 5.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import FloatArray, Metric
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.kit.kernels import kernel, part

# A line that is lower than a chord by this part of the chord's height may still be an end of it, but for rounding.
ROUNDING = 1e-9
NARROW = 1e-9


def upper_envelopes(
    scores: FloatArray, slopes: FloatArray, offsets: LongArray, low: float, high: float
) -> tuple[LongArray, FloatArray, LongArray, LongArray]:
    """The 1-bests of all lists by scores + t * slopes as t goes from `low` to `high`, both finite.

    `scores` and `slopes` (rows) are finite; the rows of list s are `offsets[s]:offsets[s+1]`, at least one each.
    Returns `first` (lists), the row that is 1-best just above `low`, and for each change of a 1-best, ordered by list
    and then by t: `at`, the t at which it happens, and `before` and `after`, the rows that are 1-best on either side.
    Of hypotheses with equal slope and score the earliest represents all.
    """
    rows = len(scores)
    first = np.empty(len(offsets) - 1, np.int64)
    at, before, after = np.empty(rows), np.empty(rows, np.int64), np.empty(rows, np.int64)
    scores, slopes = np.ascontiguousarray(scores), np.ascontiguousarray(slopes)  # one kernel for all layouts
    changes = _envelopes(scores, slopes, offsets, low, high, first, at, before, after)
    return first, at[:changes], before[:changes], after[:changes]


# The flags let reductions process several rows at a time: no value is nan, and -0 may be taken for 0.
@partial(kernel, fastmath={"nnan", "nsz"}, error_model="numpy")
def _envelopes(
    scores: Any, slopes: Any, offsets: Any, low: Any, high: Any, first: Any, at: Any, before: Any, after: Any
) -> int:
    """Write the envelopes to the last four arrays; return the number of changes. Line i is b[i] + t * a[i]."""
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    a, b, rows = np.empty(longest), np.empty(longest), np.empty(longest, np.int64)
    changes = 0
    for s in range(len(offsets) - 1):
        # Steps 1 and 2: copy the lines that can be on the envelope.
        begin, end = offsets[s], offsets[s + 1]
        slope, score = slopes[begin:end], scores[begin:end]
        kept = _between_chords(slope, score, low, high, a, b, rows)
        # The line that is highest at `low`; of equally high ones the steepest, which is highest just above `low`.
        current = 0
        for i in range(1, kept):
            x, y = b[i] + low * a[i], b[current] + low * a[current]
            if x > y or (x == y and a[i] > a[current]):
                current = i
        first[s] = begin + rows[current]
        # Step 3: march along the envelope.
        while True:
            # The least t at which a steeper line i crosses the current line c: t = (b[c] - b[i]) / (a[i] - a[c]).
            crossing = high
            for i in range(kept):
                steeper = a[i] - a[current]
                crossing = min(crossing, (b[current] - b[i]) / steeper if steeper > 0.0 else high)
            if crossing >= high:
                break
            # Of the lines that cross it there, the steepest one is next on the envelope.
            following = -1
            for i in range(kept):
                steeper = a[i] - a[current]
                meets = steeper > 0.0 and (b[current] - b[i]) / steeper == crossing
                if meets and (following < 0 or a[i] > a[following]):
                    following = i
            if crossing <= low:  # but for rounding, the two lines meet at `low`
                first[s] = begin + rows[following]
            else:
                at[changes] = crossing
                before[changes] = begin + rows[current]
                after[changes] = begin + rows[following]
                changes += 1
            current = following
    return changes


@partial(part, fastmath={"nnan", "nsz"}, error_model="numpy")
def _between_chords(slope: Any, score: Any, low: Any, high: Any, a: Any, b: Any, rows: Any) -> int:
    """Copy slopes, scores and positions of the lines that may be highest from low to high; return their number."""
    # Step 1: the heights of the envelope at `low`, 0 and `high`.
    at_low = at_zero = at_high = -np.inf
    for i in range(len(slope)):
        at_low = max(at_low, score[i] + low * slope[i])
        at_zero = max(at_zero, score[i])
        at_high = max(at_high, score[i] + high * slope[i])
    # The slopes of the lines that reach them; of several lines the steepest, at `high` the least steep.
    left = middle = -np.inf
    right = np.inf
    for i in range(len(slope)):
        left = max(left, slope[i] if score[i] + low * slope[i] == at_low else -np.inf)
        middle = max(middle, slope[i] if score[i] == at_zero else -np.inf)
        right = min(right, slope[i] if score[i] + high * slope[i] == at_high else np.inf)
    # Step 2: the chords from the point (middle, at_zero) to the points of the left and the right line.
    left_score, right_score = at_low - low * left, at_high - high * right
    rise_left = (at_zero - left_score) / (middle - left) if middle > left else 0.0
    rise_right = (right_score - at_zero) / (right - middle) if right > middle else 0.0
    slack = ROUNDING * (2.0 * at_zero - left_score - right_score)
    # Keep the lines whose slopes are between the outer two and whose points are not below the chord.
    kept = 0
    for i in range(len(slope)):
        run = slope[i] - middle
        chord = at_zero + (rise_left if run < 0.0 else rise_right) * run
        a[kept], b[kept], rows[kept] = slope[i], score[i], i
        kept += (slope[i] >= left) & (slope[i] <= right) & (score[i] >= chord - slack)
    return kept


class Line(NamedTuple):
    """The metric along a line: it is `scores[i]` for t from `edges[i]` to `edges[i+1]`; adjacent scores differ."""

    edges: FloatArray
    scores: FloatArray

    def best(self, sign: float, penalties: FloatArray | None = None) -> tuple[float, float]:
        """The best t and the score there; `sign` is 1 to maximise the metric, -1 to minimise it.

        Each interval's score is worse by its part of `penalties` (intervals), in units of the metric.
        """
        gains = sign * self.scores
        if penalties is not None:
            gains = gains - penalties
        best = int(np.argmax(np.where(gains == gains.max(), np.diff(self.edges), 0.0)))
        return float(self.edges[best] + self.edges[best + 1]) / 2, float(sign * gains[best])


def metric_on_line(
    scores: FloatArray,
    slopes: FloatArray,
    offsets: LongArray,
    statistics: FloatArray,
    metric: Metric,
    low: float,
    high: float,
) -> Line:
    """The metric of the 1-bests by `scores + t * slopes` for t from `low` to `high`, both finite, with low < high."""
    # All changes of 1-bests in all lists, in ascending order of t.
    first, at, before, after = upper_envelopes(scores, slopes, offsets, low, high)
    order = np.argsort(at)
    starts = np.concatenate([[low], at[order]])
    # The intervals that are wide enough to count.
    wide = np.flatnonzero(np.diff(starts, append=high) > NARROW * (high - low))
    # totals[i] = statistics of the first 1-bests + the sum over changes 1 … i of (statistics after - before).
    changes = statistics[after[order]]
    changes -= statistics[before[order]]
    totals = np.concatenate([statistics[first].sum(axis=0, keepdims=True), changes])
    np.cumsum(totals, axis=0, out=totals)
    values = metric.score(totals[wide])
    # Merge neighbouring intervals with equal scores.
    differs = np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1])
    edges = np.concatenate([[low], starts[wide[differs[1:]]], [high]])
    return Line(edges, values[differs])
