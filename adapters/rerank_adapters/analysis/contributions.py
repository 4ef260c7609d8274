"""What families of features contribute: their part of the score's spread, and the held-out score without them.

Families that model the same thing stand in for each other: each is missed little alone, and all of them may be missed
much. Such families, those that a system leaves out, are judged together too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from rerank_adapters.chain.tune import families, fast_tuner, start_weights, tuning_data
from rerank_adapters.chain.tuning.selection import Families, FamilyTrials, standard_error
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.job.config import System
from rerank_adapters.job.job import Job
from rerank_adapters.report.facts import Contribution, Contributions
from rerank_adapters.runtime.progress import StatusLine
from rerank_adapters.tuners.within_lists import centred
from rerank_adapters.weights import Weights
from rerank_plugins import FeatureTable, FloatArray, Tuner, TuningData
from rerank_plugins.core.arrays import LongArray


def contributions(
    data: TuningData,
    weights: FloatArray,
    families: Families,
    tuner: Tuner,
    start: FloatArray,
    *,
    folds: int,
    seed: int,
    together: Mapping[str, Sequence[str]] | None = None,
    jobs: int = 1,
) -> Contributions:
    """Measure the contributions of families (name -> feature names) to the tuned `weights`.

    A family is left out by weights fixed at 0. `together` names families that are left out together as well (name ->
    families); their rows follow the others. `weights` and `start` are in the order of `data.table.all_names`.
    Raises ConfigError for fewer than two folds or more folds than segments, and where a name is not a feature.
    """
    trials = FamilyTrials(data, families, tuner, start, folds, (seed,), jobs)
    whole = spread(data.table, weights, np.arange(len(weights))) or 1.0
    parts = [*((family, (family,)) for family in families), *(together or {}).items()]
    full, *reduced = trials.statistics([families, *(set(families).difference(members) for _, members in parts)])
    sign = 1.0 if data.metric.higher_is_better else -1.0
    rows = []
    for (name, members), statistics in zip(parts, reduced, strict=True):
        columns = np.concatenate([trials.columns(family) for family in members])
        score = trials.score(statistics)
        error = standard_error(data.metric, full, statistics)
        part = spread(data.table, weights, columns) / whole
        rows.append(Contribution(name, len(columns), part, score, sign * (trials.score(full) - score), error))
    return Contributions(tuple(rows), trials.score(full), folds, data.table.segments)


def spread(table: FeatureTable, weights: FloatArray, columns: LongArray) -> float:
    """The standard deviation within lists of the weighted sum of these columns, pooled over all lists."""
    chosen = np.zeros_like(weights)
    chosen[columns] = weights[columns]
    return float(np.std(centred(table.scores(chosen), table.offsets)))


def as_json(result: Contributions | None) -> str:
    """The contributions as JSON."""
    return json.dumps(None if result is None else asdict(result), ensure_ascii=False, indent=1) + "\n"


def from_json(text: str) -> Contributions | None:
    """The contributions in a text that `as_json` has made."""
    record = json.loads(text)
    return record and Contributions(
        tuple(Contribution(**row) for row in record["rows"]),
        record["held_out"],
        record["folds"],
        record["segments"],
    )


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


def family_contributions(job: Job, data: Dataset, table: FeatureTable, weights: Weights) -> Contributions | None:
    """Measure the contributions to tuned weights on the tuning lists; None where the config sets no folds.

    The weights of each fold are tuned by the job's tuner if that is MIRA, and by MIRA with its defaults if not: a run
    for each family and fold is affordable only for a fast tuner.
    """
    folds = min(job.config.evaluation.contribution_folds, table.segments)
    present = set(table.names)
    systems = job.config.system
    job = job.without([label for label in job.labels if not present.issuperset(families(job, table)[label])])
    by_family = families(job, table)
    if folds < 2 or len(by_family) < 2:
        return None
    with StatusLine("measuring what each feature contributes"):
        return contributions(
            tuning_data(job, data, table),
            np.asarray(weights.vector_for(table)),
            by_family,
            fast_tuner(job.tuner),
            start_weights(job, data, table),
            folds=folds,
            seed=job.config.seed,
            together=families_together(systems, job.labels),
            jobs=job.config.jobs,
        )
