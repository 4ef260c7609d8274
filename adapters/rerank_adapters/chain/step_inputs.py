"""What the steps of a run depend on, each as plain values that change whenever what the step makes may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rerank_adapters.chain.extraction.plan import Plan
from rerank_adapters.chain.extraction.value_identity import code_of, value_identity
from rerank_adapters.chain.family_contributions import families_together
from rerank_adapters.chain.job import Job, Measure
from rerank_adapters.chain.provenance import EXTRACTING, recorded_tables
from rerank_adapters.chain.steps import Inputs, file_hash
from rerank_adapters.config import DataSet
from rerank_adapters.weights import read_weights, trees_file
from rerank_plugins.core.identity import describe

OURS = ("rerank_plugins", "rerank_adapters")


def inputs_of_lists(job: Job, data: DataSet) -> Inputs:
    """What the lists ask of a job depends on: the lists, the format, and the features that are asked for already."""
    own = {
        "features": [table.get("use") for table in job.config.feature],
        "format": describe(job.format),
        "lists": _lists(job, data),
        "ranks": job.config.ranks,
    }
    return _with_code(own)


def inputs_of_contributions(job: Job, data: DataSet, folder: Path, table: Path, weights: Path) -> Inputs:
    """What contributions depend on: all that the weights do, the weights, the folds, and what is judged together."""
    own = inputs_of_weights(job, data, folder, table)
    if own is None:
        return None
    tuned = read_weights(weights)
    folds = job.config.evaluation.contribution_folds
    learnt = [tuned.dense, tuned.sparse, tuned.trees is None]
    together = families_together(job.config.system, job.labels)
    return {**own, "folds": folds, "weights": learnt, "families": list(job.labels), "together": together}


def inputs_of_weight_shares(job: Job, data: DataSet, folder: Path, table: Path, weights: Path, samples: int) -> Inputs:
    """What weights with intervals depend on: all that the weights do, the weights, and the number of samples."""
    own = inputs_of_weights(job, data, folder, table)
    return None if own is None else {**own, "samples": samples, "weights": read_weights(weights).dense}


def inputs_of_features(job: Job, data: DataSet, folder: Path) -> Inputs:
    """What a feature table depends on: the lists, the format, and all features."""
    plan = Plan(job.extractors, job.pipelines("text"), job.pipelines("source_text"))
    identities = {label: value_identity(plan, label) for label in plan.extractors}
    if not all(identity.lasting for identity in identities.values()):
        return None
    own = {
        "features": [[label, identity.text] for label, identity in identities.items()],
        "format": describe(job.format),
        "lists": _lists(job, data),
        "recorded": recorded_tables(job, folder, *EXTRACTING),
    }
    return _with_code(own)


def inputs_of_weights(job: Job, data: DataSet, folder: Path, table: Path) -> Inputs:
    """What tuned weights depend on: the table, the lists with their references, the metric, and the tuner."""
    settings = job.config.tuning
    start = settings.start
    own = {
        "format": describe(job.format),
        "lists": _lists(job, data),
        "metric": _measure(job.measures[0]),
        "recorded": recorded_tables(job, folder, *EXTRACTING, "metric"),
        "references": _references(job, data),
        "seed": job.config.seed,
        "start": file_hash(job.config.path(start)) if isinstance(start, str) else None,
        "table": file_hash(table),
        "tuner": describe(job.tuner),
        "tuning": settings.model_dump(mode="json"),
    }
    return _with_code(own)


def inputs_of_reranking(job: Job, data: DataSet, weights: Path, table: Path) -> Inputs:
    """What reranked lists depend on: the lists, their table, and the weights."""
    tuned = read_weights(weights)  # but not when they were tuned, which their file says
    own = {
        "format": describe(job.format),
        "lists": _lists(job, data),
        "metric": _measure(job.measures[0]),
        "table": file_hash(table),
        "weights": [tuned.dense, tuned.sparse, tuned.decision, tuned.scale, tuned.evidence],
        "trees": file_hash(trees_file(weights)) if tuned.trees is not None else None,
    }
    return _with_code(own)


def inputs_of_report(
    name: str, job: Job, data: DataSet, best: Mapping[str, Path], weights: Path, table: Path, facts: Sequence[Path]
) -> Inputs:
    """What a report of the job of that name depends on: the evaluation, the weights, the table, the files `facts`."""
    own, reranking = inputs_of_evaluation(job, data, best), inputs_of_reranking(job, data, weights, table)
    if own is None or reranking is None:
        return None
    shown = {"job": name, "facts": [file_hash(file) for file in facts], "explained": job.config.evaluation.explained}
    return {**own, "reranking": reranking, **shown}


def inputs_of_evaluation(job: Job, data: DataSet, best: Mapping[str, Path]) -> Inputs:
    """What an evaluation depends on: the 1-bests of each system, the lists with their references, and the metrics."""
    settings = job.config.evaluation
    own = {
        "best": {system: file_hash(path) for system, path in best.items()},
        "groups": file_hash(job.config.path(data.groups)) if data.groups else None,
        "format": describe(job.format),
        "lists": _lists(job, data),
        "metrics": [_measure(measure) for measure in job.measures],
        "name": data.name,
        "references": _references(job, data),
        "seed": job.config.seed,
        "tests": [settings.bootstrap, settings.randomisation, settings.resample_groups],
    }
    return _with_code(own)


def _with_code(own: dict[str, Any]) -> Inputs:
    sure, code = code_of(own, *OURS)
    return {**own, **code} if sure and "no file" not in (own["lists"] + own.get("references", [])) else None


def _lists(job: Job, data: DataSet) -> list[str]:
    paths = [*data.nbest, *([data.source] if data.source else [])]
    return [*(file_hash(job.config.path(path)) or "no file" for path in paths), str(bool(data.source))]


def _references(job: Job, data: DataSet) -> list[str]:
    return [*(file_hash(job.config.path(path)) or "no file" for path in data.references), data.reference_form]


def _measure(measure: Measure) -> list[Any]:
    return [measure.name, describe(measure.metric), measure.text.describe()]
