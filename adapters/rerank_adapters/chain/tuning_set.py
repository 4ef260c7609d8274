"""Reads the tuning set that a command names by its files, with its features from a table or extracted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rerank_adapters.chain.extract import dense_rule, extract_with
from rerank_adapters.chain.job import Data, Job
from rerank_adapters.chain.lists import for_lists
from rerank_adapters.chain.table_columns import chosen_columns, records_extraction
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.formats.references import ReferenceForm, read_references
from rerank_adapters.runtime.progress import StatusLine
from rerank_plugins import FeatureTable


def read_tuning_set(
    job: Job,
    nbest: Sequence[str],
    references: Sequence[Path],
    form: ReferenceForm,
    source: Path | None,
    values: FeatureTable | None,
) -> tuple[Job, Data]:
    """Read lists and references; return them with the job that these lists ask for (`for_lists`).

    `values` is the feature table that the command names: one that was extracted has the ranks where they are needed.
    """
    with StatusLine("reading the lists"):
        nbests = read_nbest([Path(path) for path in nbest], job.format, source)
    job = for_lists(job, nbests, ranks=values is None or not records_extraction(values))
    ids = [segment.segment_id for segment in nbests]
    return job, Data("tune", nbests, read_references(references, form).for_segments(ids))


def features_of(job: Job, data: Data, values: FeatureTable | None, table: Path | None) -> FeatureTable:
    """The job's features of the lists: the columns of `values`, which `table` holds, or extracted where it is None."""
    job = job.for_set("tune")
    if table and values:
        return chosen_columns(job, data.nbests, values, table)
    return extract_with(job, data.nbests, decoder_table(data.nbests, dense_rule(job)))
