"""What each family of features contributes: its share of the score's spread, and the held-out score without it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_adapters.tuners.one_best import centred
from rerank_adapters.tuning.family_trials import Families, FamilyTrials
from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.feature_table import FeatureTable
from rerank_plugins.interfaces import Tuner, TuningData


@dataclass(frozen=True)
class Contribution:
    """What one family of features contributes.

    `columns`   the number of its features
    `spread`    the standard deviation within lists of its weighted sum, as a share of that of the whole score; families
                that agree or cancel each other make these shares sum to less or more than 1
    `held_out`  the corpus score of choices on held-out folds, where all families but this one were tuned on the others
    `loss`      by how much that is worse than with all families; negative where the choices are better without it
    """

    family: str
    columns: int
    spread: float
    held_out: float
    loss: float


@dataclass(frozen=True)
class Contributions:
    """The contributions of all families, and the held-out score with all of them, over so many folds.

    `linear` is false where the tuned weights are only a part of the model, of which the spreads are shares.
    """

    rows: tuple[Contribution, ...]
    held_out: float
    folds: int
    linear: bool = True


def contributions(
    data: TuningData,
    weights: FloatArray,
    families: Families,
    tuner: Tuner,
    start: FloatArray,
    *,
    folds: int,
    seed: int,
    threads: int = 1,
) -> Contributions:
    """Measure the contributions of families (name -> feature names) to the tuned `weights`.

    A family is left out by weights fixed at 0. `weights` and `start` are in the order of `data.table.all_names`.
    Raises ConfigError for fewer than two folds or more folds than segments, and where a name is not a feature.
    """
    trials = FamilyTrials(data, families, tuner, start, folds, (seed,), threads)
    whole = spread(data.table, weights, np.arange(len(weights))) or 1.0
    full, *reduced = trials.scores([families, *(set(families) - {family} for family in families)])
    sign = 1.0 if data.metric.higher_is_better else -1.0
    rows = [
        Contribution(
            family,
            len(names),
            spread(data.table, weights, trials.columns(family)) / whole,
            score,
            sign * (full - score),
        )
        for (family, names), score in zip(families.items(), reduced, strict=True)
    ]
    return Contributions(tuple(rows), full, folds)


def spread(table: FeatureTable, weights: FloatArray, columns: LongArray) -> float:
    """The standard deviation within lists of the weighted sum of these columns, pooled over all lists."""
    chosen = np.zeros_like(weights)
    chosen[columns] = weights[columns]
    return float(np.std(centred(table.scores(chosen), table.offsets)))
