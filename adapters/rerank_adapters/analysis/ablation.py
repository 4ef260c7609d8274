"""Measures what families of features contribute, when left out, added or selected, and how they correlate.

Every score is of choices on held-out folds of the tuning lists, and all sets of families are tried on the same folds.
Intervals and p-values come from resampling segments; they take the tuned weights as they are, so that they do not
cover the chance in the tuning itself (more seeds make that smaller).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from rerank_adapters.evaluation.result import by_name
from rerank_adapters.evaluation.significance import Gain, holm, paired_gains
from rerank_adapters.report.facts import TunedWeight
from rerank_adapters.tuners.within_lists import correlations_within_lists
from rerank_plugins import FloatArray
from rerank_plugins.core.metrics_and_tuners import TuningData

if TYPE_CHECKING:
    from rerank_adapters.chain.tuning.selection import FamilyTrials
    from rerank_adapters.job.config import Evaluation

Part = Literal["left-out", "added", "selection", "correlations", "weights"]
PARTS: tuple[Part, ...] = ("left-out", "added", "selection", "correlations", "weights")


@dataclass(frozen=True)
class Trial:
    """A family that is left out, added or selected: the held-out score then, and what the family gains.

    `holm` is the p-value of the gain, corrected for the number of families that are tried in the same way; None where
    there is no p-value.
    """

    family: str
    features: int
    score: float
    gain: Gain
    holm: float | None = None


@dataclass(frozen=True)
class Correlations:
    """Pearson's r within lists of `names`, (names, names); nan where a feature is constant in every list."""

    names: tuple[str, ...]
    r: FloatArray

    def pairs(self) -> list[tuple[str, str, float]]:
        """Each pair that has an r, the strongest first."""
        rows, columns = np.triu_indices(len(self.names), 1)
        values = self.r[rows, columns]
        order = np.argsort(-np.abs(np.nan_to_num(values)), kind="stable")
        return [
            (self.names[rows[i]], self.names[columns[i]], float(values[i])) for i in order if not np.isnan(values[i])
        ]


@dataclass(frozen=True)
class Ablation:
    """The measurements; a part that was not requested is empty, or None.

    `whole` is the held-out score with all families, `base` the one with `base_families` alone. `families` are the
    correlations of the families' weighted sums, by the tuned weights; None where each family is a single feature.
    """

    whole: float
    base: float
    base_families: tuple[str, ...]
    left_out: tuple[Trial, ...]
    added: tuple[Trial, ...]
    selection: tuple[Trial, ...]
    families: Correlations | None
    features: Correlations | None
    weights: tuple[TunedWeight, ...]
    folds: int
    seeds: int
    samples: int
    settings: Evaluation


def ablate(
    trials: FamilyTrials, base: Sequence[str], parts: Sequence[Part], settings: Evaluation, *, samples: int, seed: int,
    groups: Sequence[str] | None = None, progress: Callable[[int], None] = lambda tuned: None,
) -> Ablation:  # fmt: skip
    """Measure the `parts`.

    `base` are the families that others are added to; `samples` is the number of resampled tuning sets, 0 for none.
    `groups` (segments) has the group of each segment, whole groups of which are resampled; None resamples segments.
    """
    from rerank_adapters.chain.tuning.selection import forward_selection

    tests = _Tests(trials, settings, seed, groups)
    everything = list(trials.families)
    others = [family for family in everything if family not in base]
    whole_choices, base_choices = trials.statistics([everything, base])
    left_out: tuple[Trial, ...] = ()
    added: tuple[Trial, ...] = ()
    selection: tuple[Trial, ...] = ()
    if "left-out" in parts:
        without = trials.statistics([f for f in everything if f != family] for family in everything)
        pairs = [(whole_choices, choices) for choices in without]
        left_out = tests.trials(everything, without, pairs, corrected=True)
    if "added" in parts:
        with_ = trials.statistics([*base, family] for family in others)
        added = tests.trials(others, with_, [(choices, base_choices) for choices in with_], corrected=True)
    if "selection" in parts:
        _, *steps = path = forward_selection(trials, base)
        pairs = [(step.statistics, before.statistics) for before, step in pairwise(path)]
        choices = [step.statistics for step in steps]
        selection = tests.trials([step.family for step in steps], choices, pairs, corrected=False)
    families, features, weights = _by_weights(trials, parts, samples, seed, progress)
    return Ablation(
        trials.score(whole_choices), trials.score(base_choices), tuple(base), left_out, added, selection, families,
        features, weights, trials.folds, len(trials.seeds), samples, settings,
    )  # fmt: skip


