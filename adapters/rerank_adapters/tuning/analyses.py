"""Analyses of tuned weights on their tuning lists: contributions of families of features, and intervals of weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rerank_adapters.job.config import System
from rerank_adapters.runtime.progress import CountingBar, StatusLine
from rerank_adapters.tuning.families import Contributions, FamilyTrials, contributions
from rerank_adapters.tuning.method import Method
from rerank_adapters.tuning.weight_intervals import TunedWeight, resampled_weights, tuned_weights
from rerank_adapters.weights import Weights
from rerank_plugins import FeatureTable, NBestList


def family_contributions(
    lists: Sequence[NBestList],
    references: Sequence[Sequence[str]],
    table: FeatureTable,
    weights: Weights,
    method: Method,
    *,
    folds: int,
    together: Mapping[str, Sequence[str]] | None = None,
) -> Contributions | None:
    """Measure the contributions to tuned weights, for which `table` has the features; None for fewer than two folds.

    There are no more folds than lists. The weights of each fold are tuned by the method's tuner if that can be quick,
    and by MIRA with its defaults if not: a run for each family and fold is affordable only for a fast tuner.
    """
    method = _present(method, table)
    folds, families = min(folds, table.segments), method.families(table)
    if folds < 2 or len(families) < 2:
        return None
    with StatusLine("measuring what each feature contributes"):
        problem, start = method.problem(lists, references, table), method.start(lists, table)
        trials = FamilyTrials(problem, families, method.fast_tuner, start, folds, (method.seed,), method.processes)
        return contributions(trials, np.asarray(weights.vector_for(table)), together)


def families_together(systems: Sequence[System], labels: Sequence[str]) -> dict[str, list[str]]:
    """By name, those of the features `labels` that a system leaves out, where these are several: they stand in for each
    other, and are judged together too.
    """
    together = {}
    for system in systems:
        name = system.name.removeprefix("without ")
        whole = f"all of {name}" if name != system.name else f"all that {name!r} lacks"
        together[whole] = [label for label in labels if label in system.without]
    return {whole: left_out for whole, left_out in together.items() if len(left_out) > 1}


def weights_with_intervals(
    lists: Sequence[NBestList],
    references: Sequence[Sequence[str]],
    table: FeatureTable,
    weights: Weights,
    method: Method,
    samples: int,
) -> tuple[TunedWeight, ...]:
    """The tuned weight of each dense feature and its part in the score, with intervals over resampled sets, if any.

    `table` has the features of the weights. The resampled sets are tuned by the method's tuner, quick where it can be:
    bags would resample what is resampled already.
    """
    method, vector = _present(method, table), np.asarray(weights.vector_for(table))
    drawn = np.empty((0, len(vector)))
    if samples:
        problem, start = method.problem(lists, references, table), method.start(lists, table)
        tuner, seed = method.tuner.quick() or method.tuner, method.seed
        with CountingBar("tunings on resampled lists", samples) as bar:
            drawn = resampled_weights(
                problem, tuner, start, samples, seed, processes=method.processes, progress=bar.add
            )
    return tuned_weights(table, vector, drawn)


def _present(method: Method, table: FeatureTable) -> Method:
    """The method without the features that a selection has left out of the table."""
    return method.without([label for label, names in method.columns.items() if set(names) - set(table.all_names)])
