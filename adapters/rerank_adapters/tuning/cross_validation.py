"""Compares how well tuners generalise by k-fold cross-validation over the segments of the tuning set.

The statistics of all held-out choices are pooled into one corpus score, which differs from the mean of the folds'
scores. A seed determines both the folds and the tuners' random choices; all rows of a seed share its folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rerank_adapters.features.processes import HERE, Processes
from rerank_adapters.rows import Rows
from rerank_adapters.tuning.held_out import HeldOut, Progress, check_folds, held_out
from rerank_adapters.tuning.problem import score_of
from rerank_plugins import ConfigError, FloatArray, Tuner, TuningData, TuningResult


@dataclass
class Unchanged(Tuner):
    """A baseline: a tuner that returns its weights without tuning them."""

    weights: FloatArray

    def tune(self, data: TuningData, *_: Any, **__: Any) -> TuningResult:
        """The weights, with their score on `data`."""
        return TuningResult(self.weights, score_of(data, TuningResult(self.weights, 0.0)))


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


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        """The rows of `table`."""
        return repr(self._rows)

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        return self._rows._repr_html_()

    def to_pandas(self) -> Any:
        """The rows of `table` as a pandas.DataFrame. Raises ConfigError where pandas is not installed."""
        return self._rows.to_pandas()

    @property
    def _rows(self) -> Rows:
        records = self.table()
        return Rows(records[0], [list(record.values()) for record in records])

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
    problem: TuningData,
    tuners: Mapping[str, Tuner],
    start: FloatArray | Mapping[str, FloatArray],
    folds: int = 5,
    seeds: Sequence[int] = (0,),
    *,
    baselines: Mapping[str, FloatArray] | None = None,
    processes: Processes = HERE,
    progress: Progress = lambda folds: None,
) -> CrossValidation:
    """The held-out scores of each tuner, started from `start` or from its own start there, and of the `baselines`.

    A tuner with a seed is one task of the `processes`, of whose number the scores do not depend. `progress` is called
    with the number of folds that have just been tuned. Raises ConfigError as `check_folds` does, and for a name that a
    tuner and a baseline share.
    """
    check_folds(folds, problem.table.segments)
    constant = {name: Unchanged(weights) for name, weights in (baselines or {}).items()}
    for name in constant.keys() & tuners.keys():
        raise ConfigError(f"both a tuner and a baseline are called {name!r}")
    tried = {**tuners, **constant}
    starts = {**(start if isinstance(start, Mapping) else dict.fromkeys(tuners, start)), **(baselines or {})}
    found: dict[tuple[str, int], HeldOut] = {}
    tasks = [(name, seed) for name in tried for seed in seeds]
    for task, held in processes.shared_results(partial(_held_out, problem, tried, starts, folds), tasks):
        found[task] = held
        progress(folds if task[0] in tuners else 0)
    score = problem.metric.score
    rows = []
    for name in tried:
        of_seeds = [found[name, seed] for seed in seeds]
        pooled = [float(score(held.chosen.sum(axis=0))) for held in of_seeds]
        of_folds = [tuple(score(_sums_of_folds(held)).tolist()) for held in of_seeds]
        training = [float(np.mean(held.training)) for held in of_seeds]
        rows.append(CrossValidationRow(name, tuple(pooled), tuple(of_folds), tuple(training)))
    return CrossValidation(tuple(rows), tuple(seeds), folds, problem.metric.higher_is_better)


def _held_out(
    problem: TuningData,
    tuners: Mapping[str, Tuner],
    starts: Mapping[str, FloatArray],
    folds: int,
    task: tuple[str, int],
) -> tuple[tuple[str, int], HeldOut]:
    name, seed = task
    return task, held_out(problem, tuners[name], starts[name], folds, seed)


def _sums_of_folds(held: HeldOut) -> FloatArray:
    """(folds, S) the summed statistics of the choices in each fold."""
    return np.array([held.chosen[held.fold == number].sum(axis=0) for number in range(len(held.training))])
