"""What each family of features contributes: its share of the score's spread, and the held-out score without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from rerank_adapters.tuners.one_best import centred
from rerank_adapters.tuning.held_out import tuned_folds
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
    """The contributions of all families, and the held-out score with all of them, over so many folds."""

    rows: tuple[Contribution, ...]
    held_out: float
    folds: int


def contributions(
    data: TuningData,
    weights: FloatArray,
    families: Mapping[str, Sequence[str]],
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
    columns = {family: _columns(data.table, names) for family, names in families.items()}
    spreads = {family: _spread(data.table, weights, chosen) for family, chosen in columns.items()}
    whole = _spread(data.table, weights, np.arange(len(weights))) or 1.0

    def held_out_score(left_out: LongArray) -> float:
        without = np.isin(np.arange(len(weights)), left_out)
        reduced = replace(data, fixed=data.fixed | without)
        runs = tuned_folds(reduced, tuner, np.where(without, 0.0, start), folds, seed)
        totals = [fold.data.statistics[fold.rows].sum(axis=0) for fold in runs]
        return float(data.metric.score(np.sum(totals, axis=0)))

    with ThreadPoolExecutor(threads) as pool:  # the kernels of the tuners release the interpreter's lock
        full, *reduced = pool.map(held_out_score, [np.empty(0, np.int64), *columns.values()])
    sign = 1.0 if data.metric.higher_is_better else -1.0
    rows = [
        Contribution(family, len(columns[family]), spreads[family] / whole, score, sign * (full - score))
        for family, score in zip(columns, reduced, strict=True)
    ]
    return Contributions(tuple(rows), full, folds)


def _columns(table: FeatureTable, names: Sequence[str]) -> LongArray:
    position = {name: column for column, name in enumerate(table.all_names)}
    return np.array([position[name] for name in names], np.int64)


def _spread(table: FeatureTable, weights: FloatArray, columns: LongArray) -> float:
    """The standard deviation within lists of the weighted sum of these columns, pooled over all lists."""
    chosen = np.zeros_like(weights)
    chosen[columns] = weights[columns]
    return float(np.std(centred(table.scores(chosen), table.offsets)))
