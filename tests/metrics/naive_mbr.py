"""Minimum Bayes risk by brute force: a score of one hypothesis and one reference for each pair of samples."""

from __future__ import annotations

from collections.abc import Sequence

from rerank_plugins import Metric


def naive_mbr(samples: Sequence[str], metric: Metric, weights: Sequence[float]) -> tuple[int, float]:
    """The position of the choice, the earliest of equal ones, and its expected score."""
    best, chosen = float("nan"), -1
    for place, hypothesis in enumerate(samples):
        expected = 0.0
        for reference, weight in zip(samples, weights, strict=True):
            statistics = metric.statistics([[hypothesis]], [[reference]])
            expected += weight / sum(weights) * float(metric.sentence_scores(statistics)[0])
        gain = expected - best if metric.higher_is_better else best - expected
        if chosen < 0 or gain > 1e-9 * max(1.0, abs(best)):
            best, chosen = expected, place
    return chosen, best
