"""Reranks n-best lists by weights: the same for lists from files, from memory and from pipes.

The highest weighted sum wins or, under MBR, the highest expected utility; of equal totals the earlier one wins, so that
the decoder's order decides where the weights do not. Where the weights have a margin, the 1-best is replaced only for a
total that exceeds its own by more (tuners/margin.py). Multiplying all weights, and the margin, by c > 0 changes nothing
under "map"; under "mbr" the scale of the posterior is a setting of its own. Cost: O(rows · features) for the sums,
O(rows · log n) for the orders; MBR adds the utilities, n² or n · `evidence` per list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from rerank_adapters.data.unlike import ListFacts
from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.features.feature import Feature, names_of
from rerank_adapters.features.tables import RECORDED, check_same_lists
from rerank_adapters.formats.decoder_features import DenseRule, align
from rerank_adapters.tuners.margin import with_margin
from rerank_adapters.tuners.mbr_decision import expected_scores
from rerank_adapters.tuning.selection import SELECTION
from rerank_adapters.weights import Weights
from rerank_plugins import (
    ConfigError,
    FeatureTable,
    FloatArray,
    NBestFormat,
    NBestList,
    RerankError,
    Rescored,
)

TOTALS = "totals"  # the key of a provenance under which weights record whether the lists of the tuning had totals

Pair = tuple[NBestList, FeatureTable]  # a list, and the table of its features alone


def rerank(
    pairs: Iterable[Pair],
    weights: Weights,
    measure: Measure | None,
    *,
    features: Sequence[Feature] = (),
    form: NBestFormat | None = None,
    advice: str = "",
    facts: ListFacts | None = None,
) -> Iterator[tuple[NBestList, Rescored]]:
    """Yield each list with its new order, and with the values of those features that are not the decoder's.

    `measure` is the metric of an MBR decision, whose totals are expected utilities (higher is better, for error metrics
    too); other decisions need none. `features` are those that were extracted, and `form` is the format of the lists,
    which says whether absent features are 0. Every list is added to the `facts`, if any.

    Raises ConfigError where the weights are for other features than a table has, with `advice` where features are
    missing, and where a feature reads totals that only these lists or only those of the tuning had; RerankError for a
    total that is not a number.
    """
    added = set(names_of(features)) if RECORDED in weights.provenance else None
    for nbest, table in pairs:
        _check_totals(nbest, weights, features)
        in_order, vector = weighted(nbest, table, weights, form, advice)
        totals = in_order.scores(vector)
        if weights.decision == "mbr":
            if measure is None:
                raise ConfigError("the weights choose by expected utilities, but no metric is given for them")
            metric, texts = measure.metric.with_sources([nbest.source]), measure.text.apply(nbest.texts)
            totals = expected_scores(totals, texts, metric, weights.scale, weights.evidence or None)
        totals = with_margin(totals, np.array([0, len(totals)]), weights.margin)
        if np.isnan(totals).any():
            raise RerankError(f"segment {nbest.segment_id}: the total of a hypothesis is not a number")
        order = np.argsort(-totals, kind="stable").tolist()
        if facts is not None:
            facts.add(nbest, in_order.names, in_order.values, changed=order[0] != 0)
        known = set(nbest.feature_names).union(*nbest.sparse)
        new = [
            column
            for column, name in enumerate(in_order.names)
            if name not in known and (added is None or name in added)
        ]
        names = tuple(in_order.names[column] for column in new)
        yield nbest, Rescored(names, in_order.values[:, new], totals, order)


def weighted(
    nbest: NBestList, table: FeatureTable, weights: Weights, form: NBestFormat | None = None, advice: str = ""
) -> tuple[FeatureTable, FloatArray]:
    """The table of a list with the features of the weights in their order, and the weights as a vector.

    Features that a selection before the tuning has left out are dropped. Raises ConfigError as `rerank` does.
    """
    if left_out := _left_out(table.names, weights):
        kept = [column for column, name in enumerate(table.names) if name not in left_out]
        table = replace(table, names=tuple(table.names[column] for column in kept), values=table.values[:, kept])
    dense = weights.dense_for(table.all_names, frozenset(table.sparse.names))
    sparse = [name for name in table.all_names if name in weights.sparse]  # only those of the many that this list has
    rule: DenseRule | None = getattr(form, "dense_rule", None)  # known to some formats once they have read a list
    try:
        in_order = align(table, tuple(dense), sparse, absent_is_zero=bool(rule and rule.absent_is_zero))
    except ConfigError as error:
        origin = weights.provenance.get("file", "weights")
        message = f"{origin}: not the weights for these lists: segment {nbest.segment_id}: {error}"
        raise ConfigError(message + advice * bool(dense.keys() - {*table.all_names})) from None
    return in_order, np.array([*dense.values(), *(weights.sparse[name] for name in sparse)], np.float64)


def _left_out(names: Sequence[str], weights: Weights) -> set[str]:
    """Those columns that belong to features which the weights record as left out by a selection."""
    labels: list[str] = []
    with suppress(LookupError, TypeError):  # most weights record none, and one may be edited by hand
        record = weights.provenance[SELECTION]
        labels = [*(step["family"] for step in record["steps"][record["kept"] :]), *record["untried"]]
    owned = {name for name in names if any(name == label or name.startswith(f"{label}.") for label in labels)}
    return owned - weights.dense.keys()


def _check_totals(nbest: NBestList, weights: Weights, features: Sequence[Feature]) -> None:
    """Raise ConfigError where a feature reads totals, and either this list or the lists of the tuning had none."""
    record = weights.provenance.get(TOTALS)
    if record is None or not len(nbest) or (nbest[0].score is not None) == record["present"]:
        return
    label = next((feature.label for feature in features if feature.extractor.reads_totals), None)
    if label is not None:
        tuned, here = ("had totals", "has none") if record["present"] else ("had no totals", "has some")
        lists = f"the lists that the weights were tuned on {tuned}, which {label!r} reads"
        raise ConfigError(f"{lists}; segment {nbest.segment_id} {here}")


def pairs_of(lists: Sequence[NBestList], table: FeatureTable) -> Iterator[Pair]:
    """Yield each list with its own segment of a table. Raises ConfigError for a table of other lists."""
    check_same_lists(lists, table)
    for segment, nbest in enumerate(lists):
        own, _ = table.take_segments([segment])
        used, indices = np.unique(own.sparse.indices, return_inverse=True)  # each list has few of the sparse features
        names = tuple(own.sparse.names[column] for column in used)
        yield nbest, replace(own, sparse=replace(own.sparse, names=names, indices=indices.astype(np.int32)))
