"""Compares how well tuners generalise by k-fold cross-validation over the segments of the tuning set.

The hypotheses of each fold are chosen by weights tuned on the other folds. The statistics of all choices are pooled
into one corpus score, which differs from the mean of the folds' scores. Fixed weights (equal ones, the decoder's) can
be compared as baselines. A seed determines both the folds and the tuners' random choices; all rows of a seed share
its folds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rerank_adapters.chain.tuning.choices import chosen_rows
from rerank_adapters.chain.tuning.held_out import check_folds, tuned_folds
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.metrics_and_tuners import Tuner, TuningData, TuningResult


@dataclass(frozen=True)
class CrossValidationRow:
    """The scores of one tuner or one baseline.

    `pooled`    for each seed, the corpus score of all held-out choices together
    `folds`     for each seed, the score of the choices in each fold
    `training`  for each seed, the mean score on the segments tuned on; by how much it exceeds `pooled` is overfitting
    """

    name: str
    pooled: tuple[float, ...]
    folds: tuple[tuple[float, ...], ...]
    training: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean of the pooled score over the seeds."""
        return float(np.mean(self.pooled))

    @property
    def spread(self) -> float | None:
        """The standard deviation of the pooled score over the seeds; None where there is only one seed."""
        return float(np.std(self.pooled, ddof=1)) if len(self.pooled) > 1 else None


@dataclass(frozen=True)
class CrossValidation:
    """The rows of all tuners, in the order in which they were named, then those of the baselines."""

    rows: tuple[CrossValidationRow, ...]
    seeds: tuple[int, ...]
    folds: int
    higher_is_better: bool

    @property
    def best(self) -> CrossValidationRow:
        """The row with the best mean; the first of equals."""
        sign = 1.0 if self.higher_is_better else -1.0
        return max(self.rows, key=lambda row: sign * row.mean)

    def table(self) -> list[dict[str, Any]]:
        """One record per row: the name, the held-out score (its mean and its spread over the seeds, None for one seed),
        the training score, and the lowest and highest score of a fold.
        """
        return [
            {
                "name": row.name,
                "held_out": row.mean,
                "spread": row.spread,
                "training": float(np.mean(row.training)),
                "lowest_fold": min(min(scores) for scores in row.folds),
                "highest_fold": max(max(scores) for scores in row.folds),
            }
            for row in self.rows
        ]


def cross_validate(
    data: TuningData,
    tuners: Mapping[str, Tuner],
    start: FloatArray,
    folds: int = 5,
    seeds: Sequence[int] = (0,),
    *,
    baselines: Mapping[str, FloatArray] | None = None,
    progress: Callable[[str, int, int], None] = lambda name, seed, fold: None,
) -> CrossValidation:
    """The held-out scores of each tuner, started from `start`, and of the `baselines`' weights.

    `progress` is called with the tuner's name, the seed and the fold before each run. Raises ConfigError for fewer
    than two folds, more folds than segments, and a name that a tuner and a baseline share.
    """
    check_folds(folds, data.table.segments)
    constant = {name: Unchanged(weights) for name, weights in (baselines or {}).items()}
    for name in constant.keys() & tuners.keys():
        raise ConfigError(f"both a tuner and a baseline are called {name!r}")
    rows = []
    for name, tuner in {**tuners, **constant}.items():
        runs = [_run(data, tuner, start, folds, seed, partial(progress, name, seed)) for seed in seeds]
        pooled, fold_scores, training = zip(*runs, strict=True)
        rows.append(CrossValidationRow(name, pooled, fold_scores, training))
    return CrossValidation(tuple(rows), tuple(seeds), folds, data.metric.higher_is_better)


def _run(
    data: TuningData, tuner: Tuner, start: FloatArray, folds: int, seed: int, progress: Callable[[int], None]
) -> tuple[float, tuple[float, ...], float]:
    """The pooled score, the score of each fold and the mean training score of one seed."""
    totals, training = [], []
    for fold in tuned_folds(data, tuner, start, folds, seed, progress):
        totals.append(fold.data.statistics[fold.rows].sum(axis=0))
        training.append(fold.result.score)
    score = data.metric.score
    return float(score(np.sum(totals, axis=0))), tuple(score(np.array(totals)).tolist()), float(np.mean(training))


@dataclass
class Unchanged(Tuner):
    """A baseline: a tuner that returns its weights without tuning them."""

    weights: FloatArray

    def tune(self, data: TuningData, *_: Any, **__: Any) -> TuningResult:
        """The weights, with their score on `data`."""
        rows = chosen_rows(data, TuningResult(self.weights, 0.0))
        return TuningResult(self.weights, float(data.metric.score(data.statistics[rows].sum(axis=0))))
