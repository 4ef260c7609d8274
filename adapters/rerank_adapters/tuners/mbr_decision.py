"""The decision of minimum Bayes risk (Kumar & Byrne 2004): over a list, the hypothesis of highest expected utility.

    argmax_i  sum_j p(j) * utility(i, j),     p = softmax(scale * score), over the evidence

utility(i, j) is the metric's score of hypothesis i with hypothesis j as its reference (Ehling et al. 2007 use BLEU),
negated where lower is better. The evidence consists of the `evidence` hypotheses of highest score, or of all;
any hypothesis can be chosen. The cost for a list of n hypotheses is n * min(n, evidence) utilities.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_plugins import FloatArray, Metric
from rerank_plugins.core.arrays import LongArray

STATISTICS_AT_ONCE = 100_000  # rows computed at a time, which bounds the memory


def expected_scores(
    scores: FloatArray, texts: Sequence[str], metric: Metric, scale: float, evidence: int | None = None
) -> FloatArray:
    """(n): the expected utilities of a list's hypotheses, higher is better; `scores` (n) are their weighted sums."""
    voters = evidence_of(scores, evidence)
    return expected_utilities(scores[voters], utilities(texts, metric, voters), scale)


def evidence_of(scores: FloatArray, evidence: int | None) -> LongArray:
    """The ascending positions of the `evidence` highest scores (None: all); ties go to the earlier ones."""
    if evidence is None or evidence >= len(scores):
        return np.arange(len(scores))
    return np.sort(np.argsort(-scores, kind="stable")[:evidence])


def utilities(texts: Sequence[str], metric: Metric, voters: LongArray) -> FloatArray:
    """(n, voters): the score of each hypothesis with each voter as its reference, higher is better."""
    sign = 1.0 if metric.higher_is_better else -1.0
    if len(voters) == len(texts):
        return sign * metric.pairwise(texts)
    columns = []
    step = max(STATISTICS_AT_ONCE // len(texts), 1)
    for begin in range(0, len(voters), step):
        references = [[texts[j]] for j in voters[begin : begin + step]]
        statistics = metric.statistics([texts] * len(references), references)
        columns.append(metric.pair_scores(statistics).reshape(len(references), len(texts)).T)
    return sign * np.concatenate(columns, axis=1)


def expected_utilities(scores: FloatArray, utility: FloatArray, scale: float | FloatArray) -> FloatArray:
    """(n): the expected utility of each hypothesis; (n, scales) for several scales at once.

    `scores` (voters) are the weighted sums of the evidence, `utility` has (n, voters); scales must not be negative.
    """
    weights = np.exp(np.multiply.outer(scores - scores.max(), scale))
    posterior = weights / weights.sum(axis=0)
    expected: FloatArray = utility @ posterior.reshape(len(scores), -1)
    return expected.reshape(len(utility), *posterior.shape[1:])
