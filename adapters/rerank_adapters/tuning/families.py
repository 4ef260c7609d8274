"""What families of features are worth: held-out choices with some families at a time, and their differences.

A feature of the job with all its columns is a family, and the decoder's features are one more. A family is left out by
weights fixed at 0. All sets of families are tried on the same folds with the same random choices, so that their choices
can be compared segment by segment. Families that model the same thing stand in for each other: each is missed little
alone, and all of them may be missed much. Such families, those that a system leaves out, are judged together too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rerank_adapters.evaluation.comparisons import Gain
from rerank_adapters.evaluation.significance import Interval
from rerank_adapters.features.feature import Feature, names_of
from rerank_adapters.features.processes import HERE, Processes
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuners.within_lists import centred, gains_of, metric_slope
from rerank_adapters.tuning.held_out import Progress, held_out
from rerank_plugins import ConfigError, FeatureTable, FloatArray, Metric, Tuner, TuningData
from rerank_plugins.core.arrays import BoolArray
from rerank_plugins.core.errors import suggestion

Z = 1.96  # standard errors on both sides of a 95 % interval, in normal approximation
DECODER = "decoder"  # the family of the features that were not extracted

Families = Mapping[str, Sequence[str]]  # by name, the features of a family


def families_of(table: FeatureTable, features: Sequence[Feature]) -> dict[str, list[str]]:
    """The columns of the table by family: those of the decoder, then those of each extracted feature, by its label."""
    extracted = set(names_of(features))
    decoder = [name for name in table.all_names if name not in extracted]
    return {**({DECODER: decoder} if decoder else {}), **{feature.label: list(feature.names) for feature in features}}


def single_features(table: FeatureTable) -> dict[str, list[str]]:
    """Each dense feature as a family of its own, and all sparse ones as one family."""
    sparse = {"sparse features": list(table.sparse.names)} if table.sparse.names else {}
    return {**{name: [name] for name in table.names}, **sparse}


def fast_tuner(tuner: Tuner) -> Tuner:
    """The tuner that measures families in place of another: that one where it can be quick, and MIRA otherwise.

    A run for each family and fold is affordable only for a fast tuner.
    """
    return tuner.quick() or Mira()


@dataclass(frozen=True, eq=False)
class Trials:
    """Trials of one tuner on one tuning set with some families at a time; no set of families is tried twice.

    `families`  the names of the features of each family; a feature that is in none of them is always used
    `start`     the start weights, in the order of `problem.table.all_names`
    `folds`     the segments are divided into so many folds, once for each of the `seeds`
    `processes` do the trials; the results do not depend on their number
    `progress`  is called with the number of folds that have just been tuned
    """

    problem: TuningData
    families: Families
    tuner: Tuner
    start: FloatArray
    folds: int
    seeds: Sequence[int]
    processes: Processes = HERE
    progress: Progress = lambda folds: None
    _known: dict[frozenset[str], FloatArray] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Raise ConfigError where a family names no feature."""
        names = self.problem.table.all_names
        for family, members in self.families.items():
            if unknown := [name for name in members if name not in names]:
                raise ConfigError(f"family {family}: no feature named {unknown[0]!r}{suggestion(unknown[0], names)}")

    def choices(self, sets: Iterable[Collection[str]]) -> list[FloatArray]:
        """For each set of families, (segments, S): the metric's statistics of the held-out choices, summed over seeds.

        Where no feature is left, the choice is the first hypothesis of each list. Raises ConfigError as `held_out`.
        """
        wanted = [frozenset(used) for used in sets]
        tasks = [(used, seed) for used in dict.fromkeys(wanted) if used not in self._known for seed in self.seeds]
        found = self.processes.shared_results(self._chosen, tasks, lambda task: self.progress(self.folds))
        for (used, _), chosen in zip(tasks, found, strict=True):
            self._known[used] = self._known.get(used, 0.0) + chosen
        return [self._known[used] for used in wanted]

    def score(self, choices: FloatArray) -> float:
        """The corpus score of statistics (segments, S)."""
        return float(self.problem.metric.score(choices.sum(axis=0)))

    def merit(self, choices: FloatArray) -> float:
        """The score, negated for an error rate: higher is better."""
        return self.score(choices) if self.problem.metric.higher_is_better else -self.score(choices)

    def _chosen(self, task: tuple[frozenset[str], int]) -> FloatArray:
        used, seed = task
        gone = left_out(self.problem, self.families, used)
        if gone.all():
            return self.problem.statistics[self.problem.table.offsets[:-1]]
        reduced, start = without_features(self.problem, self.start, gone)
        return held_out(reduced, self.tuner, start, self.folds, seed).chosen


