"""Measures what families of features contribute, when left out, added or selected, and how they correlate.

Every score is of choices on held-out folds of the tuning lists, and all sets of families are tried on the same folds.
Intervals and p-values come from resampling segments; they take the tuned weights as they are, so that they do not
cover the chance in the tuning itself (more seeds make that smaller).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from rerank_adapters.evaluation.comparisons import Gain, Resampling, paired_gains
from rerank_adapters.evaluation.significance import holm
from rerank_adapters.job.config import EvaluationSettings
from rerank_adapters.tuners.within_lists import correlations_within_lists
from rerank_adapters.tuning.families import FamilyTrials
from rerank_adapters.tuning.selection import forward_selection
from rerank_adapters.tuning.weight_intervals import TunedWeight, resampled_weights, tuned_weights
from rerank_plugins import FeatureTable, FloatArray
from rerank_plugins.core.contracts import checked_tuning

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
    settings: EvaluationSettings


def ablate(
    trials: FamilyTrials, base: Sequence[str], parts: Sequence[Part], settings: EvaluationSettings,
    *, samples: int, seed: int,
    groups: Sequence[str] | None = None, progress: Callable[[int], None] = lambda tuned: None,
) -> Ablation:  # fmt: skip
    """Measure the `parts`.

    `base` are the families that others are added to; `samples` is the number of resampled tuning sets, 0 for none.
    `groups` (segments) has the group of each segment, whole groups of which are resampled; None resamples segments.
    Raises ConfigError as `held_out` does.
    """
    everything = list(trials.families)
    others = [family for family in everything if family not in base]
    whole_choices, base_choices = trials.statistics([everything, base])

    def tested(
        families: Sequence[str], scored: Sequence[FloatArray], pairs: Sequence[tuple[FloatArray, FloatArray]],
        randomisation: int,
    ) -> tuple[Trial, ...]:  # fmt: skip
        """A row for each family: the score of its choices (segments, S), and the gain of its pair of choices."""
        choices = [statistics for pair in pairs for statistics in pair]
        numbers = [(2 * number, 2 * number + 1) for number in range(len(pairs))]
        resampling = Resampling(settings.bootstrap, randomisation, seed)
        gains = paired_gains(choices, numbers, trials.problem.metric, resampling, groups)
        adjusted = holm([gain.p for gain in gains if gain.p is not None]).tolist() or [None] * len(gains)
        return tuple(
            Trial(family, len(trials.families[family]), trials.score(held_out), gain, p)
            for family, held_out, gain, p in zip(families, scored, gains, adjusted, strict=True)
        )

    left_out: tuple[Trial, ...] = ()
    added: tuple[Trial, ...] = ()
    selection: tuple[Trial, ...] = ()
    if "left-out" in parts:
        without = trials.statistics([f for f in everything if f != family] for family in everything)
        left_out = tested(everything, without, [(whole_choices, own) for own in without], settings.randomisation)
    if "added" in parts:
        with_it = trials.statistics([*base, family] for family in others)
        added = tested(others, with_it, [(own, base_choices) for own in with_it], settings.randomisation)
    if "selection" in parts:
        path = forward_selection(trials, base)
        steps = [(step.statistics, before.statistics) for before, step in pairwise(path)]
        selection = tested([step.family for step in path[1:]], [own for own, _ in steps], steps, 0)
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


def single_features(table: FeatureTable) -> dict[str, list[str]]:
    """Each dense feature as a family of its own, and all sparse ones as one family."""
    sparse = {"sparse features": list(table.sparse.names)} if table.sparse.names else {}
    return {**{name: [name] for name in table.names}, **sparse}


def _by_weights(
    trials: FamilyTrials, parts: Sequence[Part], samples: int, seed: int, progress: Callable[[int], None]
) -> tuple[Correlations | None, Correlations | None, tuple[TunedWeight, ...]]:
    """What needs weights that are tuned on all lists: correlations of families and features, intervals of weights."""
    if "correlations" not in parts and "weights" not in parts:
        return None, None, ()
    problem, table = trials.problem, trials.problem.table
    weights = checked_tuning(trials.tuner, problem, trials.start, np.random.default_rng(seed)).weights
    progress(1)
    families = features = None
    if "correlations" in parts:
        features = Correlations(table.names, correlations_within_lists(table.values, table.offsets))
        if any(len(names) > 1 for names in trials.families.values()):
            own = [np.isin(table.all_names, list(names)) for names in trials.families.values()]
            sums = np.column_stack([table.scores(np.where(features_, weights, 0.0)) for features_ in own])
            families = Correlations(tuple(trials.families), correlations_within_lists(sums, table.offsets))
    if "weights" not in parts:
        return families, features, ()
    drawn = resampled_weights(
        problem, trials.tuner, trials.start, samples, seed, processes=trials.processes, progress=progress
    )
    rows = tuned_weights(table, weights, drawn)
    return families, features, tuple(sorted(rows, key=lambda row: -abs(row.part)))
