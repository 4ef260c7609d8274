"""Compares choices of hypotheses by the statistics of a metric, without texts: gains, intervals and p-values.

The tests are those of significance.py, with the same resamples and trials for all pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rerank_adapters.evaluation.significance import (
    Interval,
    bootstrap_totals,
    percentile_interval,
    randomisation_p_value,
    swapped_totals,
)
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.metrics_and_tuners import Metric


class Gain(NamedTuple):
    """By how much the first choices are better than the second: above 0 is better, for error rates too.

    `interval` is the 95 % interval of the paired bootstrap, `p` the p-value of approximate randomisation; None where
    there are no resamples or no trials.
    """

    value: float
    interval: Interval | None
    p: float | None


def paired_gains(
    choices: Sequence[FloatArray],
    pairs: Sequence[tuple[int, int]],
    metric: Metric,
    *,
    bootstrap: int = 1000,
    randomisation: int = 10000,
    seed: int = 1,
) -> list[Gain]:
    """The gain of each pair (first, second), which are numbers of `choices`.

    A choice is given by the statistics (segments, S) of the hypothesis that is chosen in each segment.
    """
    if not pairs:
        return []
    sign = 1.0 if metric.higher_is_better else -1.0
    segments, width = choices[0].shape
    totals = np.stack([statistics.sum(axis=0) for statistics in choices])  # (choices, S)
    first, second = np.array(pairs, np.int64).T
    observed = sign * (metric.score(totals[first]) - metric.score(totals[second]))
    stacked = np.stack(choices, axis=1)
    resampled = bootstrap_totals(stacked.reshape(segments, -1), bootstrap, np.random.default_rng(seed))
    scores = sign * metric.score(resampled.reshape(bootstrap, len(choices), width))
    gaps = (stacked[:, first] - stacked[:, second]).reshape(segments, -1)
    moved = swapped_totals(gaps, randomisation, np.random.default_rng(seed)).reshape(randomisation, len(pairs), width)
    swapped = metric.score(totals[second] + moved) - metric.score(totals[first] - moved)
    return [
        Gain(
            float(value),
            percentile_interval(scores[:, i] - scores[:, j]) if bootstrap else None,
            randomisation_p_value(swapped[:, number], float(value)) if randomisation else None,
        )
        for number, (value, (i, j)) in enumerate(zip(observed, pairs, strict=True))
    ]
