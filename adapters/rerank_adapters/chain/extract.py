"""Extracts the features that a job describes: a table of lists in memory, or one list at a time.

A table records the options, files, code and text pipelines with which each of its features was extracted. A column of a
saved table serves again only where all of these are as in the job (`chosen_columns`); otherwise the feature is
extracted again, and a line is logged. Columns of features that the job does not name are left out; the
decoder's own are always kept. A table that records no extraction holds scores computed elsewhere: the decoder's
features of the lists are put before them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rerank_adapters.chain.extraction import extract_features, stream_features
from rerank_adapters.chain.extraction.plan import column_names
from rerank_adapters.chain.extraction.value_cache import ValueCache
from rerank_adapters.chain.job import Job
from rerank_adapters.chain.provenance import EXTRACTING, RECORDED, check_same_lists, in_order_of_lists, recorded_tables
from rerank_adapters.chain.unknown_words import warn_of_lists
from rerank_adapters.formats.decoder_features import DenseRule, decoder_table
from rerank_adapters.runtime.progress import ExtractionProgress, counted
from rerank_plugins import ConfigError, FeatureTable, FloatArray, NBestList
from rerank_plugins.core.fingerprint import plain_hash
from rerank_plugins.kit.files.store import user_store

logger = logging.getLogger(__name__)
DESCRIPTIONS = "features"  # the key under which the provenance of a table describes each feature, by label


def dense_rule(job: Job) -> DenseRule | None:
    """The rule by which the format decides which features are dense, if it has one."""
    rule: DenseRule | None = getattr(job.format, "dense_rule", None)
    return rule


def feature_table(job: Job, nbests: Sequence[NBestList], path: Path) -> FeatureTable:
    """The table of the lists, saved at `path`; values that an earlier run has extracted are used again."""
    work = parts_of(path)
    table = extract_with(job, nbests, folder=path.parent, work=work)
    table.save(path)
    if work is not None:
        work.clear()
    return table


def value_cache() -> ValueCache | None:
    """The user's cache of feature values; None if the user wants none (`RERANK_CACHE` is empty)."""
    store = user_store()
    return ValueCache(store) if store else None


def parts_of(path: Path) -> ValueCache | None:
    """The values that only the command that writes `path` may use, until it has done so; None without a cache."""
    store = user_store()
    return ValueCache(store, f"parts of {os.fsencode(path.resolve())!r}") if store else None


def extract_with(
    job: Job,
    nbests: Sequence[NBestList],
    decoder: FeatureTable | None = None,
    *,
    folder: Path = Path(),
    work: ValueCache | None = None,
) -> FeatureTable:
    """The decoder's table with the job's features added; what the user's cache may not hold is kept in `work`.

    `decoder` is the table of the decoder's features, which is made here if it is None. The table records how it was
    made, with files named relative to `folder`, where it will be saved.
    """
    cache = value_cache()
    for extractor in job.plan.extractors.values():
        extractor.check_lists(nbests)
    if decoder is None:
        decoder = decoder_table(nbests, dense_rule(job), room=len(job.plan.names))
    with ExtractionProgress(len(decoder.values)) as progress:

        def report(rows: int, seconds: Mapping[str, float]) -> None:
            new = [label for label in seconds if label not in progress.seconds]
            progress(rows, seconds)
            warn_of_lists(job, nbests, new)  # here the models are loaded, and most of the work is still to be done

        table = extract_features(
            nbests,
            job.plan,
            decoder=decoder,
            jobs=job.config.jobs,
            progress=report,
            cache=cache,
            work=work,
        )
    _report_costs(progress, cache)
    record = {RECORDED: recorded_tables(job, folder, *EXTRACTING)}
    return replace(table, provenance={**table.provenance, **record})


def stream_tables(
    job: Job, nbests: Iterable[NBestList], *, at_once: bool = False
) -> Iterator[tuple[NBestList, FeatureTable]]:
    """Yield each list with its own table of one segment, in bounded memory; with `at_once`, as soon as it has come."""
    cache = value_cache()
    with ExtractionProgress() as progress:
        for nbest, values in stream_features(
            nbests,
            job.plan,
            jobs=job.config.jobs,
            progress=progress,
            cache=cache,
            at_once=at_once,
        ):
            yield nbest, table_of_one(nbest, job.plan.names, values)
    _report_costs(progress, cache)


