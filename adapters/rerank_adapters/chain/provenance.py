"""Records the job in feature tables and weights: the tables of its config that are needed again later.

A feature table records how its features are extracted, so that weights tuned on it can be applied to other lists.
Weights record the metric too. Files are named relative to the folder of the table or of the weights, so that the whole
folder can be moved.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rerank_adapters.chain.builder import injected_kind, texts_in
from rerank_adapters.chain.job import Job
from rerank_adapters.chain.text_pipelines import names_of_steps
from rerank_adapters.features.extraction import RECORDED, Extraction
from rerank_adapters.features.processes import Processes
from rerank_adapters.job.config import Config
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FeatureTable
from rerank_plugins.core.registry import Registry

DISTRIBUTIONS = "distributions"  # the key of such a record under which the packages of plugins are
TEXTS = {"text", "source_text"}  # keys that name text steps
EXTRACTING = ("language", "nbest", "text", "feature", "parser", "language_model", "plugins")


def made_at() -> str:
    """The present time, or that of `SOURCE_DATE_EPOCH` (seconds since 1970), by which equal runs write equal files.

    Raises ConfigError where the variable is no number of seconds.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return datetime.now(UTC).isoformat(timespec="seconds")
    try:
        return datetime.fromtimestamp(int(epoch), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        raise ConfigError(f"SOURCE_DATE_EPOCH is {epoch!r}, expected seconds since 1970") from None


def extraction_of(job: Job, scheduler: str = "") -> Extraction:
    """What a job extracts, and how: by processes, or by the cluster of a scheduler; tables of it record the job."""
    return Extraction(
        job.features,
        getattr(job.format, "dense_rule", None),
        Processes(job.config.jobs, scheduler),
        lambda folder: recorded_tables(job, folder, *EXTRACTING),
    )


def recorded_tables(job: Job, folder: Path, *keys: str) -> dict[str, Any]:
    """The tables of a job's config under `keys`, with files named relative to `folder`; empty ones are left out."""
    config = job.config
    tables: dict[str, Any] = {
        "language": config.language,
        "nbest": dict(config.nbest),
        "text": {name: TextPipeline(steps, config.base).rebased(folder) for name, steps in config.text.items()},
        "feature": [_rebased(job, "feature", table, folder) for table in config.feature],
        "metric": [_rebased(job, "metric", table, folder) for table in config.metric],
        "plugins": [os.path.relpath(file, folder) for file in job.registry.files],
    }
    for kind, named in config.named.items():
        tables[kind] = {name: _rebased(job, kind, table, folder) for name, table in named.items()}
    recorded = {key: tables[key] for key in keys if tables[key]}
    distributions = _distributions(job.registry, set(texts_in(recorded)))
    return {**recorded, DISTRIBUTIONS: distributions} if distributions else recorded


def _distributions(registry: Registry, names: Collection[str]) -> list[dict[str, str]]:
    """Of the installed plugins of these names, which are not the project's, the distributions and their versions."""
    return [
        {"kind": kind, "name": name, "distribution": entry.distribution, "version": entry.version}
        for kind, entries in registry.entries.items()
        for name, entry in entries.items()
        if entry.distribution and name in names
    ]


def _rebased(job: Job, kind: str, table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A plugin's table with its file options, and those of the tables in it, made relative to another folder."""
    if kind == "feature" and job.builder.is_named_model(table["use"]):
        return dict(table)
    options = {option.name: option for option in job.registry.get(kind, table["use"]).options()}
    rebased = dict(table)
    for key in table.keys() & options.keys():
        value, inner = table[key], injected_kind(options[key].type)
        if inner and isinstance(value, Mapping):
            rebased[key] = _rebased(job, inner, value, folder)
        elif inner and isinstance(value, list):
            rebased[key] = [_rebased(job, inner, v, folder) if isinstance(v, Mapping) else v for v in value]
        elif "Path" in options[key].type_name and isinstance(value, str):
            rebased[key] = os.path.relpath(job.config.path(value), folder)
    for key in table.keys() & TEXTS - options.keys():
        rebased[key] = _rebased_text(job, table[key], folder)
    return rebased


def _rebased_text(job: Job, value: object, folder: Path) -> object:
    """Text steps with the paths of their files relative to another folder; the value itself where there are none."""
    names = names_of_steps(job.config, value, "text")
    steps = [
        name if name in job.config.text else TextPipeline(name, job.config.base).rebased(folder)[0] for name in names
    ]
    return value if tuple(steps) == names else steps


def recorded_job(provenance: Mapping[str, Any], path: Path, registry: Registry) -> Job:
    """The job that is recorded in the file at `path`; a job without features where nothing is recorded.

    Raises ConfigError for a record that is not a valid config, as in weights edited by hand.
    """
    tables = provenance.get(RECORDED, {})
    distributions = tables.get(DISTRIBUTIONS, ()) if isinstance(tables, Mapping) else ()
    try:
        own = {key: value for key, value in tables.items() if key != DISTRIBUTIONS}
        config = Config.model_validate({**own, "base": path.parent})
    except (ValidationError, TypeError) as error:
        problem = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "wanted a table"}
        where = ".".join(map(str, ("provenance", RECORDED, *problem["loc"])))
        raise ConfigError(f"{path}: {where}: {problem['msg']}") from None
    job = Job.create(config, registry)
    try:
        return Job(job.config, job.registry.with_recorded(distributions))
    except (KeyError, TypeError):
        where = ".".join(("provenance", RECORDED, DISTRIBUTIONS))
        raise ConfigError(f"{path}: {where}: wanted tables of kind, name, distribution and version") from None


def job_of_table(job: Job, table: FeatureTable, path: Path) -> Job:
    """The job with the features that are recorded in the table at `path`, unless the job names features of its own.

    The format, text pipelines, models, parsers and plugins recorded there complete the job. Where the job names a
    feature by a label of the table, that feature is meant with the options recorded for it. Raises ConfigError where
    the job takes the table's features but has another text pipeline under the same name.
    """
    config = job.config
    recorded = recorded_job(table.provenance, path, job.registry)
    tables = recorded_tables(recorded, config.base, *EXTRACTING)
    features = dict(zip(recorded.labels, tables.get("feature", []), strict=True))
    if not config.feature:
        for name in config.text.keys() & tables.get("text", {}).keys():
            if _described(job, name) != _described(recorded, name):
                raise ConfigError(f"text pipeline {name!r} is another one than that of the feature table {path}")
    merged: dict[str, Any] = {
        key: {**tables.get(key, {}), **getattr(config, key)} for key in ("text", "parser", "language_model")
    }
    known = recorded.registry.known("feature")
    merged["language"] = config.language or tables.get("language", "")
    merged["feature"] = [
        features.get(feature["use"], feature) if feature.keys() == {"use"} and feature["use"] not in known else feature
        for feature in config.feature or features.values()
    ]
    if "nbest" not in config.model_fields_set and "nbest" in tables:
        merged["nbest"] = tables["nbest"]
    job = Job(config.model_copy(update=merged), recorded.registry, job.shared)
    missing = [name for name in job.names if name not in table.names] if not config.feature else []
    if missing:
        raise ConfigError(f"{path}: the feature table lacks {', '.join(missing)}: extract these features first")
    return job


def _described(job: Job, name: str) -> str:
    return TextPipeline(job.config.text[name], job.config.base).describe()
