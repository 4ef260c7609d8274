"""Classifiers by the features of single sentences, how they are trained, and their file.

A classifier has weights of features, and a threshold that the weighted sum must exceed: one score with a threshold, as
Pauls and Klein (2012, §5.3) classify by the syntactic log-odds ratio, or a logistic regression over several.

    kind = "threshold"                  # or "logistic"
    threshold = 2.75                    # tuned for the criterion, whatever the kind
    constant = -1.5                     # only of a logistic one: 1 / (1 + exp(-(sum + constant))) is a probability
    [weights]
    slr = 1.0
    [provenance]                        # how it was trained, and how to extract its features

A logistic classifier of an earlier version has no constant: its threshold is that of the probability 1/2.

Floats are written with enough digits to be read back exactly.

A sentence is accepted where its score is above the threshold. Each measure of n scores sorts them once: O(n log n).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from rerank_adapters.applications.acceptability.features import fit_logistic, sentence_table
from rerank_adapters.applications.acceptability.judgements import Judgement
from rerank_adapters.chain.provenance import made_at
from rerank_adapters.text import TextPipeline
from rerank_adapters.weights.named_weights import plain_values, read_toml, write_toml
from rerank_plugins import ConfigError, FloatArray, __version__
from rerank_plugins.core.arrays import BoolArray, LongArray
from rerank_plugins.core.feature_table import FeatureTable
from rerank_plugins.core.registry import suggestion

if TYPE_CHECKING:
    from rerank_adapters.chain.job import Job


Criterion = Literal["accuracy", "mcc"]
KEYS = ("kind", "threshold", "constant", "weights", "provenance")
KINDS = ("threshold", "logistic")
ALL = "all, logistic"  # the name of the classifier that has all columns


class RocCurve(NamedTuple):
    """The proportions of bad and good sentences that are accepted as the threshold falls; both rise from 0 to 1."""

    false_positive: FloatArray
    true_positive: FloatArray


class Reliability(NamedTuple):
    """For each bin, the mean predicted probability, the proportion of acceptable sentences, and their total number."""

    predicted: FloatArray
    observed: FloatArray
    counts: LongArray


def accuracy(accepted: BoolArray, good: BoolArray) -> float:
    """The proportion of correct decisions."""
    return float(np.mean(accepted == good))


def matthews(accepted: BoolArray, good: BoolArray) -> float:
    """Matthews' correlation of decisions and true labels, from -1 to 1; 0 where either never varies.

    MCC = (tp·tn - fp·fn) / sqrt((tp+fp) (tp+fn) (tn+fp) (tn+fn)).
    """
    tp, fp = np.array([np.sum(accepted & kind) for kind in (good, ~good)], np.float64)
    return float(_matthews(tp, fp, float(good.sum()), float(len(good) - good.sum())))


def _matthews(tp: FloatArray, fp: FloatArray, good: float, bad: float) -> FloatArray:
    product = (tp + fp) * good * bad * (good + bad - tp - fp)
    top = tp * (bad - fp) - fp * (good - tp)
    return np.divide(top, np.sqrt(product), out=np.zeros_like(top), where=product > 0)


def roc_curve(scores: FloatArray, good: BoolArray) -> RocCurve:
    """The curve has a point for each distinct score, and begins at (0, 0)."""
    tp, fp, _ = _accepted(scores, good)
    return RocCurve(fp / max(1, fp[-1]), tp / max(1, tp[-1]))


def roc_area(scores: FloatArray, good: BoolArray) -> float:
    """The probability that a good sentence scores higher than a bad one, where ties count half (Mann-Whitney's U).

    The area is nan where one class is empty.
    """
    if good.all() or not good.any():
        return float("nan")
    x, y = roc_curve(scores, good)
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)


def best_threshold(scores: FloatArray, good: BoolArray, criterion: Criterion = "accuracy") -> float:
    """The threshold with the highest accuracy or Matthews correlation: half-way between two neighbouring scores.

    Among equally good thresholds the middle one is taken. The thresholds that accept or reject every sentence lie 1
    beyond the lowest and the highest score.
    """
    tp, fp, cuts = _accepted(scores, good)
    tn = fp[-1] - fp
    value = tp + tn if criterion == "accuracy" else _matthews(tp, fp, tp[-1], fp[-1])
    best = np.flatnonzero(value >= value.max() - 1e-12)
    return float(cuts[best[len(best) // 2]])


def reliability(probabilities: FloatArray, good: BoolArray, bins: int = 10) -> Reliability:
    """Predicted probabilities, in `bins` equal parts of [0, 1], against observed proportions, without empty bins."""
    place = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    counts = np.bincount(place, minlength=bins)
    used = counts > 0
    sums = [np.bincount(place, values, bins)[used] / counts[used] for values in (probabilities, good)]
    return Reliability(sums[0], sums[1], counts[used])


def _accepted(scores: FloatArray, good: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Good and bad sentences accepted at each threshold that decides differently, and these thresholds, falling."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.append(np.flatnonzero(ranked[1:] < ranked[:-1]), len(ranked) - 1)  # the last of equal scores
    tp = np.append(0, np.cumsum(good[order])[ends]).astype(np.float64)
    fp = np.append(0, ends + 1) - tp
    levels = ranked[ends]
    between = (levels[:-1] + levels[1:]) / 2
    return tp, fp, np.concatenate([[levels[0] + 1], between, [levels[-1] - 1]])


@dataclass(frozen=True)
class Classifier:
    """Accepts a sentence where Σ weight · feature is above the threshold; `kind` is how the weights were learnt.

    `constant` is that of a logistic regression, None without one. The threshold is tuned for a criterion, and need not
    be the point at which the regression gives the probability 1/2.
    """

    kind: Literal["threshold", "logistic"]
    weights: Mapping[str, float]
    threshold: float
    provenance: Mapping[str, Any] = field(default_factory=dict)
    constant: float | None = None

    def margins(self, table: FeatureTable) -> FloatArray:
        """(rows) the weighted sum minus the threshold. Raises ConfigError naming features that the table lacks."""
        missing = [name for name in self.weights if name not in table.names]
        if missing:
            raise ConfigError(f"the classifier needs features that were not extracted: {', '.join(missing)}")
        columns = [table.names.index(name) for name in self.weights]
        sums: FloatArray = table.values[:, columns] @ np.array(list(self.weights.values()))
        return sums - self.threshold

    def probabilities(self, margins: FloatArray) -> FloatArray:
        """P(acceptable) = σ(Σ weight · feature + constant) by the margins; only for a logistic classifier."""
        constant = -self.threshold if self.constant is None else self.constant
        return 1 / (1 + np.exp(-np.clip(margins + self.threshold + constant, -700, 700)))


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
    if document.get("kind") not in KINDS:
        raise file.error(f"kind is {document.get('kind')!r}, wanted one of: {', '.join(KINDS)}", "kind")
    weights, provenance = document.get("weights"), document.get("provenance", {})
    if not isinstance(weights, dict) or not weights or not isinstance(provenance, dict):
        raise file.error("no weights: wanted a table [weights] with a number for each feature")
    constants = {key: document[key] for key in ("constant",) if key in document}
    if constants and document["kind"] != "logistic":
        raise file.error(f"a classifier of kind {document['kind']!r} has no constant", "constant")
    numbers = {"threshold": document.get("threshold"), **constants, **weights}
    for key, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise file.error(f"{key!r} is {value!r}, wanted a finite number", key)
    return Classifier(
        document["kind"],
        {key: float(value) for key, value in weights.items()},
        float(document["threshold"]),
        {**provenance, "file": file.name},
        float(constants["constant"]) if constants else None,
    )


@dataclass(frozen=True, eq=False)
class TrainedClassifier:
    """A classifier, the name of its system, and for both sets its margins and the true labels.

    A margin is score minus threshold: a sentence with a positive margin is classified as acceptable.
    """

    system: str
    classifier: Classifier
    dev_margins: FloatArray
    test_margins: FloatArray
    dev_acceptable: BoolArray
    test_acceptable: BoolArray


def train_classifiers(
    job: Job, dev: Sequence[Judgement], test: Sequence[Judgement], text: TextPipeline, *, columns: Sequence[str] = (),
    criterion: Criterion = "accuracy", logistic: bool = True,
) -> list[TrainedClassifier]:  # fmt: skip
    """A threshold on each column that varies; with `logistic`, then one on the regression of all, fitted to `dev`.

    All thresholds are tuned on `dev` for the criterion. Raises ConfigError where no column varies.
    """
    table = sentence_table(job, [judgement.nbest() for judgement in [*dev, *test]], text, columns)
    acceptable = np.array([judgement.acceptable for judgement in [*dev, *test]])
    size = len(dev)

    def trained(system: str, classifier: Classifier) -> TrainedClassifier:
        margins = classifier.margins(table)
        return TrainedClassifier(
            system, classifier, margins[:size], margins[size:], acceptable[:size], acceptable[size:]
        )

    varying = [i for i in range(len(table.names)) if np.ptp(table.values[:size, i]) > 0]
    if not varying:
        raise ConfigError("no feature gives any two sentences different values")
    systems = []
    for i in varying:
        threshold = best_threshold(table.values[:size, i], acceptable[:size], criterion)
        systems.append(trained(table.names[i], Classifier("threshold", {table.names[i]: 1.0}, threshold)))
    if logistic:
        regression = fit_logistic(table.values[:size], acceptable[:size])
        weights = dict(zip(table.names, regression.weights.tolist(), strict=True))
        threshold = best_threshold(table.values[:size] @ regression.weights, acceptable[:size], criterion)
        systems.append(trained(ALL, Classifier("logistic", weights, threshold, constant=regression.constant)))
    return systems


def recorded_classifier(job: Job, classifier: Classifier, text: TextPipeline, folder: Path, **more: Any) -> Classifier:
    """The classifier with all that is needed to classify other sentences alike, and `more` about its training.

    File names are recorded relative to `folder`, where the classifier will be saved.
    """
    from rerank_adapters.chain.provenance import EXTRACTING, RECORDED, recorded_tables

    provenance = {
        "version": __version__,
        "made": made_at(),
        "steps": text.rebased(folder),
        **more,
        RECORDED: recorded_tables(job, folder, *EXTRACTING),
    }
    return replace(classifier, provenance=provenance)


def recorded_text(classifier: Classifier, folder: Path) -> TextPipeline:
    """The text steps with which a classifier that was saved in `folder` was trained."""
    return TextPipeline(tuple(classifier.provenance.get("steps", ())), folder)


def sentence_margins(job: Job, classifier: Classifier, sentences: Sequence[str], text: TextPipeline) -> FloatArray:
    """(sentences) score minus threshold, positive for acceptable. The job is the one recorded with the classifier."""
    nbests = [Judgement(sentence, True, line=line).nbest() for line, sentence in enumerate(sentences, 1)]
    return classifier.margins(sentence_table(job, nbests, text, tuple(classifier.weights)))
