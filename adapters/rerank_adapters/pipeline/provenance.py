"""What feature tables and weights remember of the job that made them: the tables of its config that are needed again.

A table remembers how its features are extracted, so that weights tuned on it can be applied to other lists; weights
remember the metric too. Files are named relative to the folder of the table or of the weights: both may move together.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rerank_adapters.config import Config
from rerank_adapters.extraction import feature_names, of_lists
from rerank_adapters.pipeline.job import Job
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FeatureTable, NBestList
from rerank_plugins.plugins import Registry

RECORDED = "job"  # the key of a provenance
EXTRACTING = ("nbest", "text", "feature", "parser", "language_model", "plugins")


def recorded_tables(job: Job, folder: Path, *keys: str) -> dict[str, Any]:
    """The tables of a job's config under `keys`, its files named relative to `folder`; empty ones are left out."""
    config = job.config
    moved: dict[str, Any] = {
        "nbest": dict(config.nbest),
        "text": {name: TextPipeline(tuple(steps), config.base).rebased(folder) for name, steps in config.text.items()},
        "feature": [_rebased(job, "feature", table, folder) for table in config.feature],
        "metric": [_rebased(job, "metric", table, folder) for table in config.metric],
        "plugins": [os.path.relpath(file, folder) for file in job.registry.files],
    }
    for kind, tables in config.named.items():
        moved[kind] = {name: _rebased(job, kind, table, folder) for name, table in tables.items()}
    return {key: moved[key] for key in keys if moved[key]}


def _rebased(job: Job, kind: str, table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A plugin's table with its file options made relative to another folder."""
    files = {o.name for o in job.registry.get(kind, table["use"]).options() if "Path" in o.type_name}
    return {
        key: os.path.relpath(job.config.path(value), folder) if key in files and isinstance(value, str) else value
        for key, value in table.items()
    }


def recorded_job(provenance: Mapping[str, Any], path: Path, registry: Registry) -> Job:
    """The job that the file at `path` remembers; one without features if it remembers none.

    Raises ConfigError for a record that is no config (weights edited by hand).
    """
    tables = provenance.get(RECORDED, {})
    try:
        config = Config.model_validate({**tables, "base": path.parent})
    except (ValidationError, TypeError) as error:
        problem = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "wanted a table"}
        where = ".".join(map(str, ("provenance", RECORDED, *problem["loc"])))
        raise ConfigError(f"{path}: {where}: {problem['msg']}") from None
    return Job.create(config, registry)


def job_of_table(job: Job, table: FeatureTable, path: Path) -> Job:
    """The job with the features that the table at `path` holds: those it remembers, unless the job names its own.

    What the table remembers beside them (format, text pipelines, models, parsers, plugins) completes the job. A
    feature that the job names by a label of the table is that feature, its options included. Raises ConfigError for a
    text pipeline of the same name that differs, where the features are the table's.
    """
    config = job.config
    made = recorded_job(table.provenance, path, job.registry)
    tables = recorded_tables(made, config.base, *EXTRACTING)
    remembered = dict(zip(made.labels, tables.get("feature", []), strict=True))
    if not config.feature:
        for name in config.text.keys() & tables.get("text", {}).keys():
            if _described(job, name) != _described(made, name):
                raise ConfigError(f"text pipeline {name!r} is another one than that of the feature table {path}")
    merged: dict[str, Any] = {
        key: {**tables.get(key, {}), **getattr(config, key)} for key in ("text", "parser", "language_model")
    }
    known = made.registry.entries["feature"]
    merged["feature"] = [
        remembered.get(feature["use"], feature)
        if feature.keys() == {"use"} and feature["use"] not in known
        else feature
        for feature in config.feature or remembered.values()
    ]
    if "nbest" not in config.model_fields_set and "nbest" in tables:
        merged["nbest"] = tables["nbest"]
    job = Job(config.model_copy(update=merged), made.registry)
    missing = [name for name in feature_names(job.extractors) if name not in table.names] if not config.feature else []
    if missing:
        raise ConfigError(f"{path}: the feature table lacks {', '.join(missing)}: extract these features first")
    return job


def _described(job: Job, name: str) -> str:
    return TextPipeline(tuple(job.config.text[name]), job.config.base).describe()


def check_same_lists(nbests: Sequence[NBestList], table: FeatureTable) -> None:
    """Raises ConfigError unless the table was extracted from these very lists."""
    again = "extract the features of these lists"
    if len(nbests) != table.segments:
        raise ConfigError(f"{len(nbests)} n-best lists, but {table.segments} segments in the feature table: {again}")
    sizes = (table.offsets[1:] - table.offsets[:-1]).tolist()
    for nbest, segment_id, size in zip(nbests, table.segment_ids, sizes, strict=True):
        if (nbest.segment_id, len(nbest)) != (segment_id, size):
            found = f"segment {nbest.segment_id} with {len(nbest)} hypotheses"
            wanted = f"segment {segment_id} with {size}"
            raise ConfigError(f"the lists have {found} where the feature table has {wanted}: {again}")
    if table.provenance.get("lists") not in (None, of_lists(nbests, around=False)):
        differ = "the feature table was extracted from other lists: texts, features or totals differ"
        raise ConfigError(f"{differ}; {again}")