def trials_needed(families: int, base: int, parts: Sequence[Part]) -> int:
    """The number of sets of families that `ablate` tries, at most."""
    others = families - base
    steps = others * (others + 1) // 2 if "selection" in parts else 0
    return 2 + ("left-out" in parts) * families + max(("added" in parts) * others, steps)


@dataclass(frozen=True)
class _Tests:
    """Makes the rows of a table of trials, with tests over segments or groups of segments."""

    trials_of: FamilyTrials
    settings: Evaluation
    seed: int
    groups: Sequence[str] | None

    def trials(
        self, families: Sequence[str], choices: Sequence[FloatArray], pairs: Sequence[tuple[FloatArray, FloatArray]], *,
        corrected: bool,
    ) -> tuple[Trial, ...]:  # fmt: skip
        """A row for each family: the score of its choices (segments, S), and the gain of its pair of choices."""
        flat = [self._units(statistics) for pair in pairs for statistics in pair]
        gains = paired_gains(
            flat,
            [(2 * number, 2 * number + 1) for number in range(len(pairs))],
            self.trials_of.data.metric,
            bootstrap=self.settings.bootstrap,
            randomisation=self.settings.randomisation if corrected else 0,
            seed=self.seed,
        )
        p_values = [gain.p for gain in gains if gain.p is not None]
        adjusted: Sequence[float | None] = holm(p_values).tolist() if p_values else [None] * len(gains)
        return tuple(
            Trial(family, len(self.trials_of.families[family]), self.trials_of.score(held_out), gain, p)
            for family, held_out, gain, p in zip(families, choices, gains, adjusted, strict=True)
        )

    def _units(self, statistics: FloatArray) -> FloatArray:
        """The statistics of what is resampled: of segments, or summed over the segments of each group."""
        if self.groups is None:
            return statistics
        return np.stack([statistics[list(group.segments)].sum(axis=0) for group in by_name(self.groups)])


def _by_weights(
    trials: FamilyTrials, parts: Sequence[Part], samples: int, seed: int, progress: Callable[[int], None]
) -> tuple[Correlations | None, Correlations | None, tuple[TunedWeight, ...]]:
    """What needs weights that are tuned on all lists: correlations of families and features, intervals of weights."""
    from rerank_adapters.analysis.weight_intervals import resampled_weights, tuned_weights

    if "correlations" not in parts and "weights" not in parts:
        return None, None, ()
    data, table = trials.data, trials.data.table
    weights = trials.tuner.tune(data, trials.start, np.random.default_rng(seed)).weights
    progress(1)
    families = features = None
    if "correlations" in parts:
        features = Correlations(table.names, correlations_within_lists(table.values, table.offsets))
    if "correlations" in parts and any(len(names) > 1 for names in trials.families.values()):
        sums = np.column_stack([_weighted_sum(data, weights, trials.families[name]) for name in trials.families])
        families = Correlations(tuple(trials.families), correlations_within_lists(sums, table.offsets))
    if "weights" not in parts:
        return families, features, ()
    resampled = resampled_weights(data, trials.tuner, trials.start, samples, seed, jobs=trials.jobs, progress=progress)
    rows = tuned_weights(table, weights, resampled)
    return families, features, tuple(sorted(rows, key=lambda row: -abs(row.part)))


def _weighted_sum(data: TuningData, weights: FloatArray, names: Sequence[str]) -> FloatArray:
    """(rows) the weighted sum of these features."""
    chosen = np.isin(data.table.all_names, list(names))
    return data.table.scores(np.where(chosen, weights, 0.0))


def families_of_features(table_names: Sequence[str], sparse: Sequence[str]) -> Mapping[str, list[str]]:
    """Each dense feature as a family of its own, and all sparse ones as one family."""
    return {**{name: [name] for name in table_names}, **({"sparse features": list(sparse)} if sparse else {})}
