"""Extraction of the features that a job describes: a table of lists in memory, or one list at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click
import numpy as np

from rerank_adapters.extraction import (
    ExtractionProgress,
    WorkFolder,
    extract_features,
    feature_names,
    stream_features,
)
from rerank_adapters.formats.decoder_features import DenseRule, decoder_table
from rerank_adapters.pipeline.job import Job
from rerank_adapters.pipeline.provenance import EXTRACTING, RECORDED, recorded_tables
from rerank_plugins import FeatureTable, NBestList


def dense_rule(job: Job) -> DenseRule | None:
    """The rule by which the format decides which features are dense, if it has one."""
    rule: DenseRule | None = getattr(job.format, "dense_rule", None)
    return rule


def feature_table(job: Job, nbests: Sequence[NBestList], path: Path) -> FeatureTable:
    """The table of the lists, saved at `path`; finished parts of an interrupted extraction are used again."""
    work = parts_of(path)
    table = extract_with(job, nbests, decoder_table(nbests, dense_rule(job)), folder=path.parent, work=work)
    table.save(path)
    WorkFolder(work).clear()
    return table


def parts_of(path: Path) -> Path:
    """The folder that holds the finished parts of an extraction until the file at `path` is written."""
    return path.with_name(path.name + ".parts")


def extract_with(
    job: Job, nbests: Sequence[NBestList], decoder: FeatureTable, *, folder: Path = Path(), work: Path | None = None
) -> FeatureTable:
    """The decoder's table with the job's features added; finished parts are kept in the folder `work`, if it is given.

    The table records how it was made, with files named relative to `folder`, where it will be saved.
    """
    with ExtractionProgress(len(decoder.values)) as progress:
        table = extract_features(
            nbests,
            job.extractors,
            texts=job.pipelines("text"),
            sources=job.pipelines("source_text"),
            decoder=decoder,
            jobs=job.config.jobs,
            progress=progress,
            work=work if job.extractors else None,
        )
    _say_costs(progress)
    record = {RECORDED: recorded_tables(job, folder, *EXTRACTING)}
    return replace(table, provenance={**table.provenance, **record})


def stream_tables(job: Job, nbests: Iterable[NBestList]) -> Iterator[tuple[NBestList, FeatureTable]]:
    """Yield each list with its own table of one segment, in bounded memory."""
    names = feature_names(job.extractors)
    rule = DenseRule(sparse=("*",))  # one list does not show which features are dense; the weights will
    with ExtractionProgress() as progress:
        for nbest, values in stream_features(
            nbests,
            job.extractors,
            texts=job.pipelines("text"),
            sources=job.pipelines("source_text"),
            jobs=job.config.jobs,
            progress=progress,
        ):
            table = decoder_table([nbest], rule)
            yield nbest, replace(table, names=table.names + names, values=np.hstack([table.values, values]))
    _say_costs(progress)


def _say_costs(progress: ExtractionProgress) -> None:
    if costs := progress.costs():
        click.echo(costs, err=True)
