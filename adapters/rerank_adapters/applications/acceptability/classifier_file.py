"""The file of a classifier of sentences.

    kind = "threshold"                  # or "logistic"
    threshold = 2.75                    # tuned for the criterion, whatever the kind
    constant = -1.5                     # only of a logistic one: 1 / (1 + exp(-(sum + constant))) is a probability
    [weights]
    slr = 1.0
    [provenance]                        # how it was trained, and how to extract its features

Floats are written with enough digits to be read back exactly. File names are relative to the folder of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any, get_args

from rerank_adapters.applications.acceptability.classifier import Classifier, Kind
from rerank_adapters.features.tables import RECORDED
from rerank_adapters.text import TextPipeline
from rerank_adapters.weights import made_at
from rerank_adapters.weights.named_weights import plain_values, read_toml, write_toml
from rerank_plugins import __version__
from rerank_plugins.core.errors import suggestion

KEYS = ("kind", "threshold", "constant", "weights", "provenance")
KINDS = get_args(Kind)


def write_classifier(classifier: Classifier, path: str | Path) -> None:
    """Write the file, in full or not at all; `-` is stdout. Raises OSError."""
    document = {
        "kind": classifier.kind,
        "threshold": classifier.threshold,
        **({} if classifier.constant is None else {"constant": classifier.constant}),
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
    kind = document.get("kind")
    if kind not in KINDS:
        raise file.error(f"kind is {kind!r}, wanted one of: {', '.join(KINDS)}", "kind")
    weights, provenance = document.get("weights"), document.get("provenance", {})
    if not isinstance(weights, dict) or not weights or not isinstance(provenance, dict):
        raise file.error("no weights: wanted a table [weights] with a number for each feature")
    if kind == "threshold" and "constant" in document:
        raise file.error(f"a classifier of kind {kind!r} has no constant", "constant")
    wanted = ("threshold",) if kind == "threshold" else ("threshold", "constant")
    for key, value in [*((key, document.get(key)) for key in wanted), *weights.items()]:
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise file.error(f"{key!r} is {value!r}, wanted a finite number", key)
    return Classifier(
        {key: float(value) for key, value in weights.items()},
        float(document["threshold"]),
        float(document["constant"]) if kind == "logistic" else None,
        {**provenance, "file": file.name},
    )


def recorded_classifier(
    classifier: Classifier, text: TextPipeline, folder: Path, record: Mapping[str, Any], **more: Any
) -> Classifier:
    """The classifier with all that is needed to classify other sentences alike, and `more` about its training.

    `record` has the tables of a config that make the features again. File names are recorded relative to `folder`,
    where the classifier will be saved.
    """
    provenance = {
        "version": __version__,
        "made": made_at(),
        "steps": text.rebased(folder),
        **more,
        RECORDED: record,
    }
    return replace(classifier, provenance=provenance)


def recorded_text(classifier: Classifier, folder: Path) -> TextPipeline:
    """The text steps with which a classifier that was saved in `folder` was trained."""
    return TextPipeline(tuple(classifier.provenance.get("steps", ())), folder)
