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
from dataclasses import dataclass

import numpy as np

from rerank_adapters.features.processes import HERE, Processes
from rerank_adapters.tuning.families import Families, Trials, left_out, standard_error, without_features
from rerank_adapters.tuning.held_out import Progress
from rerank_plugins import FloatArray, Tuner, TuningData, TuningResult
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


def forward_selection(trials: Trials, base: Sequence[str] = (), *, patience: int | None = None) -> list[list[str]]:
    """The sets that grow from the families of `base`, which are the first set, by the best family at a time.

    Of equal scores the earlier family wins. The search ends when all families are in, or after `patience` steps in a
    row without a better score than any before.
    """
    sets, merits = [list(base)], list(map(trials.merit, trials.choices([base])))
    while grown := [[*sets[-1], family] for family in trials.families if family not in sets[-1]]:
        found = list(map(trials.merit, trials.choices(grown)))
        sets.append(grown[int(np.argmax(found))])
        merits.append(max(found))
        if patience is not None and int(np.argmax(merits)) + patience < len(merits):
            break
    return sets


def select(trials: Trials, always: Collection[str], margin: float) -> Selection:
    """The smallest set of a forward selection at most `margin` standard errors behind the best; `always` are in it.

    At least one family is kept where all features belong to families. Raises ConfigError for a wrong number of folds.
    """
    order = tuple(family for family in trials.families if family in always)
    sets = forward_selection(trials, order, patience=ROUNDS_WITHOUT_GAIN)
    choices = trials.choices(sets)
    best = max(choices, key=trials.merit)
    steps = tuple(
        SelectionStep(
            family=family,
            held_out=trials.score(own),
            behind=trials.merit(best) - trials.merit(own),
            error=standard_error(trials.problem.metric, best, own),
        )
        for family, own in zip(["", *(families[-1] for families in sets[1:])], choices, strict=True)
    )
    owned = {name for names in trials.families.values() for name in names}
    empty = owned.issuperset(trials.problem.table.all_names) and not order  # of features, before the first step
    least = 2 if empty else 1
    kept = next((i for i, own in enumerate(steps, 1) if i >= least and own.behind <= margin * own.error), least)
    untried = tuple(name for name in trials.families if name not in sets[-1])
    return Selection(steps, kept, order, untried, trials.folds, margin)


@dataclass
class Selecting(Tuner):
    """A tuner that selects families on its data before it tunes, so that the selection is cross-validated, too.

    `selector` tunes within the selection, which needs a fast tuner; `tuner` tunes the weights of the families kept.
    The families (name -> feature names) in `always` are kept, and features of no family are as well.
    """

    tuner: Tuner
    selector: Tuner
    families: Families
    always: Collection[str] = ()
    folds: int = 5
    margin: float = 1.0
    processes: Processes = HERE

    def select(
        self, data: TuningData, start: FloatArray, seed: int = 1, progress: Progress = lambda folds: None
    ) -> Selection:
        """The families that are kept. All sets share the folds, which depend on `seed`."""
        trials = Trials(data, self.families, self.selector, start, self.folds, (seed,), self.processes, progress)
        return select(trials, self.always, self.margin)

    def tune(
        self, data: TuningData, start: FloatArray, rng: np.random.Generator, report: TuningReport = lambda step: None
    ) -> TuningResult:
        """Select families, and tune their weights; all others get weight 0."""
        gone = left_out(data, self.families, self.select(data, start).families)
        return checked_tuning(self.tuner, *without_features(data, start, gone), rng, report)
