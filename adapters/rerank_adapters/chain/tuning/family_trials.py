"""Cross-validation of a tuner that may use some families of features and not others.

A family is left out by weights fixed at 0. All trials have the same folds and random choices, so that their held-out
choices can be compared segment by segment.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from rerank_adapters.chain.tuning.held_out import check_folds, tuned_folds
from rerank_plugins.core.arrays import BoolArray, FloatArray, LongArray
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.metrics_and_tuners import Tuner, TuningData
from rerank_plugins.core.registry import suggestion

Families = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class FamilyTrials:
    """Trials of one tuner on one tuning set; no set of families is tried twice.

    `families`  the names of the features of each family; a feature that is in none of them is always used
    `start`     the start weights, in the order of `data.table.all_names`
    `folds`     the segments are divided into so many folds, once for each of the `seeds`
    `threads`   so many trials run at once; the results do not depend on it
    `progress`  is called with the number of folds that have just been tuned
    """

    data: TuningData
    families: Families
    tuner: Tuner
    start: FloatArray
    folds: int
    seeds: Sequence[int]
    threads: int = 1
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
        with ThreadPoolExecutor(self.threads) as pool:  # the kernels of the tuners release the interpreter's lock
            runs = [[pool.submit(self._held_out, trial, seed) for seed in self.seeds] for trial in new]
            for trial, seeds in zip(new, runs, strict=True):
                self._known[trial] = np.sum([run.result() for run in seeds], axis=0)
        return [self._known[trial] for trial in wanted]

    def scores(self, trials: Iterable[Collection[str]]) -> list[float]:
        """For each set of families the corpus score of its held-out choices, those of all seeds together."""
        return [self.score(statistics) for statistics in self.statistics(trials)]

    def score(self, statistics: FloatArray) -> float:
        """The corpus score of statistics (segments, S)."""
        return float(self.data.metric.score(statistics.sum(axis=0)))

    def _held_out(self, used: Collection[str], seed: int) -> FloatArray:
        without = left_out(self.data.table.all_names, self.families, used)
        statistics = np.empty((self.data.table.segments, self.data.statistics.shape[1]))
        if without.all():
            self.progress(self.folds)
            return self.data.statistics[self.data.table.offsets[:-1]]
        reduced = replace(self.data, fixed=self.data.fixed | without)
        for fold in tuned_folds(reduced, self.tuner, np.where(without, 0.0, self.start), self.folds, seed):
            statistics[fold.segments] = fold.data.statistics[fold.rows]
            self.progress(1)
        return statistics


def left_out(names: Sequence[str], families: Families, used: Collection[str]) -> BoolArray:
    """(names): whether the feature belongs to families, but to none that is used."""
    of_any = {name for members in families.values() for name in members}
    kept = {name for family in used for name in families[family]}
    return np.array([name in of_any and name not in kept for name in names], bool)
