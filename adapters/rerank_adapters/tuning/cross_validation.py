"""Compares how well tuners generalise by k-fold cross-validation over the segments of the tuning set.

The statistics of all held-out choices are pooled into one corpus score, which differs from the mean of the folds'
scores. A seed determines both the folds and the tuners' random choices; all rows of a seed share its folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rerank_adapters.features.processes import HERE, Processes
from rerank_adapters.rows import Rows
from rerank_adapters.tuning.held_out import HeldOut, Progress, check_folds, held_out
from rerank_adapters.tuning.problem import score_of
from rerank_plugins import ConfigError, FloatArray, Tuner, TuningData, TuningResult


class Unchanged(Tuner):
    """A baseline: a tuner that returns its start weights."""

    def tune(self, data: TuningData, start: FloatArray, *_: Any, **__: Any) -> TuningResult:
        """The start weights, with their score on `data`."""
        return TuningResult(start, score_of(data, TuningResult(start, 0.0)))


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

    def table(self) -> list[dict[str, Any]]:
        """A record for each row: the name, the held-out score (its mean and its spread over the seeds, None for one
        seed), the training score, and the lowest and highest score of a fold.
        """
        return list(self._records)

    @property
    def _records(self) -> Rows:
        columns = ("name", "held_out", "spread", "training", "lowest_fold", "highest_fold")
        records = []
        for row in self.rows:
            lowest, highest = min(map(min, row.folds)), max(map(max, row.folds))
            records.append((row.name, row.mean, row.spread, float(np.mean(row.training)), lowest, highest))
        return Rows(columns, records)

    def __repr__(self) -> str:
        """The records of `table`."""
        return repr(self._records)

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        return self._records._repr_html_()

    def to_pandas(self) -> Any:
        """The records of `table` as a pandas.DataFrame. Raises ConfigError where pandas is not installed."""
        return self._records.to_pandas()


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
    unchanged = {name: Unchanged() for name in baselines or ()}
    for name in unchanged.keys() & tuners.keys():
        raise ConfigError(f"both a tuner and a baseline are called {name!r}")
    tried = {**tuners, **unchanged}
    starts = {**(start if isinstance(start, Mapping) else dict.fromkeys(tuners, start)), **(baselines or {})}
    tasks = [(name, seed) for name in tried for seed in seeds]

    def choices(task: tuple[str, int]) -> HeldOut:
        name, seed = task
        return held_out(problem, tried[name], starts[name], folds, seed)

    def done(task: tuple[str, int]) -> None:
        progress(folds if task[0] in tuners else 0)

    found = dict(zip(tasks, processes.shared_results(choices, tasks, done), strict=True))
    score, rows = problem.metric.score, []
    for name in tried:
        of_seeds = [found[name, seed] for seed in seeds]
        pooled = [float(score(held.chosen.sum(axis=0))) for held in of_seeds]
        sums = [[held.chosen[held.fold == number].sum(axis=0) for number in range(folds)] for held in of_seeds]
        of_folds = [tuple(score(np.array(own)).tolist()) for own in sums]
        training = [float(np.mean(held.training)) for held in of_seeds]
        rows.append(CrossValidationRow(name, tuple(pooled), tuple(of_folds), tuple(training)))
    return CrossValidation(tuple(rows), tuple(seeds), folds, problem.metric.higher_is_better)
