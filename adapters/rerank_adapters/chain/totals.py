"""The decoder's totals, on which some features depend: weights record what the lists of the tuning had.

In most formats of neural decoders and recognisers the total is one of the features too, times a constant: fairseq's
`score` is the natural logarithm of its total. A program that has hypotheses in memory knows one of the two. With the
constant, the other one is filled in. Where neither is known, or where the lists of the tuning had no totals, a feature
that reads them would mean another thing than the one that the weights are for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rerank_adapters.features.feature import Feature
from rerank_plugins import ConfigError, FeatureTable, NBestList

TOTALS = "totals"  # the key of a provenance
EXACT = 1e-6  # how far a total may be from a multiple of a feature, relative to the largest


def record_of_totals(nbests: Sequence[NBestList], table: FeatureTable, extracted: Collection[str]) -> dict[str, Any]:
    """Whether the lists have totals and, where these are a multiple of one of the decoder's features, which one.

    `table` has the features of the lists, of which those in `extracted` are not the decoder's.
    """
    totals = np.concatenate([np.empty(0), *(nbest.totals for nbest in nbests)])
    if not len(totals) or np.isnan(totals).any():
        return {"present": False}
    names = [name for name in table.names if name not in extracted]
    for name in sorted(names, key=lambda name: name != "score"):
        values = table.values[:, table.names.index(name)]
        norm = float(values @ values)
        if values.min() == values.max() or not np.isfinite(norm):
            continue
        factor = float(totals @ values) / norm
        if factor and np.abs(totals - factor * values).max() <= EXACT * np.abs(totals).max():
            return {"present": True, "feature": name, "factor": 1.0 if abs(factor - 1) < EXACT else factor}
    return {"present": True}


def with_totals(nbest: NBestList, record: Mapping[str, Any] | None) -> NBestList:
    """The list with its totals from the feature that the record names, or with that feature from its totals."""
    name = (record or {}).get("feature")
    if record is None or name is None or not len(nbest):
        return nbest
    factor, has_totals = record["factor"], all(hypothesis.score is not None for hypothesis in nbest)
    if name in nbest.feature_names and not has_totals:
        column = nbest.feature_names.index(name)
        hypotheses = tuple(h._replace(score=factor * h.features[column]) for h in nbest)
        return replace(nbest, hypotheses=hypotheses)
    if has_totals and name not in nbest.feature_names and not any(name in h.sparse for h in nbest):
        hypotheses = tuple(h._replace(features=(*h.features, (h.score or 0.0) / factor)) for h in nbest)
        return replace(nbest, hypotheses=hypotheses, feature_names=(*nbest.feature_names, name))
    return nbest


def check_totals(nbest: NBestList, record: Mapping[str, Any] | None, features: Iterable[Feature]) -> None:
    """Raise ConfigError where a feature reads totals, and either this list or the lists of the tuning had none."""
    if record is None or not len(nbest) or (nbest[0].score is not None) == record["present"]:
        return
    label = next((feature.label for feature in features if feature.extractor.reads_totals), None)
    if label is None:
        return
    tuned, here = ("had totals", "has none") if record["present"] else ("had no totals", "has some")
    known = f" (the feature {record['feature']!r} would do)" if "feature" in record else ""
    lists = f"the lists that the weights were tuned on {tuned}, which {label!r} reads"
    raise ConfigError(f"{lists}; segment {nbest.segment_id} {here}{known}")
