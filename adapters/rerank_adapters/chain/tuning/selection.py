"""Selects the families of features to keep, by forward selection on the cross-validated score of the tuning set.

From the families that are there from the start, the one whose addition gives the best held-out score is added, then the
next: F (F + 1) / 2 cross-validations of F families. A family is left out by weights fixed at 0. All trials have the
same folds and random choices, so that their held-out choices can be compared segment by segment.

Each step chooses the best of several noisy scores, which are too good to be true, so not the best set is kept, but the
smallest one whose score is at most `margin` standard errors below: the one-standard-error rule (Breiman et al. 1984,
section 3.4.3). The standard error is that of the difference of the two scores, over the same segments, by the delta
method: to first order a corpus score is a mean of gains. What the families chosen are worth shows on other lists.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rerank_adapters.chain.tuning.cross_validation import check_folds, tuned_folds
from rerank_adapters.report import numbers
from rerank_adapters.report.tables import Table
from rerank_adapters.runtime.workers import shared_out
from rerank_adapters.tuners.within_lists import gains_of, metric_slope
from rerank_plugins import ConfigError, FloatArray, Metric, Tuner, TuningData, TuningResult
from rerank_plugins.core.arrays import BoolArray, LongArray
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.metrics_and_tuners import TuningReport

Families = Mapping[str, Sequence[str]]
PATIENCE = 3  # rounds without a new best score after which the search ends


@dataclass(frozen=True, eq=False)
class FamilyTrials:
    """Trials of one tuner on one tuning set; no set of families is tried twice.

    `families`  the names of the features of each family; a feature that is in none of them is always used
    `start`     the start weights, in the order of `data.table.all_names`
    `folds`     the segments are divided into so many folds, once for each of the `seeds`
    `jobs`      so many trials run at once, in processes of their own; the results do not depend on it
    `progress`  is called with the number of folds that have just been tuned
    """

    data: TuningData
    families: Families
    tuner: Tuner
    start: FloatArray
    folds: int
    seeds: Sequence[int]
    jobs: int = 1
    progress: Callable[[int], None] = lambda folds: None
    _known: dict[frozenset[str], FloatArray] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Check the folds. Raises ConfigError as `check_folds` does, and where a family names no feature."""
        check_folds(self.folds, self.data.table.segments)
        names = set(self.data.table.all_names)
        for family, members in self.families.items():
            for name in members:
                if name not in names:
                    raise ConfigError(f"family {family}: no feature named {name!r}{suggestion(name, names)}")

    def columns(self, family: str) -> LongArray:
        """The numbers of a family's features among `data.table.all_names`."""
        position = {name: column for column, name in enumerate(self.data.table.all_names)}
        return np.array([position[name] for name in self.families[family]], np.int64)

    def statistics(self, trials: Iterable[Collection[str]]) -> list[FloatArray]:
        """For each set of families, (segments, S): the metric's statistics of the held-out choices, summed over seeds.

        Where no feature is left, the choice is the first hypothesis of each list.
        """
        wanted = [frozenset(trial) for trial in trials]
        new = [trial for trial in dict.fromkeys(wanted) if trial not in self._known]
        runs = [(trial, seed) for trial in new for seed in self.seeds]
        for (trial, _), held_out in zip(runs, shared_out(self._held_out, runs, self.jobs, "the tuner"), strict=True):
            self._known[trial] = self._known.get(trial, 0.0) + held_out
            self.progress(self.folds)
        return [self._known[trial] for trial in wanted]

    def score(self, statistics: FloatArray) -> float:
        """The corpus score of statistics (segments, S)."""
        return float(self.data.metric.score(statistics.sum(axis=0)))

    def _held_out(self, run: tuple[Collection[str], int]) -> FloatArray:
        used, seed = run
        without = left_out(self.data.table.all_names, self.families, used)
        statistics = np.empty((self.data.table.segments, self.data.statistics.shape[1]))
        if without.all():
            return self.data.statistics[self.data.table.offsets[:-1]]
        reduced = replace(self.data, fixed=self.data.fixed | without)
        for fold in tuned_folds(reduced, self.tuner, np.where(without, 0.0, self.start), self.folds, seed):
            statistics[fold.segments] = fold.data.statistics[fold.rows]
        return statistics


def left_out(names: Sequence[str], families: Families, used: Collection[str]) -> BoolArray:
    """(names): whether the feature belongs to families, but to none that is used."""
    of_any = {name for members in families.values() for name in members}
    kept = {name for family in used for name in families[family]}
    return np.array([name in of_any and name not in kept for name in names], bool)


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


def standard_error(metric: Metric, statistics: FloatArray, other: FloatArray) -> float:
    """That of the difference between the corpus scores of two systems, whose statistics are (segments, S)."""
    segments = len(statistics)
    if segments < 2:
        return 0.0
    slope = metric_slope(metric, (statistics + other).sum(axis=0) / 2, segments)
    return float(np.std(gains_of(statistics - other, slope), ddof=1) / np.sqrt(segments))


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
    sign = 1.0 if trials.data.metric.higher_is_better else -1.0
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
    jobs: int = 1
    selections: dict[tuple[str, ...], Selection] = field(default_factory=dict)

    def select(
        self, data: TuningData, start: FloatArray, seed: int = 1, progress: Callable[[int], None] = lambda folds: None
    ) -> Selection:
        """The families that are kept. All sets share the folds, which depend on `seed`.

        At least one is kept where all features belong to families. `progress` is called with the number of folds that
        have just been tuned. Raises ConfigError for a wrong number of folds.
        """
        order = tuple(family for family in self.families if family in self.always)
        trials = FamilyTrials(data, self.families, self.selector, start, self.folds, (seed,), self.jobs, progress)
        path = forward_selection(trials, order, patience=PATIENCE)
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
        reduced = replace(data, fixed=data.fixed | without)
        return self.tuner.tune(reduced, np.where(without, 0.0, start), rng, report)


def selection_table(result: Selection, metric: str) -> Table:
    """A row per step of a selection of families: what it added, the held-out score, how far that is behind the best."""
    rows = []
    for number, step in enumerate(result.steps):
        added = f"+ {step.family}" if step.family else " ".join(result.always) or "the decoder's order"
        behind = "best" if step.behind == step.error == 0 else f"{step.behind:.2f} ± {step.error:.2f}"
        rows.append((added, numbers.score(step.held_out), behind, "kept" if number < result.kept else "left out"))
    notes = (
        f"Held out: {metric} of choices on {result.folds} folds of the tuning lists, each with weights tuned on the "
        f"others. The smallest set is kept that is at most {result.margin:g} standard errors behind the best.",
        *((f"Nothing was gained, so these were not added: {', '.join(result.untried)}.",) if result.untried else ()),
    )
    return Table(
        f"Selection of features: {metric}", ("features", "held out", "behind the best", ""), tuple(rows), notes
    )
