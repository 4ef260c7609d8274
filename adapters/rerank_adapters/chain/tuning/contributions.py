"""What families of features contribute: their part of the score's spread, and the held-out score without them.

Families that model the same thing stand in for each other: each is missed little alone, and all of them may be missed
much. Such families are judged together too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rerank_adapters.chain.tuning.family_trials import Families, FamilyTrials
from rerank_adapters.chain.tuning.selection import standard_error
from rerank_adapters.evaluation.contributions import Contribution, Contributions
from rerank_adapters.tuners.one_best import centred
from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.feature_table import FeatureTable
from rerank_plugins.core.metrics_and_tuners import Tuner, TuningData


def contributions(
    data: TuningData,
    weights: FloatArray,
    families: Families,
    tuner: Tuner,
    start: FloatArray,
    *,
    folds: int,
    seed: int,
    together: Mapping[str, Sequence[str]] | None = None,
    threads: int = 1,
) -> Contributions:
    """Measure the contributions of families (name -> feature names) to the tuned `weights`.

    A family is left out by weights fixed at 0. `together` names families that are left out together as well (name ->
    families); their rows follow the others. `weights` and `start` are in the order of `data.table.all_names`.
    Raises ConfigError for fewer than two folds or more folds than segments, and where a name is not a feature.
    """
    trials = FamilyTrials(data, families, tuner, start, folds, (seed,), threads)
    whole = spread(data.table, weights, np.arange(len(weights))) or 1.0
    parts = [*((family, (family,)) for family in families), *(together or {}).items()]
    full, *reduced = trials.statistics([families, *(set(families).difference(members) for _, members in parts)])
    sign = 1.0 if data.metric.higher_is_better else -1.0
    rows = []
    for (name, members), statistics in zip(parts, reduced, strict=True):
        columns = np.concatenate([trials.columns(family) for family in members])
        score = trials.score(statistics)
        error = standard_error(data.metric, full, statistics)
        part = spread(data.table, weights, columns) / whole
        rows.append(Contribution(name, len(columns), part, score, sign * (trials.score(full) - score), error))
    return Contributions(tuple(rows), trials.score(full), folds, data.table.segments)


def spread(table: FeatureTable, weights: FloatArray, columns: LongArray) -> float:
    """The standard deviation within lists of the weighted sum of these columns, pooled over all lists."""
    chosen = np.zeros_like(weights)
    chosen[columns] = weights[columns]
    return float(np.std(centred(table.scores(chosen), table.offsets)))
