"""A classifier of sentences and its file: weights of features, and the threshold that the weighted sum must exceed.

    kind = "threshold"                  # or "logistic": then 1 / (1 + exp(threshold - sum)) is a probability
    threshold = 2.75
    [weights]
    slr = 1.0
    [provenance]                        # how it was trained, and how to extract its features

Floats are written with enough digits to be read back exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rerank_adapters.weights.files import plain_values, read_toml, write_toml
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.feature_table import FeatureTable
from rerank_plugins.core.registry import suggestion

KEYS = ("kind", "threshold", "weights", "provenance")
KINDS = ("threshold", "logistic")


@dataclass(frozen=True)
class Classifier:
    """Accepts a sentence where Σ weight · feature is above the threshold; `kind` is how both were learnt."""

    kind: Literal["threshold", "logistic"]
    weights: Mapping[str, float]
    threshold: float
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def margins(self, table: FeatureTable) -> FloatArray:
        """(rows) the weighted sum minus the threshold. Raises ConfigError naming features that the table lacks."""
        missing = [name for name in self.weights if name not in table.names]
        if missing:
            raise ConfigError(f"the classifier needs features that were not extracted: {', '.join(missing)}")
        columns = [table.names.index(name) for name in self.weights]
        sums: FloatArray = table.values[:, columns] @ np.array(list(self.weights.values()))
        return sums - self.threshold

    def probabilities(self, margins: FloatArray) -> FloatArray:
        """P(acceptable) = σ(margin); only for a logistic classifier."""
        return 1 / (1 + np.exp(-np.clip(margins, -700, 700)))


def write_classifier(classifier: Classifier, path: str | Path) -> None:
    """Write the file, in full or not at all; `-` is stdout. Raises OSError."""
    document = {
        "kind": classifier.kind,
        "threshold": classifier.threshold,
        "weights": dict(classifier.weights),
        "provenance": plain_values(classifier.provenance),
    }
    write_toml(document, path)


def read_classifier(path: str | Path) -> Classifier:
    """Read a classifier. Raises FormatError, with file and key, for a missing, unknown or malformed key."""
    file = read_toml(path)
    document = file.document
    for key in document:
        if key not in KEYS:
            raise file.error(f"unknown key {key!r}{suggestion(key, KEYS)}: not a classifier", key)
    if document.get("kind") not in KINDS:
        raise file.error(f"kind is {document.get('kind')!r}, wanted one of: {', '.join(KINDS)}", "kind")
    weights, provenance = document.get("weights"), document.get("provenance", {})
    if not isinstance(weights, dict) or not weights or not isinstance(provenance, dict):
        raise file.error("no weights: wanted a table [weights] with a number for each feature")
    numbers = {"threshold": document.get("threshold"), **weights}
    for key, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise file.error(f"{key!r} is {value!r}, wanted a finite number", key)
    return Classifier(
        document["kind"],
        {key: float(value) for key, value in weights.items()},
        float(document["threshold"]),
        {**provenance, "file": file.name},
    )
