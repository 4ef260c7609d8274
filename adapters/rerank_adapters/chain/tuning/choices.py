"""Finds the hypotheses that a tuning result chooses, 1-bests or MBR decisions, and their score."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rerank_adapters.tuners.mbr_decision import expected_scores
from rerank_adapters.tuners.one_best import one_best
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.metrics_and_tuners import TuningData, TuningResult


def chosen_rows(data: TuningData, result: TuningResult) -> LongArray:
    """(segments): the row that the result chooses in each list. Raises ConfigError where MBR lacks the texts."""
    scores, offsets = result.scores(data.table), data.table.offsets
    if result.decision == "map":
        return one_best(scores, offsets)
    if not data.hypotheses:
        raise ConfigError("MBR compares hypotheses with each other: it needs their texts, and has none")
    rows = []
    for texts, (begin, end) in zip(data.hypotheses, pairwise(offsets), strict=True):
        utility = expected_scores(scores[begin:end], texts, data.metric, result.scale, result.evidence or None)
        rows.append(int(begin + np.argmax(utility)))
    return np.array(rows, np.int64)


def held_out_score(data: TuningData, result: TuningResult) -> float:
    """The corpus score of the hypotheses that the result chooses in this data."""
    return float(data.metric.score(data.statistics[chosen_rows(data, result)].sum(axis=0)))
