"""Reranks n-best lists by weights, with the features that the weights were tuned for.

The highest weighted sum wins or, under MBR, the highest expected utility; of equal scores the earlier one wins, so that
the decoder's order decides where the weights do not. Where the weights have a margin, the 1-best is left only for a
total that exceeds its own by more (tuners/margin.py). Multiplying all weights, and the margin, by c > 0 changes nothing
under "map"; under "mbr" the scale of the posterior is a setting of its own. Cost: O(rows · features) for the sums,
O(rows) for 1-bests, O(rows · log n) for whole orders; MBR adds the utilities, n² or n · `evidence` per list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from rerank_adapters.chain.job import Job
from rerank_adapters.chain.list_facts import ListFacts
from rerank_adapters.chain.totals import TOTALS, check_totals
from rerank_adapters.features.extraction import RECORDED
from rerank_adapters.features.tables import check_same_lists
from rerank_adapters.formats.decoder_features import align
from rerank_adapters.tuners.margin import with_margin
from rerank_adapters.tuners.mbr_decision import expected_scores
from rerank_adapters.weights import Weights
from rerank_plugins import (
    ConfigError,
    FeatureTable,
    FloatArray,
    Metric,
    NBestList,
    RerankError,
    Rescored,
)
from rerank_plugins.core.arrays import LongArray


def order_by_score(scores: FloatArray, offsets: LongArray) -> list[LongArray]:
    """For each segment the positions in its list (from 0), the highest score first; equal scores keep their order.

    Raises RerankError for a score that is nan and for a segment without rows.
    """
    bounds = _checked(scores, offsets).tolist()
    # One stable sort per list stays in the cache: it was faster than one sort over all rows at every size tried.
    return [np.argsort(-scores[i:j], kind="stable") for i, j in pairwise(bounds)]


def rescore(
    nbest: NBestList, table: FeatureTable, segment: int, scores: FloatArray, added: Collection[str] | None = None
) -> Rescored:
    """The result of reranking one list: the values of new features, the new totals (n) and the new order.

    `segment` is the number of the list in the table. `added` names the new features; None means all that the list does
    not have, dense or sparse. Raises RerankError where the list and the table do not belong together.
    """
    start, end = int(table.offsets[segment]), int(table.offsets[segment + 1])
    if table.segment_ids[segment] != nbest.segment_id or end - start != len(nbest):
        raise RerankError(
            f"the feature table has {end - start} rows for segment {table.segment_ids[segment]} where the n-best lists "
            f"have {len(nbest)} hypotheses for segment {nbest.segment_id}: extract the features of these lists again"
        )
    in_list = set(nbest.feature_names).union(*(h.sparse for h in nbest))
    new = [c for c, name in enumerate(table.names) if name not in in_list and (added is None or name in added)]
    order = order_by_score(scores, np.array([0, len(nbest)]))[0]
    return Rescored(tuple(table.names[c] for c in new), table.values[start:end, new], scores, order.tolist())


def rerank(
    nbests: Iterable[NBestList],
    table: FeatureTable,
    weights: FloatArray,
    *,
    utility: Metric | None = None,
    scale: float = 1.0,
    evidence: int | None = None,
    texts: Iterable[Sequence[str]] | None = None,
    added: Collection[str] | None = None,
    margin: float = 0.0,
) -> Iterator[tuple[NBestList, Rescored]]:
    """Yield each list with its new order. `weights` are in the order of `table.all_names`.

    With `utility` the decision is MBR: the totals are expected utilities (higher is better, for error metrics too)
    under softmax(scale · weighted sum), in which the `evidence` highest hypotheses represent the list (all if None).
    `texts` are the hypotheses of each segment as the metric should see them; those of the lists if None. `added` names
    the features that are not the decoder's, as for `rescore`.
    A `margin` is added to the total of the first hypothesis, which thereby reaches the highest total at most.

    Raises RerankError where lists and table do not belong together, or one is longer than the other.
    """
    sums = table.scores(weights)
    processed = iter(texts) if texts is not None else None
    segment = -1
    for segment, nbest in enumerate(nbests):
        if segment >= table.segments:
            raise RerankError(f"there are more n-best lists than the {table.segments} segments of the feature table")
        scores = sums[table.offsets[segment] : table.offsets[segment + 1]]
        if utility is not None:
            seen, own = next(processed) if processed else nbest.texts, utility.with_sources([nbest.source])
            scores = expected_scores(scores, seen, own, scale, evidence)
        scores = with_margin(scores, np.array([0, len(scores)]), margin)
        yield nbest, rescore(nbest, table, segment, scores, added)
    if segment + 1 != table.segments:
        raise RerankError(f"{segment + 1} n-best lists, but {table.segments} segments in the feature table")


def _checked(scores: FloatArray, offsets: LongArray) -> LongArray:
    empty = np.flatnonzero(np.diff(offsets) <= 0)
    if len(empty):
        raise RerankError(f"segment {int(empty[0])} (counted from 0) has no hypotheses to choose from")
    undefined = np.flatnonzero(np.isnan(scores))
    if len(undefined):
        segment = int(np.searchsorted(offsets, undefined[0], side="right")) - 1
        raise RerankError(f"the score of a hypothesis of segment {segment} (counted from 0) is not a number")
    return offsets


def apply_weights(
    job: Job,
    weights: Weights,
    pairs: Iterable[tuple[NBestList, FeatureTable]],
    *,
    advice: str = "",
    facts: ListFacts | None = None,
) -> Iterator[tuple[NBestList, Rescored]]:
    """Yield each list with its new order; `pairs` are lists with their own tables of one segment each.

    Every list is added to the `facts`, if any.

    Raises ConfigError where the weights are for other features than a table has, with `advice` where features are
    missing, and where a feature reads totals, which only these lists or only those of the tuning had.
    """
    measure = job.measures[0] if weights.decision == "mbr" else None
    added = job.names if RECORDED in weights.provenance else None
    totals = weights.provenance.get(TOTALS)
    for nbest, table in pairs:
        check_totals(nbest, totals, job.features)
        in_order, vector = aligned(job, weights, nbest, table, advice)
        ((_, rescored),) = rerank(
            [nbest],
            in_order,
            vector,
            utility=measure.metric if measure else None,
            scale=weights.scale,
            evidence=weights.evidence or None,
            texts=[measure.text.apply(nbest.texts)] if measure else None,
            added=added,
            margin=weights.margin,
        )
        if facts is not None:
            facts.add(nbest, in_order.names, in_order.values, left=bool(rescored.order[0] != 0))
        yield nbest, rescored


def aligned(
    job: Job, weights: Weights, nbest: NBestList, table: FeatureTable, advice: str = ""
) -> tuple[FeatureTable, FloatArray]:
    """The table of a list with the features of the weights in their order, and the weights as a vector.

    Raises ConfigError as `apply_weights` does.
    """
    rule = getattr(job.format, "dense_rule", None)
    dense = weights.dense_for(table.all_names, frozenset(table.sparse.names))
    sparse = [name for name in table.all_names if name in weights.sparse]  # only those of the many that this list has
    try:
        in_order = align(table, tuple(dense), sparse, absent_is_zero=bool(rule and rule.absent_is_zero))
    except ConfigError as error:
        origin = weights.provenance.get("file", "weights")
        message = f"{origin}: not the weights for these lists: segment {nbest.segment_id}: {error}"
        raise ConfigError(message + advice * bool(dense.keys() - {*table.all_names})) from None
    return in_order, np.array([*dense.values(), *(weights.sparse[name] for name in sparse)], np.float64)


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
