"""Takes the columns that a job needs from a feature table, and extracts those that the table lacks.

A table records the options, files, code and text pipelines with which each of its features was extracted. A column is
taken from it only where all of these are as in the job; otherwise the feature is extracted again, and a line of the log
says so. Columns of features that the job does not name are left out; the decoder's own columns are always kept. A table
that records no extraction holds scores computed elsewhere: the decoder's features of the lists are put before them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rerank_adapters.chain.extract import dense_rule, extract_with
from rerank_adapters.chain.extraction import ValueCache
from rerank_adapters.chain.extraction.plan import Plan, column_names
from rerank_adapters.chain.job import Job
from rerank_adapters.chain.provenance import EXTRACTING, RECORDED, check_same_lists, recorded_tables
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_plugins import ConfigError, FeatureTable, NBestList
from rerank_plugins.core.identity import plain_hash

logger = logging.getLogger(__name__)

FEATURES = "features"  # the key under which the provenance of a table describes each feature, by label


def chosen_columns(
    job: Job,
    nbests: Sequence[NBestList],
    table: FeatureTable,
    path: Path,
    *,
    folder: Path = Path(),
    work: ValueCache | None = None,
) -> FeatureTable:
    """The decoder's columns of the table at `path`, then those of the job's features, in the job's order.

    A job without features takes all columns. `folder` and `work` are as in `extract_with`. Whether the table belongs to
    these lists is checked here only before an extraction, and where it records none; otherwise the caller checks it.
    Raises ConfigError where it does not, and all that an extraction raises.
    """
    table = _with_decoder(job, nbests, table, path)
    if not job.labels:
        return table
    wanted = Plan(job.extractors, job.pipelines("text"), job.pipelines("source_text")).describe()
    columns = {label: column_names(label, extractor) for label, extractor in job.extractors.items()}
    descriptions: Mapping[str, Any] = table.provenance.get(FEATURES, {})
    new = [label for label in job.labels if not _same(descriptions.get(label), wanted[label])]
    decoder = _of_the_decoder(table, [name for names in columns.values() for name in names])
    extracted = decoder
    if new:
        check_same_lists(nbests, table)
        for label in new:
            present = set(columns[label]) & set(table.names)
            why = "was made with other options, files or code" if present else "is not in the table"
            logger.info("%s: the feature %r %s: it is extracted now", path, label, why)
        extracted = extract_with(job.with_only(new), nbests, decoder, folder=folder, work=work)
    chosen = [(extracted if label in new else table, name) for label in job.labels for name in columns[label]]
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


def records_extraction(table: FeatureTable) -> bool:
    """Whether the table was extracted from lists, together with the decoder's features."""
    return FEATURES in table.provenance


def _with_decoder(job: Job, nbests: Sequence[NBestList], table: FeatureTable, path: Path) -> FeatureTable:
    """The table, with the decoder's features that it lacks before its own columns where it records no extraction.

    Raises ConfigError for a table of other lists, and for a column that has the name of a feature with other values.
    """
    if records_extraction(table):
        return table
    check_same_lists(nbests, table)
    decoder = decoder_table(nbests, dense_rule(job))
    own = dict(zip(table.names, table.values.T, strict=True))
    known = dict(zip(decoder.names, decoder.values.T, strict=True))
    for name in own:
        if name in decoder.sparse.names or (name in known and not np.array_equal(known[name], own[name])):
            message = f"its column {name!r} has other values than that feature of the lists: give it another name"
            raise ConfigError(f"{path}: {message}")
    columns = {name: values for name, values in known.items() if name not in table.all_names}
    sparse = table.sparse if table.sparse.names else decoder.sparse
    if columns or sparse.names != table.sparse.names:
        logger.info("%s: beside its columns, the decoder's features are taken from the lists", path)
    values = np.column_stack([*columns.values(), table.values])
    return replace(table, names=(*columns, *table.names), values=values, sparse=sparse)


def _same(recorded: Any, wanted: Any) -> bool:
    return recorded is not None and plain_hash(recorded) == plain_hash(wanted)


def _of_the_decoder(table: FeatureTable, asked_for: Sequence[str]) -> FeatureTable:
    """The table with the decoder's columns alone.

    Where the table does not record which columns were extracted, those in `asked_for` count as extracted.
    """
    if records_extraction(table):
        extracted = {
            f"{label}.{component}" if component else label
            for label, description in table.provenance[FEATURES].items()
            for component in description["components"]
        }
    else:
        extracted = set(asked_for)
    kept = [i for i, name in enumerate(table.names) if name not in extracted]
    return replace(table, names=tuple(table.names[i] for i in kept), values=table.values[:, kept])
