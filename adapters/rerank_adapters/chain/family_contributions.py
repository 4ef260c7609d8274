"""Measures the contributions of the decoder's features, each feature of the config, and those systems leave out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

from rerank_adapters.chain.families import families, fast_tuner
from rerank_adapters.chain.job import Data, Job
from rerank_adapters.chain.tune import start_weights, tuning_data
from rerank_adapters.chain.tuning.contributions import contributions
from rerank_adapters.config import System
from rerank_adapters.evaluation.contributions import Contribution, Contributions
from rerank_adapters.runtime.progress import StatusLine
from rerank_adapters.weights import Weights
from rerank_plugins import FeatureTable


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
        record["linear"],
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


def family_contributions(job: Job, data: Data, table: FeatureTable, weights: Weights) -> Contributions | None:
    """Measure the contributions to tuned weights on the tuning lists; None where the config asks for no folds.

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
        linear = replace(weights, trees=None)  # without the trees, which belong to no family
        result = contributions(
            tuning_data(job, data, table),
            np.asarray(linear.vector_for(table)),
            by_family,
            fast_tuner(job.tuner),
            start_weights(job, data, table),
            folds=folds,
            seed=job.config.seed,
            together=families_together(systems, job.labels),
            threads=job.config.jobs,
        )
    return replace(result, linear=weights.trees is None)
