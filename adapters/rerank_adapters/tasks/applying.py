"""Weights applied to lists: the new order of each, by the features that the weights were tuned for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rerank_adapters.config import Config
from rerank_adapters.formats.decoder_features import align
from rerank_adapters.reranking import rerank
from rerank_adapters.tasks.extracting import dense_rule
from rerank_adapters.tasks.job import Job
from rerank_adapters.weights import Weights
from rerank_plugins import ConfigError, FeatureTable, FormatError, NBestList, Rescored
from rerank_plugins.plugins import Registry

RECORDED = "job"  # the key of a weights file's provenance that holds the tables needed to apply them


def recorded_job(weights: Weights, path: Path, registry: Registry) -> Job:
    """The job whose features the weights are for, as `tune` recorded it; an empty one for weights from elsewhere."""
    tables: dict[str, Any] = dict(weights.provenance.get(RECORDED, {}))
    return Job.create(Config.model_validate({**tables, "base": path.parent}), registry)


def apply_weights(
    job: Job, weights: Weights, pairs: Iterable[tuple[NBestList, FeatureTable]]
) -> Iterator[tuple[NBestList, Rescored]]:
    """Each list with its new order; `pairs` are lists with tables of one or more segments each, streaming.

    Raises ConfigError where the weights are for other features.
    """
    measure = job.measures[0] if weights.decision == "mbr" else None
    rule = dense_rule(job)
    for nbest, table in pairs:
        aligned = align(
            table, tuple(weights.dense), tuple(weights.sparse), absent_is_zero=bool(rule and rule.absent_is_zero)
        )
        yield from rerank(
            [nbest],
            aligned,
            weights.vector_for(aligned),
            utility=measure.metric if measure else None,
            scale=weights.scale,
            evidence=weights.evidence or None,
            texts=[measure.text.apply(nbest.texts)] if measure else None,
        )


def once(nbests: Iterable[NBestList]) -> Iterator[NBestList]:
    """The lists, streaming. Raises FormatError for a segment that comes again: its lists must be merged first."""
    seen: set[str] = set()
    for nbest in nbests:
        if nbest.segment_id in seen:
            again = f"segment {nbest.segment_id} comes again after other segments: `rerank merge` the lists first"
            raise FormatError(again, line=nbest.line or None)
        seen.add(nbest.segment_id)
        yield nbest


def table_pairs(nbests: Iterable[NBestList], table: FeatureTable) -> Iterator[tuple[NBestList, FeatureTable]]:
    """Each list with its own segment of a table. Raises ConfigError where lists and table do not belong together."""
    segment = -1
    for segment, nbest in enumerate(nbests):
        if segment >= table.segments:
            raise ConfigError(f"more n-best lists than the {table.segments} segments of the feature table")
        yield nbest, table.take_segments([segment])[0]
    if segment + 1 != table.segments:
        raise ConfigError(f"{segment + 1} n-best lists, but {table.segments} segments in the feature table")
