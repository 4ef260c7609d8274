"""Selects the families of features to keep, by forward selection on the cross-validated score of the tuning set.

From the families that are there from the start, the one whose addition gives the best held-out score is added, then the
next: F (F + 1) / 2 cross-validations of F families.

Each step chooses the best of several noisy scores, which are too good to be true, so not the best set is kept, but the
smallest one whose score is at most `margin` standard errors below: the one-standard-error rule (Breiman et al. 1984,
section 3.4.3). The standard error is that of the difference of the two scores, over the same segments. What the
families chosen are worth shows on other lists.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rerank_adapters.features.processes import HERE, Processes
from rerank_adapters.tuning.families import Families, FamilyTrials, left_out, standard_error, without_features
from rerank_adapters.tuning.held_out import Progress
from rerank_plugins import FeatureTable, FloatArray, Tuner, TuningData, TuningResult
from rerank_plugins.core.contracts import checked_tuning
from rerank_plugins.core.metrics_and_tuners import TuningReport

SELECTION = "selection"  # the key of a provenance under which weights record a selection
ROUNDS_WITHOUT_GAIN = 3  # after which the search ends


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


@dataclass(frozen=True, eq=False)
class Addition:
    """A family that was added ("" for none yet), and the held-out score with it and all families before it.

    `statistics` (segments, S) are those of the held-out choices, for comparisons.
    """

    family: str
    score: float
    statistics: FloatArray


def forward_selection(trials: FamilyTrials, base: Sequence[str] = (), *, patience: int | None = None) -> list[Addition]:
    """Add one family after another to those of `base`, the best first; of equal scores the earlier family wins.

    The first step has the families of `base` alone. The search ends when all families are in, or after `patience`
    steps in a row without a better score than any before.
    """
    sign = 1.0 if trials.problem.metric.higher_is_better else -1.0
    used = list(base)
    (statistics,) = trials.statistics([used])
    steps = [Addition("", trials.score(statistics), statistics)]
    best, since = sign * steps[0].score, 0
    while remaining := [family for family in trials.families if family not in used]:
        choices = trials.statistics([*used, family] for family in remaining)
        scores = [trials.score(held_out) for held_out in choices]
        first = max(range(len(remaining)), key=lambda i: sign * scores[i])
        steps.append(Addition(remaining[first], scores[first], choices[first]))
        used.append(remaining[first])
        since = 0 if sign * scores[first] > best else since + 1
        best = max(best, sign * scores[first])
        if patience is not None and since >= patience:
            break
    return steps


@dataclass
class Selecting(Tuner):
    """A tuner that selects families on its data before it tunes, so that the selection is cross-validated, too.

    `selector` tunes within the selection, which needs a fast tuner; `tuner` tunes the weights of the families kept.
    The families (name -> feature names) in `always` are kept, and features of no family are as well. Selections are
    kept by the ids of the segments, so that tuners that share `selections` select once for all.
    """

    tuner: Tuner
    selector: Tuner
    families: Families
    always: Collection[str] = ()
    folds: int = 5
    margin: float = 1.0
    processes: Processes = HERE
    selections: dict[tuple[str, ...], Selection] = field(default_factory=dict)

    def select(
        self, data: TuningData, start: FloatArray, seed: int = 1, progress: Progress = lambda folds: None
    ) -> Selection:
        """The families that are kept. All sets share the folds, which depend on `seed`.

        At least one is kept where all features belong to families. Raises ConfigError for a wrong number of folds.
        """
        order = tuple(family for family in self.families if family in self.always)
        trials = FamilyTrials(data, self.families, self.selector, start, self.folds, (seed,), self.processes, progress)
        path = forward_selection(trials, order, patience=ROUNDS_WITHOUT_GAIN)
        sign = 1.0 if data.metric.higher_is_better else -1.0
        best = max(path, key=lambda step: sign * step.score)
        steps = tuple(
            SelectionStep(
                step.family, step.score, sign * (best.score - step.score),
                standard_error(data.metric, best.statistics, step.statistics),
            )
            for step in path
        )  # fmt: skip
        owned = {name for names in self.families.values() for name in names}
        all_owned = owned.issuperset(data.table.all_names)
        least = 2 if all_owned and not order else 1  # a step with a family where there is nothing else to choose by
        kept = next((i for i, s in enumerate(steps, 1) if i >= least and s.behind <= self.margin * s.error), least)
        untried = tuple(name for name in self.families if name not in (*order, *(step.family for step in path)))
        return Selection(steps, kept, order, untried, self.folds, self.margin)

    def tune(
        self, data: TuningData, start: FloatArray, rng: np.random.Generator, report: TuningReport = lambda step: None
    ) -> TuningResult:
        """Select families, and tune their weights; all others get weight 0."""
        key = data.table.segment_ids
        if key not in self.selections:
            self.selections[key] = self.select(data, start)
        without = left_out(data.table.all_names, self.families, self.selections[key].families)
        reduced, own_start = without_features(data, start, without)
        return checked_tuning(self.tuner, reduced, own_start, rng, report)


def selected_columns(table: FeatureTable, extracted: Collection[str], weighted: Collection[str]) -> FeatureTable:
    """The table without those of the `extracted` features that a selection has left out: no weight is for them."""
    kept = [i for i, name in enumerate(table.names) if name in weighted or name not in extracted]
    if len(kept) == len(table.names):
        return table
    return replace(table, names=tuple(table.names[i] for i in kept), values=np.asarray(table.values[:, kept]))
