"""Feature tables of lists: whether a saved one belongs to these lists, and which of its columns were extracted.

A table records, for each feature that was extracted, its identity and its components, and a hash of the lists.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rerank_adapters.features.feature import Feature, column_names
from rerank_adapters.formats.segment_ids import some_of
from rerank_plugins import ConfigError, FeatureTable, NBestList
from rerank_plugins.core.identity import constructor_call

DESCRIPTIONS = "features"  # the key of a provenance under which each feature is described, by label
HASH_OF_LISTS = "lists"  # the key under which the hash of the lists is
RECORDED = "job"  # the key under which the tables of a config are that make the features again; weights have it, too


def described(features: Iterable[Feature]) -> dict[str, Any]:
    """By label, what a table records of each feature."""
    return {
        feature.label: {
            "plugin": constructor_call(feature.extractor),
            "components": list(feature.extractor.components),
            "text": feature.text.describe(),
            "source": feature.source.describe(),
            "identity": feature.identity,
        }
        for feature in features
    }


def records_extraction(table: FeatureTable) -> bool:
    """Whether the table was extracted from lists, together with the decoder's features."""
    return DESCRIPTIONS in table.provenance


def recorded_columns(table: FeatureTable) -> dict[str, Sequence[str]]:
    """By label, the columns of the table that were extracted for it."""
    descriptions: Mapping[str, Any] = table.provenance.get(DESCRIPTIONS, {})
    return {label: column_names(label, how["components"]) for label, how in descriptions.items()}


def decoder_columns(table: FeatureTable, features: Iterable[Feature]) -> list[str]:
    """The names of the decoder's columns: where the table records no extraction, those that no feature has."""
    extracted = recorded_columns(table).values() if records_extraction(table) else [f.names for f in features]
    own = {name for names in extracted for name in names}
    return [name for name in table.names if name not in own]


def hash_of_lists(lists: Sequence[NBestList]) -> str:
    """A hash of ids, texts, features and totals of lists, in their order."""
    digest = hashlib.sha256()
    for nbest in lists:
        sparse = [dict(values) for values in nbest.sparse] if any(nbest.sparse) else []
        head = [nbest.segment_id, nbest.feature_names, len(nbest)]
        text = json.dumps([head, nbest.texts, sparse], ensure_ascii=False, sort_keys=True)
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(np.column_stack([nbest.totals, nbest.values]).tobytes())
    return digest.hexdigest()


def in_order_of_lists(lists: Sequence[NBestList], table: FeatureTable) -> FeatureTable:
    """The table with its segments in the order of the lists, if it has the same ones in another order.

    Raises ConfigError where these were not extracted from these very lists.
    """
    places = {nbest.segment_id: place for place, nbest in enumerate(lists)}
    if tuple(places) == table.segment_ids or places.keys() != set(table.segment_ids):
        return table
    check_same_lists([lists[places[id_]] for id_ in table.segment_ids], table)
    rows = {id_: place for place, id_ in enumerate(table.segment_ids)}
    ordered, _ = table.take_segments([rows[id_] for id_ in places])
    known = {HASH_OF_LISTS: hash_of_lists(lists)} if HASH_OF_LISTS in table.provenance else {}
    return replace(ordered, provenance={**table.provenance, **known})


def check_same_lists(lists: Sequence[NBestList], table: FeatureTable) -> None:
    """Raise ConfigError unless the table was extracted from these very lists."""
    again = "extract the features of these lists"
    if len(lists) != table.segments:
        ids, own = [nbest.segment_id for nbest in lists], list(table.segment_ids)
        sides = {"no list": [i for i in own if i not in {*ids}], "no features": [i for i in ids if i not in {*own}]}
        lacking = "; ".join(f"{what} of {some_of(ids)}" for what, ids in sides.items() if ids)
        sizes_differ = f"{len(lists)} n-best lists, but {table.segments} segments in the feature table"
        raise ConfigError(f"{sizes_differ} ({lacking}): {again}")
    sizes = (table.offsets[1:] - table.offsets[:-1]).tolist()
    for nbest, segment_id, size in zip(lists, table.segment_ids, sizes, strict=True):
        if (nbest.segment_id, len(nbest)) != (segment_id, size):
            in_lists = f"segment {nbest.segment_id} with {len(nbest)} hypotheses"
            in_table = f"segment {segment_id} with {size}"
            raise ConfigError(f"the lists have {in_lists} where the feature table has {in_table}: {again}")
    if table.provenance.get(HASH_OF_LISTS) not in (None, hash_of_lists(lists)):
        fault = "the feature table was extracted from other lists: texts, features or totals differ"
        raise ConfigError(f"{fault}; {again}")
