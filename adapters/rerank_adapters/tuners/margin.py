"""The margin by which a hypothesis must lead the decoder's 1-best before the 1-best is left.

A list has the totals t, of which the first is the 1-best's. With the margin m the choice is

    argmax_i t_i  where  max_i t_i - t_1 > m,  and the 1-best elsewhere.

That is the first hypothesis of highest total once the 1-best has the total min(t_1 + m, max_i t_i), so that orders and
totals agree. The rule is the reject option of Chow (1970): where the evidence for a change is weak, nothing is changed.
A margin of 0 is the plain choice of the highest total, and an infinite one keeps every 1-best.

The choices change only where m passes a lead, so all margins are tried, as by a line search over one weight (Och 2003):
the leads are sorted, the statistics of the changes are summed up from the largest lead to the smallest, and one call of
the metric scores all sums. The best of many noisy scores is too good to be true, so the largest margin is taken whose
score is at most one standard error below the best: the one-standard-error rule (Breiman et al. 1984, section 3.4.3),
which leaves the 1-best only where the lists speak for it. The standard error is that of the difference of the two
scores over the lists, by the delta method. Cost: O(n log n + n S) for n lists.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from rerank_adapters.tuners.within_lists import gains_of, metric_slope, one_best
from rerank_plugins import FloatArray, Metric
from rerank_plugins.core.arrays import LongArray

Margin = float | Literal["tuned"]  # as a config names it, in the unit of `tuning.held_out.unit_of_leads`
TIE = 1e-9  # scores that differ by less are equal: sums in another order have other last digits


class Leads(NamedTuple):
    """Of each list the row of the highest total, and by how much that exceeds the total of the first row (>= 0)."""

    rows: LongArray
    leads: FloatArray


def leads_of(totals: FloatArray, offsets: LongArray) -> Leads:
    """The leads of the lists whose rows are `offsets[s]:offsets[s+1]`; `totals` (rows) are finite."""
    rows = one_best(totals, offsets)
    return Leads(rows, totals[rows] - totals[offsets[:-1]])


def with_margin(totals: FloatArray, offsets: LongArray, margin: float) -> FloatArray:
    """(rows): the totals, in which the first of each list has min(its total + margin, the highest total of the list).

    The margin has the unit of the totals. The first of the highest totals is then the choice.
    """
    if not margin or not len(totals):
        return totals
    raised, first = totals.copy(), offsets[:-1]
    raised[first] = np.minimum(totals[first] + margin, np.maximum.reduceat(totals, first))
    return raised


def best_margin(
    leads: FloatArray, first: FloatArray, leading: FloatArray, metric: Metric, errors: float = 1.0
) -> float:
    """The largest margin whose choices score at most `errors` standard errors worse than those of the best margin.

    `leads` (lists) are those of the hypotheses with the statistics `leading` (lists, S) over the 1-bests, which have
    the statistics `first` (lists, S). The margin lies halfway between the smallest lead that exceeds it and the next
    one; it is 0 where all hypotheses that lead are chosen, and infinite where none is.
    """
    changed = np.flatnonzero(leads > 0)
    falling = changed[np.argsort(-leads[changed], kind="stable")]
    steps, changes = leads[falling], (leading - first)[falling]
    ends = np.flatnonzero(np.append(steps[1:] < steps[:-1], np.ones(min(len(steps), 1), bool)))
    totals = first.sum(axis=0) + np.vstack([np.zeros_like(first[:1]), np.cumsum(changes, axis=0)[ends]])
    scores = metric.score(totals)
    merits = scores if metric.higher_is_better else -scores
    best = int(np.argmax(merits >= merits.max() - TIE))
    # from the largest margin, which changes nothing, to the best one
    gains = gains_of(changes, metric_slope(metric, totals[best], len(first)))
    behind = merits[best] - merits[: best + 1] - errors * _standard_errors(gains, ends, best, len(first))
    place = int(np.argmax(behind <= TIE))
    if place == 0:
        return float("inf")
    if place == len(ends):
        return 0.0
    above, below = float(steps[ends[place - 1]]), float(steps[ends[place]])
    middle = (above + below) / 2
    return middle if middle < above else below


def _standard_errors(gains: FloatArray, ends: LongArray, best: int, lists: int) -> FloatArray:
    """(best + 1): the standard errors of the differences between the best margin's score and those of larger margins.

    `gains` (changes) are those of the changed lists, from the largest lead; `ends` the last change of each step.
    """
    if lists < 2:
        return np.zeros(best + 1)
    sums, squares = (np.concatenate([[0.0], np.cumsum(values)[ends]]) for values in (gains, gains**2))
    between, between_squares = sums[best] - sums[: best + 1], squares[best] - squares[: best + 1]
    variance = np.maximum(between_squares - between**2 / lists, 0.0) / (lists - 1)
    errors: FloatArray = np.sqrt(variance / lists)
    return errors
