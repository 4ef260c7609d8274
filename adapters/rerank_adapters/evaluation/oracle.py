"""Finds the oracle and the anti-oracle: the best and the worst corpus score of any choice from the lists.

The result is exact where the metric decomposes over segments (`Metric.decomposes`; WER does, for instance). BLEU and
chrF do not decompose, so segments cannot be decided one by one; the result is then that of a search, and the true
oracle is at least as good. The search starts from the better of two choices: the 1-bests, and the hypotheses with the
best sentence scores. Coordinate ascent follows: each segment in turn takes the hypothesis that makes the corpus score
best while all others are held, until a whole pass changes nothing. For a metric that decomposes, this fixed point is
the optimum. Cost: O(rows · S) per pass, usually for 3 to 8 passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from rerank_plugins import FloatArray, Metric
from rerank_plugins.core.arrays import LongArray

MIN_GAIN = 1e-10  # a change must gain more than a rounding error, or passes might not end
MAX_PASSES = 100


@dataclass(frozen=True, eq=False)
class Oracle:
    """The `rows` (segments) of the chosen hypotheses, their corpus `score`, and whether it is exact."""

    rows: LongArray
    score: float
    kind: Literal["exact", "search"]


def oracle(statistics: FloatArray, offsets: LongArray, metric: Metric, *, best: bool = True) -> Oracle:
    """The choice of one hypothesis per segment with the best corpus score, or with the worst (`best=False`).

    `statistics` (rows, S) are those of the metric; the rows of segment s are `offsets[s]:offsets[s+1]`, at least one.
    """
    sign = 1.0 if metric.higher_is_better == best else -1.0
    first = np.asarray(offsets[:-1], np.int64)
    alone = sign * metric.sentence_scores(statistics)
    greedy = np.array([i + int(np.argmax(alone[i:j])) for i, j in pairwise(offsets.tolist())], np.int64)
    rows = max(greedy, first, key=lambda r: sign * float(metric.score(statistics[r].sum(0))))
    rows = _ascend(statistics, offsets, metric, sign, rows.copy())
    score = float(metric.score(statistics[rows].sum(0)))
    return Oracle(rows, score, "exact" if metric.decomposes else "search")


def _ascend(statistics: FloatArray, offsets: LongArray, metric: Metric, sign: float, rows: LongArray) -> LongArray:
    bounds = list(pairwise(offsets.tolist()))
    for _ in range(MAX_PASSES):
        totals = statistics[rows].sum(0)  # summed again in each pass, so that rounding errors do not add up
        changed = False
        for segment, (start, end) in enumerate(bounds):
            others = totals - statistics[rows[segment]]
            scores = sign * metric.score(others + statistics[start:end])
            row = start + int(np.argmax(scores))
            if scores[row - start] > scores[rows[segment] - start] + MIN_GAIN:
                totals = others + statistics[row]
                rows[segment] = row
                changed = True
        if not changed:
            break
    return rows