def left_out(problem: TuningData, families: Families, used: Collection[str]) -> BoolArray:
    """(all names): whether the feature belongs to families, but to none that is used."""
    kept = {name for family in used for name in families[family]}
    gone = {name for members in families.values() for name in members} - kept
    return np.array([name in gone for name in problem.table.all_names], bool)


def without_features(problem: TuningData, start: FloatArray, gone: BoolArray) -> tuple[TuningData, FloatArray]:
    """The problem in which the weights of these features are fixed, and the start weights in which they are 0."""
    return replace(problem, fixed=problem.fixed | gone), np.where(gone, 0.0, start)


def standard_error(metric: Metric, statistics: FloatArray, other: FloatArray) -> float:
    """That of the difference between the corpus scores of two systems, whose statistics are (segments, S).

    It is over segments, by the delta method: to first order a corpus score is a mean of gains.
    """
    segments = len(statistics)
    if segments < 2:
        return 0.0
    slope = metric_slope(metric, (statistics + other).sum(axis=0) / 2, segments)
    return float(np.std(gains_of(statistics - other, slope), ddof=1) / np.sqrt(segments))


@dataclass(frozen=True)
class Trial:
    """What a family of features, or several together, add to others on held-out lists.

    `features`  the number of their features
    `score`     the corpus score of the choices without them, or with them where they are added
    `gain`      by how much the choices with them are better than those without them
    `holm`      the p-value of the gain, corrected for the number of families that are tried in the same way; None
                where there is no p-value
    `spread`    the standard deviation within lists of their weighted sum, divided by that of the whole score; families
                that agree or cancel each other make these ratios sum to less or more than 1; None where there are no
                weights
    """

    family: str
    features: int
    score: float
    gain: Gain
    holm: float | None = None
    spread: float | None = None


@dataclass(frozen=True)
class Contributions:
    """Each family left out, several together too; the held-out score with all of them, on so many folds of segments.

    The interval of a gain is that of the delta method, in normal approximation.
    """

    rows: tuple[Trial, ...]
    held_out: float
    folds: int
    segments: int


def contributions(trials: Trials, weights: FloatArray, together: Families | None = None) -> Contributions:
    """Measure the contributions of the families of the trials to the tuned `weights`.

    `together` names families that are left out together as well (name -> families); their rows follow the others.
    `weights` are in the order of `trials.problem.table.all_names`. Raises ConfigError as `held_out` does.
    """
    table, metric, families = trials.problem.table, trials.problem.metric, trials.families
    parts = {**{family: (family,) for family in families}, **(together or {})}
    full, *reduced = trials.choices([families, *(set(families).difference(members) for members in parts.values())])
    whole = _spread(table, weights, np.ones(len(weights), bool)) or 1.0
    rows = []
    for (name, members), choices in zip(parts.items(), reduced, strict=True):
        own = np.isin(table.all_names, [feature for family in members for feature in families[family]])
        loss, half = trials.merit(full) - trials.merit(choices), Z * standard_error(metric, full, choices)
        gain, spread = Gain(loss, Interval(loss - half, loss + half), None), _spread(table, weights, own) / whole
        rows.append(Trial(name, int(own.sum()), trials.score(choices), gain, spread=spread))
    return Contributions(tuple(rows), trials.score(full), trials.folds, table.segments)


def _spread(table: FeatureTable, weights: FloatArray, features: BoolArray) -> float:
    """The standard deviation within lists of the weighted sum of these features, pooled over all lists."""
    return float(np.std(centred(table.scores(np.where(features, weights, 0.0)), table.offsets)))
