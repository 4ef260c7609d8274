"""Tunes the weights of a job: reads what it tunes on, and records the job in the weights, to apply them elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from rerank_adapters.apply import TOTALS
from rerank_adapters.data.dataset import Dataset, Files
from rerank_adapters.features.processes import Processes
from rerank_adapters.features.tables import RECORDED
from rerank_adapters.formats.pairing import warn
from rerank_adapters.job.job import TUNE, Job
from rerank_adapters.tuning.method import NAMED_STARTS, Method
from rerank_adapters.tuning.tune import TuningOutcome, tune, validate
from rerank_adapters.weights import made_at
from rerank_plugins import FeatureTable


def read_tuning_set(job: Job, files: Files, table: Path | None = None) -> tuple[Job, Dataset, FeatureTable | None]:
    """Read lists and references, and the table of their features at a path; the job gets what the table records.

    What is unpaired or doubtful is logged. Wrong options of the tuner and the metrics are errors before the lists are
    read. Raises ConfigError where lists and references do not belong together.
    """
    values = None if table is None else FeatureTable.load(table)
    if table is not None and values is not None:
        job = job.of_table(values, table)
    _ = job.tuner, job.measures
    job = job.reading(files.lists)
    data = Dataset.read(TUNE, files, job.format, "tuning", job.content_check())
    warn([*data.findings, *data.doubts])
    return job, data, values


def features_of(
    job: Job,
    data: Dataset,
    values: FeatureTable | None,
    table: Path | None,
    *,
    folder: Path = Path(),
) -> FeatureTable:
    """The job's features of a tuning set: the columns of `values`, which `table` holds, or extracted where it is None.

    `folder` is where a table of them would be saved. Wrong settings of the tuning are errors before an extraction.
    """
    extraction = job.extraction(TUNE)
    if table is not None and values is not None:
        return extraction.columns(data.lists, values, table, folder=folder, all_columns=True)
    extraction.log_ranks(data.lists)
    decoder = extraction.decoder_table(data.lists)
    validate_tuning(job, data, decoder)
    return extraction.table(data.lists, decoder, folder=folder)


def method_of(job: Job) -> Method:
    """How a job tunes weights."""
    settings, start = job.config.tuning, job.config.tuning.start
    if isinstance(start, str) and start not in NAMED_STARTS:
        settings = settings.model_copy(update={"start": str(job.config.path(start))})
    columns = {feature.label: feature.names for feature in job.features()}
    processes = Processes(job.config.jobs)
    return Method(job.tuner, job.measures[0], settings, columns, job.margin, job.config.seed, processes)


def learn(job: Job, data: Dataset, table: FeatureTable, folder: Path) -> TuningOutcome:
    """Tune on the lists. The provenance of the weights names files relative to `folder`, where they will be written.

    Raises ConfigError where lists and table do not belong together, and for wrong settings of the tuning.
    """
    groups = data.groups if job.config.evaluation.resample_groups else None
    outcome = tune(data.lists, data.references, table, method_of(job), groups=groups)
    if outcome.selection is not None:
        job = job.without(outcome.selection.left_out)
    record = {
        "made": made_at(),
        TOTALS: {"present": not any(np.isnan(nbest.totals).any() for nbest in data.lists)},
        RECORDED: job.record(folder, "feature", "metric"),
    }
    provenance = {**outcome.weights.provenance, **record}
    return replace(outcome, weights=replace(outcome.weights, provenance=provenance))


def validate_tuning(job: Job, data: Dataset, decoder: FeatureTable) -> None:
    """Try the tuning of a job; `decoder` is the table of the decoder's features. Raises ConfigError as `validate`."""
    validate(data.lists, data.references, decoder, method_of(job))
