"""The columns of a feature table that a job asks for: chosen where the table has them, extracted where it has not.

A table remembers with which options, files, code and text pipelines each of its features was extracted. A column is
taken only where all of these are what the job asks for; otherwise the feature is extracted, and a line on stderr says
so. Columns of features that the job does not name are left out, the decoder's own always stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from rerank_adapters.extraction.plan import Plan, column_names
from rerank_adapters.pipeline.extract import extract_with
from rerank_adapters.pipeline.job import Job
from rerank_adapters.pipeline.provenance import EXTRACTING, RECORDED, check_same_lists, recorded_tables
from rerank_plugins import FeatureTable, NBestList
from rerank_plugins.identity import plain_hash

FEATURES = "features"  # the key of a table's provenance: what describes each feature, by label


def chosen_columns(
    job: Job,
    nbests: Sequence[NBestList],
    table: FeatureTable,
    path: Path,
    *,
    folder: Path = Path(),
    work: Path | None = None,
) -> FeatureTable:
    """The decoder's columns of the table at `path`, then those of the job's features, in the job's order.

    A job without features takes the table as it is. `folder` and `work` are as in `extract_with`. Whoever uses the
    result checks that the table is of these lists; before anything is extracted, that is checked here. Raises
    ConfigError where it is not, and whatever an extraction raises.
    """
    if not job.labels:
        return table
    wanted = Plan(job.extractors, job.pipelines("text"), job.pipelines("source_text")).describe()
    columns = {label: column_names(label, extractor) for label, extractor in job.extractors.items()}
    made: Mapping[str, Any] = table.provenance.get(FEATURES, {})
    new = [label for label in job.labels if not _same(made.get(label), wanted[label])]
    decoder = _of_the_decoder(table, [name for names in columns.values() for name in names])
    found = decoder
    if new:
        check_same_lists(nbests, table)
        for label in new:
            has = set(columns[label]) & set(table.names)
            why = "was made with other options, files or code" if has else "is not in the table"
            click.echo(f"{path}: the feature {label!r} {why}: it is extracted now", err=True)
        found = extract_with(job.with_only(new), nbests, decoder, folder=folder, work=work)
    chosen = [(found if label in new else table, name) for label in job.labels for name in columns[label]]
    return replace(
        decoder,
        names=(*decoder.names, *(name for _, name in chosen)),
        values=np.column_stack(
            [decoder.values, *(origin.values[:, origin.names.index(name)] for origin, name in chosen)]
        ),
        provenance={
            **table.provenance,
            FEATURES: wanted,
            RECORDED: recorded_tables(job, folder, *EXTRACTING),
        },
    )


def _same(made: Any, wanted: Any) -> bool:
    return made is not None and plain_hash(made) == plain_hash(wanted)


def _of_the_decoder(table: FeatureTable, asked_for: Sequence[str]) -> FeatureTable:
    """The table without the columns of features. One that does not say which these are has those asked for."""
    if FEATURES in table.provenance:
        extracted = {
            f"{label}.{component}" if component else label
            for label, made in table.provenance[FEATURES].items()
            for component in made["components"]
        }
    else:
        extracted = set(asked_for)
    kept = [i for i, name in enumerate(table.names) if name not in extracted]
    return replace(table, names=tuple(table.names[i] for i in kept), values=table.values[:, kept])
