"""Groups features into families: the decoder's, and each feature of the config with all its columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rerank_adapters.chain.extraction.plan import column_names
from rerank_adapters.chain.job import Job
from rerank_adapters.chain.tuning.selection import Selecting, Selection, select_families
from rerank_adapters.runtime.progress import CountingBar
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.weights import Weights
from rerank_plugins import FeatureTable, FloatArray, Tuner, TuningData

DECODER = "decoder"


def families(job: Job, table: FeatureTable) -> dict[str, list[str]]:
    """The columns of the table by family: those of the decoder, then those of each feature, by its label."""
    extracted = {label: column_names(label, extractor) for label, extractor in job.extractors.items()}
    names = {name for columns in extracted.values() for name in columns}
    decoder = [name for name in table.all_names if name not in names]
    return {**({DECODER: decoder} if decoder else {}), **extracted}


def fast_tuner(tuner: Tuner) -> Tuner:
    """The tuner that measures families in place of this one: itself where it can be quick, otherwise MIRA."""
    return tuner.quick() or Mira()


def selection_of(job: Job, data: TuningData, start: FloatArray) -> Selection:
    """The families that a selection keeps beside the decoder's, by the settings of the job."""
    settings = job.config.tuning
    with CountingBar("tuned folds") as bar:
        return select_families(
            data,
            families(job, data.table),
            fast_tuner(job.tuner),
            start,
            always=[DECODER],
            folds=settings.select_folds,
            seed=job.config.seed,
            margin=settings.select_margin,
            threads=job.config.jobs,
            progress=bar.add,
        )


def selecting(job: Job, tuner: Tuner, table: FeatureTable) -> Tuner:
    """The tuner itself, or, where the job selects families, one that does so before it tunes."""
    settings = job.config.tuning
    if not settings.select:
        return tuner
    return Selecting(
        tuner,
        fast_tuner(tuner),
        families(job, table),
        always=[DECODER],
        folds=settings.select_folds,
        margin=settings.select_margin,
        threads=job.config.jobs,
    )


def columns_of(job: Job, weights: Weights, table: FeatureTable) -> FeatureTable:
    """The table without the features of the job that a selection has left out, for which there are no weights."""
    extracted = {name for label, extractor in job.extractors.items() for name in column_names(label, extractor)}
    return without_columns(table, [name for name in extracted if name not in weights.dense])


def without_columns(table: FeatureTable, names: list[str]) -> FeatureTable:
    """The table without these dense features."""
    kept = [i for i, name in enumerate(table.names) if name not in set(names)]
    if len(kept) == len(table.names):
        return table
    return replace(table, names=tuple(table.names[i] for i in kept), values=np.asarray(table.values[:, kept]))