def table_of_one(nbest: NBestList, names: Sequence[str], values: FloatArray) -> FeatureTable:
    """The table of a single list, with columns (hypotheses, names) after the decoder's features."""
    rule = DenseRule(sparse=("*",))  # one list does not show which features are dense; the weights will
    table = decoder_table([nbest], rule)
    return replace(table, names=(*table.names, *names), values=np.hstack([table.values, values]))


def _report_costs(progress: ExtractionProgress, cache: ValueCache | None) -> None:
    if cache is not None and cache.taken:
        labels: dict[int, list[str]] = {}
        for label, rows in cache.taken.items():
            labels.setdefault(rows, []).append(label)
        taken = (f"{', '.join(names)} of {counted(rows, 'hypothesis', 'hypotheses')}" for rows, names in labels.items())
        logger.info("features in the cache: %s", "; ".join(taken))
    if costs := progress.costs():
        logger.info(costs)


def chosen_columns(
    job: Job,
    nbests: Sequence[NBestList],
    table: FeatureTable,
    path: Path,
    *,
    folder: Path = Path(),
    work: ValueCache | None = None,
    named_only: bool = False,
) -> FeatureTable:
    """The decoder's columns of the table at `path`, then those of the job's features, in the job's order.

    Segments are matched by their ids. A job without features takes all columns or, with `named_only`, the decoder's
    alone. `folder` and `work` are as in `extract_with`. Whether the table belongs to these lists is checked here only
    before an extraction, and where it records none or has another order; otherwise the caller checks it. Raises
    ConfigError where it does not, and all that an extraction raises.
    """
    table = _with_decoder(job, nbests, in_order_of_lists(nbests, table), path)
    if not (job.labels or named_only):
        return table
    wanted = job.plan.describe()
    columns = job.plan.columns
    descriptions: Mapping[str, Any] = table.provenance.get(DESCRIPTIONS, {})
    new = [label for label in job.labels if not _same(descriptions.get(label), wanted[label])]
    own = [name for label in job.labels for name in columns[label]]
    provenance = {
        **table.provenance, DESCRIPTIONS: wanted, RECORDED: recorded_tables(job, folder, *EXTRACTING)
    }  # fmt: skip
    names = _of_the_decoder(table, own)
    if not new and (*names, *own) == table.names:  # without a copy
        return replace(table, provenance=provenance)
    decoder = extracted = replace(table, names=names, values=table.values[:, [table.names.index(n) for n in names]])
    if new:
        check_same_lists(nbests, table)
        for label in new:
            present = set(columns[label]) & set(table.names)
            why = "was made with other options, files or code" if present else "is not in the table"
            logger.info("%s: the feature %r %s: it is extracted now", path, label, why)
        extracted = extract_with(job.only(new), nbests, decoder, folder=folder, work=work)
    chosen = [(extracted if label in new else table, name) for label in job.labels for name in columns[label]]
    return replace(
        decoder,
        names=(*decoder.names, *(name for _, name in chosen)),
        values=np.column_stack(
            [decoder.values, *(origin.values[:, origin.names.index(name)] for origin, name in chosen)]
        ),
        provenance=provenance,
    )


def records_extraction(table: FeatureTable) -> bool:
    """Whether the table was extracted from lists, together with the decoder's features."""
    return DESCRIPTIONS in table.provenance


def recorded_columns(table: FeatureTable) -> dict[str, Sequence[str]]:
    """By label, the columns of the table that were extracted for it."""
    described: Mapping[str, Any] = table.provenance.get(DESCRIPTIONS, {})
    return {label: column_names(label, how["components"]) for label, how in described.items()}


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


def _of_the_decoder(table: FeatureTable, wanted: Sequence[str]) -> tuple[str, ...]:
    """The names of the decoder's columns.

    Where the table does not record which columns were extracted, those in `wanted` count as extracted.
    """
    by_label = recorded_columns(table) if records_extraction(table) else {"": wanted}
    extracted = {name for names in by_label.values() for name in names}
    return tuple(name for name in table.names if name not in extracted)
