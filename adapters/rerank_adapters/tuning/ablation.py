"""Measures what families of features contribute, when left out, added or selected, and how they correlate.

Every score is of choices on held-out folds of the tuning lists, and all sets of families are tried on the same folds.
Intervals and p-values come from resampling segments; they take the tuned weights as they are, so that they do not
cover the chance in the tuning itself (more seeds make that smaller).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from rerank_adapters.evaluation.comparisons import Resampling, paired_gains
from rerank_adapters.evaluation.significance import holm
from rerank_adapters.job.config import EvaluationSettings
from rerank_adapters.tuners.within_lists import correlations_within_lists
from rerank_adapters.tuning.families import Trial, Trials
from rerank_adapters.tuning.selection import forward_selection
from rerank_adapters.tuning.weight_intervals import WeightIntervals, resampled_weights, weight_intervals
from rerank_plugins import FloatArray
from rerank_plugins.core.contracts import checked_tuning

Part = Literal["left-out", "added", "selection", "correlations", "weights"]
PARTS: tuple[Part, ...] = ("left-out", "added", "selection", "correlations", "weights")


class Correlations(NamedTuple):
    """Pearson's r within lists of `names`, (names, names); nan where a feature is constant in every list."""

    names: tuple[str, ...]
    r: FloatArray


@dataclass(frozen=True)
class Ablation:
    """The measurements, of which only the parts that were requested are there.

    `whole` is the held-out score with all families, `base` the one with `base_families` alone. `trials` are those of
    each part. `correlations` has the features, and the families' weighted sums by the tuned weights, unless each family
    is a single feature. `weights` has the largest part first.
    """

    whole: float
    base: float
    base_families: tuple[str, ...]
    trials: Mapping[Part, Sequence[Trial]]
    correlations: Mapping[Literal["families", "features"], Correlations]
    weights: WeightIntervals
    folds: int
    seeds: int
    settings: EvaluationSettings


def ablate(
    trials: Trials,
    base: Sequence[str],
    parts: Collection[Part],
    settings: EvaluationSettings,
    *,
    samples: int,
    seed: int,
    groups: Sequence[str] | None = None,
) -> Ablation:
    """Measure the `parts`.

    `base` are the families that others are added to; `samples` is the number of resampled tuning sets, 0 for none.
    `groups` (segments) has the group of each segment, whole groups of which are resampled; None resamples segments.
    Raises ConfigError as `held_out` does.
    """
    everything, rows = list(trials.families), dict[Part, Sequence[Trial]]()
    whole, alone = map(trials.score, trials.choices([everything, base]))

    def tested(sets: Sequence[tuple[str, list[str], list[str]]], scored: int, randomisation: int) -> list[Trial]:
        """A row for each family, by the sets with and without it: the gain, and the score of one of the two sets."""
        choices = trials.choices(used for _, *both in sets for used in both)
        numbers = [(place, place + 1) for place in range(0, len(choices), 2)]
        resampling = Resampling(settings.bootstrap, randomisation, seed)
        gains = paired_gains(choices, numbers, trials.problem.metric, resampling, groups)
        adjusted = holm([gain.p for gain in gains if gain.p is not None]).tolist() or [None] * len(gains)
        return [
            Trial(family, len(trials.families[family]), trials.score(own), gain, p)
            for (family, *_), own, gain, p in zip(sets, choices[scored::2], gains, adjusted, strict=True)
        ]

    if "left-out" in parts:
        left = [(gone, everything, [family for family in everything if family != gone]) for gone in everything]
        rows["left-out"] = tested(left, 1, settings.randomisation)
    if "added" in parts:
        added = [(family, [*base, family], list(base)) for family in everything if family not in base]
        rows["added"] = tested(added, 0, settings.randomisation)
    if "selection" in parts:
        steps = [(after[-1], after, before) for before, after in pairwise(forward_selection(trials, base))]
        rows["selection"] = tested(steps, 0, 0)
    correlations, intervals = dict[Literal["families", "features"], Correlations](), WeightIntervals()
    if {"correlations", "weights"}.intersection(parts):
        problem, tuner, start = trials.problem, trials.tuner, trials.start
        weights = checked_tuning(tuner, problem, start, np.random.default_rng(seed)).weights
        trials.progress(1)
        if "correlations" in parts:
            correlations = _correlations(trials, weights)
        if "weights" in parts:
            drawn = resampled_weights(problem, tuner, start, samples, seed, trials.processes, trials.progress)
            found = weight_intervals(problem.table, weights, drawn)
            intervals = replace(found, rows=tuple(sorted(found.rows, key=lambda row: -abs(row.part))))
    return Ablation(whole, alone, tuple(base), rows, correlations, intervals, trials.folds, len(trials.seeds), settings)


def _correlations(trials: Trials, weights: FloatArray) -> dict[Literal["families", "features"], Correlations]:
    """The correlations of the families' parts of the score by tuned weights, and those of the dense features."""
    table = trials.problem.table
    features = Correlations(table.names, correlations_within_lists(table.values, table.offsets))
    if not any(len(names) > 1 for names in trials.families.values()):
        return {"features": features}
    own = [np.isin(table.all_names, list(names)) for names in trials.families.values()]
    sums = np.column_stack([table.scores(np.where(members, weights, 0.0)) for members in own])
    families = Correlations(tuple(trials.families), correlations_within_lists(sums, table.offsets))
    return {"families": families, "features": features}


def trials_needed(families: int, base: int, parts: Collection[Part]) -> int:
    """The number of sets of families that `ablate` tries, at most."""
    others = families - base
    steps = others * (others + 1) // 2 if "selection" in parts else 0
    return 2 + ("left-out" in parts) * families + max(("added" in parts) * others, steps)
