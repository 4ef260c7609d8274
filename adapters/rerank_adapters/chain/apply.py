"""Reranks n-best lists by weights, with the features that the weights were tuned for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rerank_adapters.chain.extract import dense_rule
from rerank_adapters.chain.extraction import feature_names
from rerank_adapters.chain.job import Job
from rerank_adapters.chain.provenance import RECORDED, check_same_lists
from rerank_adapters.chain.reranking import rerank
from rerank_adapters.formats.decoder_features import align
from rerank_adapters.weights import Weights
from rerank_plugins import ConfigError, FeatureTable, FloatArray, FormatError, NBestList, Rescored
from rerank_plugins.kit.files.text import display_name


def apply_weights(
    job: Job, weights: Weights, pairs: Iterable[tuple[NBestList, FeatureTable]], *, advice: str = ""
) -> Iterator[tuple[NBestList, Rescored]]:
    """Yield each list with its new order; `pairs` are lists with their own tables of one segment each.

    Raises ConfigError where the weights are for other features than a table has, with `advice` where features are
    missing.
    """
    measure = job.measures[0] if weights.decision == "mbr" else None
    added = feature_names(job.extractors) if RECORDED in weights.provenance else None
    for nbest, table in pairs:
        yield from rerank(
            [nbest],
            *aligned(job, weights, nbest, table, advice),
            utility=measure.metric if measure else None,
            scale=weights.scale,
            evidence=weights.evidence or None,
            texts=[measure.text.apply(nbest.texts)] if measure else None,
            added=added,
            scorer=weights.trees,
        )


def aligned(
    job: Job, weights: Weights, nbest: NBestList, table: FeatureTable, advice: str = ""
) -> tuple[FeatureTable, FloatArray]:
    """The table of a list with the features of the weights in their order, and the weights as a vector.

    Raises ConfigError as `apply_weights` does.
    """
    rule = dense_rule(job)
    dense = weights.dense_for(table.all_names, frozenset(table.sparse.names))
    sparse = [name for name in table.all_names if name in weights.sparse]  # only those of the many that this list has
    try:
        in_order = align(table, tuple(dense), sparse, absent_is_zero=bool(rule and rule.absent_is_zero))
    except ConfigError as error:
        origin = weights.provenance.get("file", "weights")
        message = f"{origin}: not the weights for these lists: segment {nbest.segment_id}: {error}"
        raise ConfigError(message + advice * bool(dense.keys() - {*table.all_names})) from None
    return in_order, np.array([*dense.values(), *(weights.sparse[name] for name in sparse)], np.float64)


def once(nbests: Iterable[NBestList], path: str | Path) -> Iterator[NBestList]:
    """Yield the lists of a file one by one. Raises FormatError for a segment that comes again and must be merged."""
    seen: set[str] = set()
    for nbest in nbests:
        if nbest.segment_id in seen:
            again = f"segment {nbest.segment_id} comes again after other segments: `rerank merge` the lists first"
            raise FormatError(again, path=display_name(path), line=nbest.line or None)
        seen.add(nbest.segment_id)
        yield nbest


def table_pairs(nbests: Sequence[NBestList], table: FeatureTable) -> Iterator[tuple[NBestList, FeatureTable]]:
    """Yield each list with its own segment of a table. Raises ConfigError for a table of other lists."""
    check_same_lists(nbests, table)
    for segment, nbest in enumerate(nbests):
        yield nbest, _compact(table.take_segments([segment])[0])


def _compact(table: FeatureTable) -> FeatureTable:
    """The table without the sparse features that none of its rows has: each list has only a few of them."""
    used, indices = np.unique(table.sparse.indices, return_inverse=True)
    names = tuple(table.sparse.names[column] for column in used)
    return replace(table, sparse=replace(table.sparse, names=names, indices=indices.astype(np.int32)))
