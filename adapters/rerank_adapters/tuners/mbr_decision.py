"""Minimum Bayes risk decision over an n-best list (Kumar & Byrne 2004): the hypothesis of highest expected utility.

    argmax_i  sum_j p(j) * utility(i, j),     p = softmax(scale * score), over the evidence

utility(i, j) is the metric's sentence score of hypothesis i with hypothesis j as its reference (Ehling et al. 2007 take
BLEU), its sign turned where the metric should be low. The evidence is the `evidence` hypotheses of highest score, or
all; every hypothesis can be chosen. Cost per list of n: n * min(n, evidence) utilities.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.interfaces import Metric

STATISTICS_AT_ONCE = 100_000  # rows, so that memory stays small


def expected_scores(
    scores: FloatArray, texts: Sequence[str], metric: Metric, scale: float, evidence: int | None = None
) -> FloatArray:
    """(n): expected utility of each hypothesis of a list, higher is better; `scores` (n) are its weighted sums."""
    voters = evidence_of(scores, evidence)
    return expected_utilities(scores[voters], utilities(texts, metric, voters), scale)


def evidence_of(scores: FloatArray, evidence: int | None) -> LongArray:
    """Positions, ascending, of the `evidence` highest scores (all where None); the earlier is in among equals."""
    if evidence is None or evidence >= len(scores):
        return np.arange(len(scores))
    return np.sort(np.argsort(-scores, kind="stable")[:evidence])


def utilities(texts: Sequence[str], metric: Metric, voters: LongArray) -> FloatArray:
    """(n, voters): sentence score of each hypothesis against each voter, higher is better."""
    sign = 1.0 if metric.higher_is_better else -1.0
    if len(voters) == len(texts):
        return sign * metric.pairwise(texts)
    columns = []
    step = max(STATISTICS_AT_ONCE // len(texts), 1)
    for begin in range(0, len(voters), step):
        references = [[texts[j]] for j in voters[begin : begin + step]]
        statistics = metric.statistics([texts] * len(references), references)
        columns.append(metric.sentence_scores(statistics).reshape(len(references), len(texts)).T)
    return sign * np.concatenate(columns, axis=1)


def expected_utilities(scores: FloatArray, utility: FloatArray, scale: float | FloatArray) -> FloatArray:
    """(n): expected utility of each hypothesis; (n, scales) for several scales at once.

    `scores` (voters) are the weighted sums of the evidence, `utility` (n, voters); scales are not negative.
    """
    weights = np.exp(np.multiply.outer(scores - scores.max(), scale))
    expected: FloatArray = utility @ (weights / weights.sum(axis=0))
    return expected
