"""Measures what families of features contribute, when left out, added or selected, and how they correlate.

Every score is of choices on held-out folds of the tuning lists, and all sets of families are tried on the same folds.
Intervals and p-values come from resampling segments; they take the tuned weights as they are, so that they do not
cover the chance in the tuning itself (more seeds make that smaller).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from rerank_adapters.evaluation.comparisons import Resampling, paired_gains
from rerank_adapters.evaluation.significance import holm
from rerank_adapters.job.config import EvaluationSettings
from rerank_adapters.tuners.within_lists import correlations_within_lists
from rerank_adapters.tuning.families import Trial, Trials
from rerank_adapters.tuning.selection import forward_selection
from rerank_adapters.tuning.weight_intervals import TunedWeight, resampled_weights, weight_intervals
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
    everything = list(trials.families)
    others = [family for family in everything if family not in base]
    whole, alone = trials.choices([everything, base])

    def tested(
        families: Sequence[str], scored: Sequence[FloatArray], pairs: Iterable[tuple[FloatArray, FloatArray]],
        randomisation: int = settings.randomisation,
    ) -> tuple[Trial, ...]:  # fmt: skip
        """A row for each family: the score of its choices (segments, S), and the gain of its pair of choices."""
        choices = [own for pair in pairs for own in pair]
        numbers = [(2 * number, 2 * number + 1) for number in range(len(families))]
        resampling = Resampling(settings.bootstrap, randomisation, seed)
        gains = paired_gains(choices, numbers, trials.problem.metric, resampling, groups)
        adjusted = holm([gain.p for gain in gains if gain.p is not None]).tolist() or [None] * len(gains)
        return tuple(
            Trial(family, len(trials.families[family]), trials.score(own), gain, p)
            for family, own, gain, p in zip(families, scored, gains, adjusted, strict=True)
        )

    left_out: tuple[Trial, ...] = ()
    added: tuple[Trial, ...] = ()
    selection: tuple[Trial, ...] = ()
    if "left-out" in parts:
        without = trials.choices([family for family in everything if family != gone] for gone in everything)
        left_out = tested(everything, without, [(whole, own) for own in without])
    if "added" in parts:
        with_it = trials.choices([*base, family] for family in others)
        added = tested(others, with_it, [(own, alone) for own in with_it])
    if "selection" in parts:
        sets = forward_selection(trials, base)
        before, *steps = trials.choices(sets)
        pairs = zip(steps, [before, *steps], strict=False)
        selection = tested([families[-1] for families in sets[1:]], steps, pairs, randomisation=0)
    families = features = None
    rows: tuple[TunedWeight, ...] = ()
    if {"correlations", "weights"}.intersection(parts):
        problem, tuner, start = trials.problem, trials.tuner, trials.start
        weights = checked_tuning(tuner, problem, start, np.random.default_rng(seed)).weights
        trials.progress(1)
        if "correlations" in parts:
            families, features = _correlations(trials, weights)
        if "weights" in parts:
            drawn = resampled_weights(problem, tuner, start, samples, seed, trials.processes, trials.progress)
            rows = weight_intervals(problem.table, weights, drawn).rows
    return Ablation(
        trials.score(whole), trials.score(alone), tuple(base), left_out, added, selection, families, features,
        tuple(sorted(rows, key=lambda row: -abs(row.part))), trials.folds, len(trials.seeds), samples, settings,
    )  # fmt: skip


def _correlations(trials: Trials, weights: FloatArray) -> tuple[Correlations | None, Correlations]:
    """The correlations of the families' parts of the score by tuned weights, and those of the dense features."""
    table, families = trials.problem.table, None
    if any(len(names) > 1 for names in trials.families.values()):
        own = [np.isin(table.all_names, list(names)) for names in trials.families.values()]
        sums = np.column_stack([table.scores(np.where(members, weights, 0.0)) for members in own])
        families = Correlations(tuple(trials.families), correlations_within_lists(sums, table.offsets))
    return families, Correlations(table.names, correlations_within_lists(table.values, table.offsets))


def trials_needed(families: int, base: int, parts: Collection[Part]) -> int:
    """The number of sets of families that `ablate` tries, at most."""
    others = families - base
    steps = others * (others + 1) // 2 if "selection" in parts else 0
    return 2 + ("left-out" in parts) * families + max(("added" in parts) * others, steps)
