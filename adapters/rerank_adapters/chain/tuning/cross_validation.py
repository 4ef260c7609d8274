"""Compares how well tuners generalise by k-fold cross-validation over the segments of the tuning set.

The hypotheses of each fold are chosen by weights tuned on the other folds. The statistics of all choices are pooled
into one corpus score, which differs from the mean of the folds' scores. A seed determines both the folds and the
tuners' random choices; all rows of a seed share its folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rerank_adapters.chain.tuning import chosen_rows, take_segments
from rerank_adapters.report import numbers
from rerank_adapters.report.tables import Table
from rerank_adapters.rows import Rows
from rerank_adapters.runtime.workers import shared_out
from rerank_adapters.tuners.within_lists import spread
from rerank_plugins import ConfigError, FloatArray, Tuner, TuningData, TuningResult
from rerank_plugins.core.arrays import LongArray


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
    data: TuningData,
    tuners: Mapping[str, Tuner],
    start: FloatArray | Mapping[str, FloatArray],
    folds: int = 5,
    seeds: Sequence[int] = (0,),
    *,
    baselines: Mapping[str, FloatArray] | None = None,
    jobs: int = 1,
    progress: Callable[[int], None] = lambda folds: None,
) -> CrossValidation:
    """The held-out scores of each tuner, started from `start` or from its own start there, and of the `baselines`.

    So many `jobs` work at once, in processes of their own; the scores do not depend on it. `progress` is called with
    the number of folds that have just been tuned. Raises ConfigError for fewer than two folds, more folds than
    segments, and a name that a tuner and a baseline share.
    """
    check_folds(folds, data.table.segments)
    constant = {name: Unchanged(weights) for name, weights in (baselines or {}).items()}
    for name in constant.keys() & tuners.keys():
        raise ConfigError(f"both a tuner and a baseline are called {name!r}")
    tried = {**tuners, **constant}
    starts = {**(start if isinstance(start, Mapping) else dict.fromkeys(tuners, start)), **(baselines or {})}

    def held_out(run: tuple[str, int]) -> tuple[float, tuple[float, ...], float]:
        """The pooled score, the score of each fold and the mean training score of a tuner with a seed."""
        name, seed = run
        totals, training = [], []
        for fold in tuned_folds(data, tried[name], starts[name], folds, seed):
            totals.append(fold.data.statistics[fold.rows].sum(axis=0))
            training.append(fold.result.score)
        score = data.metric.score
        return float(score(np.sum(totals, axis=0))), tuple(score(np.array(totals)).tolist()), float(np.mean(training))

    runs = [(name, seed) for name in tried for seed in seeds]
    scores: dict[str, list[tuple[float, tuple[float, ...], float]]] = {name: [] for name in tried}
    for (name, _), scored in zip(runs, shared_out(held_out, runs, jobs, "the tuner"), strict=True):
        scores[name].append(scored)
        progress(folds if name in tuners else 0)
    rows = tuple(CrossValidationRow(name, *zip(*of_seeds, strict=True)) for name, of_seeds in scores.items())
    return CrossValidation(rows, tuple(seeds), folds, data.metric.higher_is_better)


@dataclass
class Unchanged(Tuner):
    """A baseline: a tuner that returns its weights without tuning them."""

    weights: FloatArray

    def tune(self, data: TuningData, *_: Any, **__: Any) -> TuningResult:
        """The weights, with their score on `data`."""
        rows = chosen_rows(data, TuningResult(self.weights, 0.0))
        return TuningResult(self.weights, float(data.metric.score(data.statistics[rows].sum(axis=0))))


@dataclass(frozen=True, eq=False)
class Fold:
    """A fold that was held out.

    `segments`  its segments, ascending, as numbers in the whole set
    `data`      the tuning data of these segments
    `result`    what the tuner found on all other segments
    `unit`      the unit of leads in `result` (see `unit_of_leads`)
    """

    segments: LongArray
    data: TuningData
    result: TuningResult
    unit: float

    @cached_property
    def rows(self) -> LongArray:
        """(segments): the row of `data` that the result chooses in each list."""
        return chosen_rows(self.data, self.result)


def unit_of_leads(data: TuningData, result: TuningResult) -> float:
    """The unit in which the leads of weights tuned on different lists can be compared.

    For weighted sums, whose scale is arbitrary, it is their standard deviation within the lists `data` that they were
    tuned on, pooled over all lists; for expected utilities it is 1, since these are points of the metric already.
    """
    return 1.0 if result.decision == "mbr" else spread(result.scores(data.table), data.table.offsets)


def check_folds(folds: int, segments: int) -> None:
    """Raise ConfigError for fewer than two folds, and for more folds than segments."""
    if not 2 <= folds <= segments:
        raise ConfigError(f"{folds} folds of {segments} segments; wanted at least 2, at most one per segment")


def tuned_fold(data: TuningData, tuner: Tuner, start: FloatArray, folds: int, seed: int, number: int) -> Fold:
    """Tune on all folds but the one of this number (from 0).

    The folds depend on `seed` and the number of segments alone. Raises ConfigError as `check_folds` does.
    """
    check_folds(folds, data.table.segments)
    shuffled = np.random.default_rng(seed).permutation(data.table.segments)
    aside = np.sort(shuffled[number::folds])
    rest = take_segments(data, np.setdiff1d(shuffled, aside))
    result = tuner.tune(rest, start, np.random.default_rng([seed, number]))
    return Fold(aside, take_segments(data, aside), result, unit_of_leads(rest, result))


def tuned_folds(data: TuningData, tuner: Tuner, start: FloatArray, folds: int, seed: int) -> Iterator[Fold]:
    """Yield each fold with what was tuned on all others. Raises ConfigError as `check_folds` does."""
    for number in range(folds):
        yield tuned_fold(data, tuner, start, folds, seed, number)


def held_out_choices(data: TuningData, tuner: Tuner, start: FloatArray, folds: int, seed: int) -> LongArray:
    """(segments): the position in its list of the hypothesis that is chosen for each segment while it is held out.

    The folds are those of `cross_validate` with the same seed. Raises ConfigError as `check_folds` does.
    """
    choices = np.empty(data.table.segments, np.int64)
    for fold in tuned_folds(data, tuner, start, folds, seed):
        choices[fold.segments] = fold.rows - fold.data.table.offsets[:-1]
    return choices


def cross_validation_table(result: CrossValidation, metric: str) -> Table:
    """A row per tuner or baseline: held-out score with its spread over seeds, training score, lowest, highest fold."""
    keys = {"held_out": "held out", "spread": "± over seeds", "training": "training"}
    keys |= {"lowest_fold": "lowest fold", "highest_fold": "highest fold"}
    seeds = len(result.seeds)
    if seeds == 1:
        del keys["spread"]
    rows = []
    for row in result.table():
        mark = " *" if row["name"] == result.best.name else ""
        rows.append((f"{row['name']}{mark}", *(numbers.score(row[key]) for key in keys)))
    notes = (
        "* marks the best held-out score.",
        f"The held-out choices of the {result.folds} folds are pooled into one corpus score"
        + (f"; scores are means over {seeds} seeds." if seeds > 1 else "."),
    )
    better = "↑" if result.higher_is_better else "↓"
    return Table(f"Cross-validation: {metric} {better}", ("tuner", *keys.values()), tuple(rows), notes)
