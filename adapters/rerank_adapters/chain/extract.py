"""Extracts the features that a job describes: a table of lists in memory, or one list at a time."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rerank_adapters.chain.extraction import (
    ExtractionProgress,
    ValueCache,
    extract_features,
    feature_names,
    stream_features,
)
from rerank_adapters.chain.extraction.value_cache import FEATURES
from rerank_adapters.chain.job import Job
from rerank_adapters.chain.provenance import EXTRACTING, RECORDED, recorded_tables
from rerank_adapters.formats.decoder_features import DenseRule, decoder_table
from rerank_adapters.runtime.progress import counted
from rerank_plugins import FeatureTable, NBestList
from rerank_plugins.core.paths import cache_folder, cache_limit

logger = logging.getLogger(__name__)


def dense_rule(job: Job) -> DenseRule | None:
    """The rule by which the format decides which features are dense, if it has one."""
    rule: DenseRule | None = getattr(job.format, "dense_rule", None)
    return rule


def feature_table(job: Job, nbests: Sequence[NBestList], path: Path) -> FeatureTable:
    """The table of the lists, saved at `path`; values that an earlier run has extracted are used again."""
    work = parts_of(path)
    table = extract_with(job, nbests, decoder_table(nbests, dense_rule(job)), folder=path.parent, work=work)
    table.save(path)
    work.clear()
    return table


def value_cache() -> ValueCache | None:
    """The user's cache of feature values; None if the user wants none (`RERANK_CACHE` is empty)."""
    folder = cache_folder()
    return ValueCache(folder / FEATURES, cache_limit() // 2) if folder else None


def parts_of(path: Path) -> ValueCache:
    """The values that are kept beside the file at `path` until it is written, since the cache may not hold them."""
    return ValueCache(path.with_name(path.name + ".parts"))


def extract_with(
    job: Job,
    nbests: Sequence[NBestList],
    decoder: FeatureTable,
    *,
    folder: Path = Path(),
    work: ValueCache | None = None,
) -> FeatureTable:
    """The decoder's table with the job's features added; what the user's cache may not hold is kept in `work`.

    The table records how it was made, with files named relative to `folder`, where it will be saved.
    """
    cache = value_cache()
    for extractor in job.extractors.values():
        extractor.check_lists(nbests)
    with ExtractionProgress(len(decoder.values)) as progress:
        table = extract_features(
            nbests,
            job.extractors,
            texts=job.pipelines("text"),
            sources=job.pipelines("source_text"),
            decoder=decoder,
            jobs=job.config.jobs,
            progress=progress,
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
    names = feature_names(job.extractors)
    rule = DenseRule(sparse=("*",))  # one list does not show which features are dense; the weights will
    cache = value_cache()
    with ExtractionProgress() as progress:
        for nbest, values in stream_features(
            nbests,
            job.extractors,
            texts=job.pipelines("text"),
            sources=job.pipelines("source_text"),
            jobs=job.config.jobs,
            progress=progress,
            cache=cache,
            at_once=at_once,
        ):
            table = decoder_table([nbest], rule)
            yield nbest, replace(table, names=table.names + names, values=np.hstack([table.values, values]))
    _report_costs(progress, cache)


def _report_costs(progress: ExtractionProgress, cache: ValueCache | None) -> None:
    if cache is not None and cache.taken:
        labels: dict[int, list[str]] = {}
        for label, rows in cache.taken.items():
            labels.setdefault(rows, []).append(label)
        taken = (f"{', '.join(names)} of {counted(rows, 'hypothesis', 'hypotheses')}" for rows, names in labels.items())
        logger.info("features in the cache: %s", "; ".join(taken))
    if costs := progress.costs():
        logger.info(costs)
