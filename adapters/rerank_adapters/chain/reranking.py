"""Reranking by features and weights: the highest weighted sum wins, or the highest expected utility (MBR).

Of hypotheses with equal scores the earlier one wins, so that the decoder's order decides where the weights do not.
Multiplying all weights by c > 0 changes nothing under "map"; under "mbr" the scale of the posterior is a setting of its
own (see tuners/mbr_decision.py). Cost: O(rows · features) for the sums, O(rows) for 1-bests, O(rows · log n) for whole
orders; MBR adds the utilities, n² or n · `evidence` per list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from rerank_adapters.tuners.mbr_decision import expected_scores
from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.errors import RerankError
from rerank_plugins.core.feature_table import FeatureTable
from rerank_plugins.core.metrics_and_tuners import Metric, Rescored, Scorer
from rerank_plugins.core.nbest import NBestList


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
    scorer: Scorer | None = None,
) -> Iterator[tuple[NBestList, Rescored]]:
    """Yield each list with its new order. `weights` are in the order of `table.all_names`.

    With `utility` the decision is MBR: the totals are expected utilities (higher is better, for error metrics too)
    under softmax(scale · weighted sum), in which the `evidence` highest hypotheses represent the list (all if None).
    `texts` are the hypotheses of each segment as the metric should see them; those of the lists if None. `added` names
    the features that are not the decoder's, as for `rescore`. A `scorer` adds its scores to the weighted sums.

    Raises RerankError where lists and table do not belong together, or one is longer than the other.
    """
    sums = table.scores(weights)
    if scorer is not None:
        sums = sums + scorer.scores(table)
    processed = iter(texts) if texts is not None else None
    segment = -1
    for segment, nbest in enumerate(nbests):
        if segment >= table.segments:
            raise RerankError(f"there are more n-best lists than the {table.segments} segments of the feature table")
        scores = sums[table.offsets[segment] : table.offsets[segment + 1]]
        if utility is not None:
            scores = expected_scores(scores, next(processed) if processed else nbest.texts, utility, scale, evidence)
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
