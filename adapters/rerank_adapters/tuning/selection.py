"""Forward selection of families of features by cross-validation on the tuning set.

From the families that are always kept, each round adds the one whose addition gives the best held-out score, until
PATIENCE rounds in a row have brought nothing or no family is left. The best of many noisy scores is too good to be
true, so not the best set is kept, but the smallest one whose score is at most `margin` standard errors below: the
one-standard-error rule (Breiman et al. 1984, section 3.4.3). The standard error is that of the difference of the two
scores, over the same segments, by the delta method: to first order a corpus score is a mean of gains (gains.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from rerank_adapters.tuners.gains import gains_of, metric_slope
from rerank_adapters.tuning.held_out import check_folds, tuned_folds
from rerank_plugins.arrays import BoolArray, FloatArray
from rerank_plugins.interfaces import Metric, Tuner, TuningData, TuningResult, TuningStep

PATIENCE = 3  # rounds without a new best score after which the search ends


@dataclass(frozen=True)
class SelectionStep:
    """The set of families after a round.

    `family`    the family that the round added; "" for the set that the search begins with
    `held_out`  the held-out score of the set
    `behind`    by how much that is worse than the best set's
    `error`     the standard error of this difference; 0 for the best set
    """

    family: str
    held_out: float
    behind: float
    error: float


@dataclass(frozen=True)
class Selection:
    """The sets of families in the order in which they grew, and how many of the steps are kept."""

    steps: tuple[SelectionStep, ...]
    kept: int
    always: tuple[str, ...]
    untried: tuple[str, ...]
    folds: int
    margin: float

    @property
    def families(self) -> tuple[str, ...]:
        """The families that are kept."""
        return (*self.always, *(step.family for step in self.steps[1 : self.kept]))

    @property
    def left_out(self) -> tuple[str, ...]:
        """The families that are not kept."""
        return (*(step.family for step in self.steps[self.kept :]), *self.untried)


def select_families(
    data: TuningData,
    families: Mapping[str, Sequence[str]],
    tuner: Tuner,
    start: FloatArray,
    *,
    always: Collection[str] = (),
    folds: int = 5,
    seed: int = 1,
    margin: float = 1.0,
    threads: int = 1,
    progress: Callable[[int], None] = lambda tried: None,
) -> Selection:
    """Select families (name -> feature names); those in `always` are kept, and features of no family are as well.

    A family is left out by weights fixed at 0. At least one is kept where all features belong to families. All sets
    share the folds, which depend on `seed`. `progress` is called with the number of sets tried in each round. Raises
    ConfigError for a wrong number of folds.
    """
    check_folds(folds, data.table.segments)
    columns = {family: np.isin(data.table.all_names, names) for family, names in families.items()}
    order = tuple(family for family in families if family in always)
    chosen = list(order)
    candidates = [family for family in families if family not in always]

    def statistics_with(kept: Sequence[str]) -> FloatArray:
        return _held_out_statistics(data, _without(columns, kept), tuner, start, folds, seed)

    sign = 1.0 if data.metric.higher_is_better else -1.0
    path = [("", statistics_with(chosen))]
    scores = [_score(data.metric, path[0][1])]
    progress(1)
    with ThreadPoolExecutor(threads) as pool:  # the kernels of the tuners release the interpreter's lock
        while candidates and len(path) - 1 - int(np.argmax(sign * np.array(scores))) < PATIENCE:
            tried = list(pool.map(statistics_with, [[*chosen, family] for family in candidates]))
            merits = [sign * _score(data.metric, statistics) for statistics in tried]
            best = int(np.argmax(merits))
            path.append((candidates[best], tried[best]))
            scores.append(sign * merits[best])
            progress(len(candidates))
            chosen.append(candidates.pop(best))
    best = int(np.argmax(sign * np.array(scores)))
    errors = [standard_error(data.metric, path[best][1], statistics) for _, statistics in path]
    steps = tuple(
        SelectionStep(family, score, sign * (scores[best] - score), error)
        for (family, _), score, error in zip(path, scores, errors, strict=True)
    )
    owned = np.logical_or.reduce([*columns.values(), np.zeros(len(data.fixed), bool)])
    least = 2 if owned.all() and not order else 1  # a step with a family where there is nothing else to choose by
    kept = next((i for i, step in enumerate(steps, 1) if i >= least and step.behind <= margin * step.error), least)
    return Selection(steps, kept, order, tuple(candidates), folds, margin)


def standard_error(metric: Metric, statistics: FloatArray, other: FloatArray) -> float:
    """That of the difference between the corpus scores of two systems, whose statistics are (segments, S)."""
    segments = len(statistics)
    if segments < 2:
        return 0.0
    slope = metric_slope(metric, (statistics + other).sum(axis=0) / 2, segments)
    return float(np.std(gains_of(statistics - other, slope), ddof=1) / np.sqrt(segments))


def _score(metric: Metric, statistics: FloatArray) -> float:
    return float(metric.score(statistics.sum(axis=0)))


def _without(columns: Mapping[str, BoolArray], kept: Sequence[str]) -> BoolArray:
    """(all names): whether a feature belongs to a family, but to none that is kept."""
    owned, present = (
        np.logical_or.reduce([columns[family] for family in chosen] or [np.zeros(1, bool)])
        for chosen in (columns, kept)
    )
    return np.asarray(owned & ~present)


def _reduced(data: TuningData, start: FloatArray, without: BoolArray) -> tuple[TuningData, FloatArray]:
    """The data with these weights fixed at 0, and the start weights with zeros."""
    return replace(data, fixed=data.fixed | without), np.where(without, 0.0, start)


def _held_out_statistics(
    data: TuningData, without: BoolArray, tuner: Tuner, start: FloatArray, folds: int, seed: int
) -> FloatArray:
    """(segments, S): the statistics of the hypothesis chosen for each segment while it is held out."""
    statistics = np.empty((data.table.segments, data.statistics.shape[1]))
    reduced, reduced_start = _reduced(data, start, without)
    for fold in tuned_folds(reduced, tuner, reduced_start, folds, seed):
        statistics[fold.segments] = fold.data.statistics[fold.rows]
    return statistics


@dataclass
class Selecting(Tuner):
    """A tuner that selects families on its data before it tunes, so that the selection is cross-validated, too.

    `selector` tunes within the selection, which needs a fast tuner; `tuner` tunes the weights of the families kept.
    Selections are kept by the ids of the segments, so that tuners that share `selections` select once for all.
    """

    tuner: Tuner
    selector: Tuner
    families: Mapping[str, Sequence[str]]
    always: Collection[str] = ()
    folds: int = 5
    margin: float = 1.0
    threads: int = 1
    selections: dict[tuple[str, ...], Selection] = field(default_factory=dict)

    def tune(
        self,
        data: TuningData,
        start: FloatArray,
        rng: np.random.Generator,
        report: Callable[[TuningStep], None] = lambda step: None,
    ) -> TuningResult:
        """Select families, and tune their weights; all others get weight 0."""
        key = data.table.segment_ids
        if key not in self.selections:
            self.selections[key] = select_families(
                data, self.families, self.selector, start,
                always=self.always, folds=self.folds, margin=self.margin, threads=self.threads,
            )  # fmt: skip
        columns = {family: np.isin(data.table.all_names, names) for family, names in self.families.items()}
        without = _without(columns, self.selections[key].families)
        return self.tuner.tune(*_reduced(data, start, without), rng, report)
