"""The rule of the margin, and its tuning, as a person would do them by hand: the twin of tuners/margin.py."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rerank_adapters.tuning.families import standard_error
from rerank_plugins import FloatArray, Metric


def choice(totals: Sequence[float], margin: float) -> int:
    """The first hypothesis, unless the total of another one exceeds its total by more than the margin."""
    best = max(range(len(totals)), key=lambda i: (totals[i], -i))
    return best if totals[best] - totals[0] > margin else 0


def statistics_with(margin: float, leads: FloatArray, first: FloatArray, leading: FloatArray) -> FloatArray:
    """(lists, S): the statistics of what is chosen in each list."""
    return np.array([new if lead > margin else old for lead, old, new in zip(leads, first, leading, strict=True)])


def best_margin(
    leads: FloatArray, first: FloatArray, leading: FloatArray, metric: Metric, errors: float
) -> tuple[float, float]:
    """The interval [low, high) of margins that choose as the one that is wanted does."""
    cuts = sorted({0.0, *(float(lead) for lead in leads if lead > 0)})
    sign = 1.0 if metric.higher_is_better else -1.0
    intervals = list(zip(cuts, [*cuts[1:], math.inf], strict=True))[::-1]  # the largest margins first
    chosen = [statistics_with(low, leads, first, leading) for low, _ in intervals]
    merits = [sign * float(metric.score(statistics.sum(axis=0))) for statistics in chosen]
    best = next(i for i, merit in enumerate(merits) if merit >= max(merits) - 1e-9)
    for interval, statistics, merit in zip(intervals, chosen, merits, strict=True):
        allowed = errors * standard_error(metric, chosen[best], statistics) if errors else 0.0
        if merits[best] - merit <= allowed + 1e-9:
            return interval
    raise AssertionError("the best margin is as good as itself")
