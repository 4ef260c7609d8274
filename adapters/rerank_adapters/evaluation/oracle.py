"""The best and the worst that reranking could do with the lists: oracle and anti-oracle.

Where the metric decomposes over segments (`Metric.decomposes`: WER, for instance) the result is exact. BLEU and chrF do
not decompose, so no segment can be decided alone: there it is a search, and a bound from inside (the true oracle is at
least as good). Start: the better of the 1-bests and the hypotheses with the best sentence scores. Then coordinate
ascent: segment after segment takes the hypothesis that makes the corpus score best, all others held, until a whole
pass changes nothing. For a metric that decomposes the fixed point is the optimum. Cost: O(rows · S) a pass, usually
3 to 8 passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.interfaces import Metric

GAIN = 1e-10  # a change must gain more than rounding, or passes might not end
PASSES = 100


@dataclass(frozen=True, eq=False)
class Oracle:
    """`rows` (segments) of the chosen hypotheses, their corpus `score`, and whether it is the best there is."""

    rows: LongArray
    score: float
    kind: Literal["exact", "search"]


def oracle(statistics: FloatArray, offsets: LongArray, metric: Metric, *, best: bool = True) -> Oracle:
    """The choice of one hypothesis a segment with the best corpus score (`best=False`: the worst, the anti-oracle).

    `statistics` (rows, S) of the metric; rows of segment s are `offsets[s]:offsets[s+1]`, at least one.
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
    for _ in range(PASSES):
        totals = statistics[rows].sum(0)  # anew each pass: no drift
        changed = False
        for segment, (start, end) in enumerate(bounds):
            if end - start == 1:
                continue
            others = totals - statistics[rows[segment]]
            scores = sign * metric.score(others + statistics[start:end])
            row = start + int(np.argmax(scores))
            if scores[row - start] > scores[rows[segment] - start] + GAIN:
                totals = others + statistics[row]
                rows[segment] = row
                changed = True
        if not changed:
            break
    return rows
