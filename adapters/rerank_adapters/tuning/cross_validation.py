"""k-fold cross-validation over segments: which tuner generalises best, told on the tuning set alone.

Each fold is tuned on the other folds and chooses on its own; the statistics of all choices are pooled into one corpus
score, which a mean of fold scores is not. Fixed weights (equal ones, the decoder's) go along as baselines. Seeds
change both the folds and what is random in the tuners; all rows of a seed share its folds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rerank_adapters.tuning.choosing import chosen_rows
from rerank_adapters.tuning.data import take_segments
from rerank_plugins.arrays import FloatArray
from rerank_plugins.errors import ConfigError
from rerank_plugins.interfaces import Tuner, TuningData, TuningResult


@dataclass(frozen=True)
class CrossValidationRow:
    """How one tuner, or one baseline, did.

    `pooled`    per seed, the corpus score of all held-out choices together
    `folds`     per seed, the score of each fold's choices
    `training`  per seed, the mean score on the segments tuned on: the excess over `pooled` is overfitting
    """

    name: str
    pooled: tuple[float, ...]
    folds: tuple[tuple[float, ...], ...]
    training: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Pooled score, mean over seeds."""
        return float(np.mean(self.pooled))

    @property
    def spread(self) -> float:
        """Standard deviation of the pooled score over seeds; 0 for one seed."""
        return float(np.std(self.pooled, ddof=1)) if len(self.pooled) > 1 else 0.0


@dataclass(frozen=True)
class CrossValidation:
    """All rows: tuners in the order given, then baselines."""

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
        """A line per row: name, held-out score (mean and spread over seeds), training score, worst and best fold."""
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
    """Held-out scores of each tuner from `start`, and of the `baselines`' weights; `progress` is told before each run.

    Raises ConfigError for fewer than two folds or more folds than segments.
    """
    if not 2 <= folds <= data.table.segments:
        raise ConfigError(
            f"{folds} folds of {data.table.segments} segments; wanted at least 2, at most one per segment"
        )
    constant = {name: Unchanged(weights) for name, weights in (baselines or {}).items()}
    for name in constant.keys() & tuners.keys():
        raise ConfigError(f"both a tuner and a baseline are called {name!r}")
    rows = []
    for name, tuner in {**tuners, **constant}.items():
        runs = [_run(data, tuner, start, folds, seed, partial(progress, name, seed)) for seed in seeds]
        pooled, scores, training = zip(*runs, strict=True)
        rows.append(CrossValidationRow(name, pooled, scores, training))
    return CrossValidation(tuple(rows), tuple(seeds), folds, data.metric.higher_is_better)


def _run(
    data: TuningData, tuner: Tuner, start: FloatArray, folds: int, seed: int, progress: Callable[[int], None]
) -> tuple[float, tuple[float, ...], float]:
    shuffled = np.random.default_rng(seed).permutation(data.table.segments)
    totals, training = [], []
    for fold in range(folds):
        progress(fold)
        aside = np.sort(shuffled[fold::folds])
        rest = np.setdiff1d(shuffled, aside)
        result = tuner.tune(take_segments(data, rest), start, np.random.default_rng([seed, fold]))
        held_out = take_segments(data, aside)
        totals.append(held_out.statistics[chosen_rows(held_out, result)].sum(axis=0))
        training.append(result.score)
    score = data.metric.score
    return float(score(np.sum(totals, axis=0))), tuple(score(np.array(totals)).tolist()), float(np.mean(training))


@dataclass
class Unchanged(Tuner):
    """Weights that are not tuned, as a tuner: the baseline."""

    weights: FloatArray

    def tune(self, data: TuningData, *_: Any, **__: Any) -> TuningResult:
        """The weights."""
        rows = chosen_rows(data, TuningResult(self.weights, 0.0))
        return TuningResult(self.weights, float(data.metric.score(data.statistics[rows].sum(axis=0))))
