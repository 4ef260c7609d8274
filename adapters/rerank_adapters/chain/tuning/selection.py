"""Selects the families of features to keep, by forward selection (forward_selection.py) on the tuning set.

The selection ends after PATIENCE rounds in a row that have brought nothing. The best of many noisy scores is too good
to be true, so not the best set is kept, but the smallest one whose score is at most `margin` standard errors below: the
one-standard-error rule (Breiman et al. 1984, section 3.4.3). The standard error is that of the difference of the two
scores, over the same segments, by the delta method: to first order a corpus score is a mean of gains (gains.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rerank_adapters.chain.tuning.family_trials import FamilyTrials, left_out
from rerank_adapters.chain.tuning.forward_selection import forward_selection
from rerank_adapters.tuners.gains import gains_of, metric_slope
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.metrics_and_tuners import Metric, Tuner, TuningData, TuningResult, TuningStep

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
    progress: Callable[[int], None] = lambda folds: None,
) -> Selection:
    """Select families (name -> feature names); those in `always` are kept, and features of no family are as well.

    A family is left out by weights fixed at 0. At least one is kept where all features belong to families. All sets
    share the folds, which depend on `seed`. `progress` is called with the number of folds that have just been tuned.
    Raises ConfigError for a wrong number of folds.
    """
    order = tuple(family for family in families if family in always)
    trials = FamilyTrials(data, families, tuner, start, folds, (seed,), threads, progress)
    growth = forward_selection(trials, order, patience=PATIENCE)
    sign = 1.0 if data.metric.higher_is_better else -1.0
    path = [("", growth.base_statistics), *((step.family, step.statistics) for step in growth.steps)]
    scores = [growth.base_score, *(step.score for step in growth.steps)]
    best = int(np.argmax(sign * np.array(scores)))
    errors = [standard_error(data.metric, path[best][1], statistics) for _, statistics in path]
    steps = tuple(
        SelectionStep(family, score, sign * (scores[best] - score), error)
        for (family, _), score, error in zip(path, scores, errors, strict=True)
    )
    owned = {name for names in families.values() for name in names}
    all_owned = owned.issuperset(data.table.all_names)
    least = 2 if all_owned and not order else 1  # a step with a family where there is nothing else to choose by
    kept = next((i for i, step in enumerate(steps, 1) if i >= least and step.behind <= margin * step.error), least)
    untried = tuple(family for family in families if family not in order and family not in {f for f, _ in path})
    return Selection(steps, kept, order, untried, folds, margin)


def standard_error(metric: Metric, statistics: FloatArray, other: FloatArray) -> float:
    """That of the difference between the corpus scores of two systems, whose statistics are (segments, S)."""
    segments = len(statistics)
    if segments < 2:
        return 0.0
    slope = metric_slope(metric, (statistics + other).sum(axis=0) / 2, segments)
    return float(np.std(gains_of(statistics - other, slope), ddof=1) / np.sqrt(segments))


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
        without = left_out(data.table.all_names, self.families, self.selections[key].families)
        reduced = replace(data, fixed=data.fixed | without)
        return self.tuner.tune(reduced, np.where(without, 0.0, start), rng, report)
