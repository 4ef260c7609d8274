"""What families of features are worth: held-out choices with some families at a time, and their differences.

A family is left out by weights fixed at 0. All sets of families are tried on the same folds with the same random
choices, so that their choices can be compared segment by segment. Families that model the same thing stand in for each
other: each is missed little alone, and all of them may be missed much. Such families, those that a system leaves out,
are judged together too.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from rerank_adapters.features.processes import HERE, Processes
from rerank_adapters.tuners.within_lists import centred, gains_of, metric_slope
from rerank_adapters.tuning.held_out import Progress, held_out
from rerank_plugins import ConfigError, FeatureTable, FloatArray, Metric, Tuner, TuningData
from rerank_plugins.core.arrays import BoolArray
from rerank_plugins.core.errors import suggestion

Families = Mapping[str, Sequence[str]]  # by name, the features of a family


@dataclass(frozen=True, eq=False)
class FamilyTrials:
    """Trials of one tuner on one tuning set; no set of families is tried twice.

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
        names = set(self.problem.table.all_names)
        for family, members in self.families.items():
            for name in members:
                if name not in names:
                    raise ConfigError(f"family {family}: no feature named {name!r}{suggestion(name, names)}")

    def statistics(self, trials: Iterable[Collection[str]]) -> list[FloatArray]:
        """For each set of families, (segments, S): the metric's statistics of the held-out choices, summed over seeds.

        Where no feature is left, the choice is the first hypothesis of each list. Raises ConfigError as `held_out`.
        """
        wanted = [frozenset(trial) for trial in trials]
        tasks = [(trial, seed) for trial in dict.fromkeys(wanted) if trial not in self._known for seed in self.seeds]
        found = {}
        for trial, seed, chosen in self.processes.shared_results(self._chosen, tasks):
            found[trial, seed] = chosen
            self.progress(self.folds)
        for trial, seed in tasks:  # summed in one order
            self._known[trial] = self._known.get(trial, 0.0) + found[trial, seed]
        return [self._known[trial] for trial in wanted]

    def score(self, statistics: FloatArray) -> float:
        """The corpus score of statistics (segments, S)."""
        return float(self.problem.metric.score(statistics.sum(axis=0)))

    def _chosen(self, task: tuple[frozenset[str], int]) -> tuple[frozenset[str], int, FloatArray]:
        used, seed = task
        without = left_out(self.problem.table.all_names, self.families, used)
        if without.all():
            return used, seed, self.problem.statistics[self.problem.table.offsets[:-1]]
        reduced, start = without_features(self.problem, self.start, without)
        return used, seed, held_out(reduced, self.tuner, start, self.folds, seed).chosen


def left_out(names: Sequence[str], families: Families, used: Collection[str]) -> BoolArray:
    """(names): whether the feature belongs to families, but to none that is used."""
    of_any = {name for members in families.values() for name in members}
    kept = {name for family in used for name in families[family]}
    return np.array([name in of_any and name not in kept for name in names], bool)


def without_features(problem: TuningData, start: FloatArray, without: BoolArray) -> tuple[TuningData, FloatArray]:
    """The problem in which the weights of these features are fixed, and the start weights in which they are 0."""
    return replace(problem, fixed=problem.fixed | without), np.where(without, 0.0, start)


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
class Contribution:
    """The contribution of one family of features, or of several that are left out together.

    `columns`   the number of their features
    `spread`    the standard deviation within lists of their weighted sum, divided by that of the whole score; families
                that agree or cancel each other make these ratios sum to less or more than 1
    `held_out`  the corpus score of choices on held-out folds, where all other families were tuned on the other folds
    `loss`      by how much that is worse than with all families; negative where the choices are better without it
    `error`     the standard error of the loss over segments
    """

    family: str
    columns: int
    spread: float
    held_out: float
    loss: float
    error: float

    @property
    def half_width(self) -> float:
        """Half the width of the 95 % interval of the loss, in normal approximation."""
        return 1.96 * self.error

    @property
    def certain(self) -> bool:
        """Whether the interval excludes zero."""
        return abs(self.loss) > self.half_width


@dataclass(frozen=True)
class Contributions:
    """The contributions of all families, and the held-out score with all of them, over so many folds of segments."""

    rows: tuple[Contribution, ...]
    held_out: float
    folds: int
    segments: int


def contributions(
    trials: FamilyTrials, weights: FloatArray, together: Mapping[str, Sequence[str]] | None = None
) -> Contributions:
    """Measure the contributions of the families of the trials to the tuned `weights`.

    `together` names families that are left out together as well (name -> families); their rows follow the others.
    `weights` are in the order of `trials.problem.table.all_names`. Raises ConfigError as `held_out` does.
    """
    table, metric, families = trials.problem.table, trials.problem.metric, trials.families
    parts = {**{family: (family,) for family in families}, **(together or {})}
    full, *reduced = trials.statistics([families, *(set(families).difference(members) for members in parts.values())])
    whole = spread_of(table, weights, np.ones(len(weights), bool)) or 1.0
    sign = 1.0 if metric.higher_is_better else -1.0
    rows = []
    for (name, members), statistics in zip(parts.items(), reduced, strict=True):
        own = np.isin(table.all_names, [feature for family in members for feature in families[family]])
        score = trials.score(statistics)
        loss, error = sign * (trials.score(full) - score), standard_error(metric, full, statistics)
        rows.append(Contribution(name, int(own.sum()), spread_of(table, weights, own) / whole, score, loss, error))
    return Contributions(tuple(rows), trials.score(full), trials.folds, table.segments)


def spread_of(table: FeatureTable, weights: FloatArray, features: BoolArray) -> float:
    """The standard deviation within lists of the weighted sum of these features, pooled over all lists."""
    return float(np.std(centred(table.scores(np.where(features, weights, 0.0)), table.offsets)))


def as_json(result: Contributions | None) -> str:
    """The contributions as JSON."""
    return json.dumps(None if result is None else asdict(result), ensure_ascii=False, indent=1) + "\n"


def from_json(text: str) -> Contributions | None:
    """The contributions in a text that `as_json` has made."""
    record = json.loads(text)
    return record and Contributions(**{**record, "rows": tuple(Contribution(**row) for row in record["rows"])})
