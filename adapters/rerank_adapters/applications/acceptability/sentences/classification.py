"""Trains classifiers of single sentences: a threshold on one score, or logistic regression over several.

Pauls and Klein (2012, §5.3) classify by a threshold on the syntactic log-odds ratio, tuned on a development set. Here
each column of the feature table becomes such a classifier, trained on one set and measured on another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from rerank_adapters.applications.acceptability.logistic import fit_logistic
from rerank_adapters.applications.acceptability.sentence_features import sentence_table
from rerank_adapters.applications.acceptability.sentences.classifier import Classifier
from rerank_adapters.applications.acceptability.sentences.judgements_file import Judgement
from rerank_adapters.applications.acceptability.sentences.measures import Criterion, best_threshold
from rerank_adapters.chain.job import Job
from rerank_adapters.chain.provenance import EXTRACTING, RECORDED, recorded_tables
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FloatArray, __version__
from rerank_plugins.core.arrays import BoolArray

ALL = "all, logistic"  # the name of the classifier that has all columns


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
    job: Job,
    dev: Sequence[Judgement],
    test: Sequence[Judgement],
    text: TextPipeline,
    *,
    columns: Sequence[str] = (),
    criterion: Criterion = "accuracy",
    strength: float = 1.0,
    logistic: bool = True,
) -> list[TrainedClassifier]:
    """A threshold on each column that varies, tuned on `dev`; with `logistic`, also a regression on all columns.

    The regression comes last; `strength` is the inverse of its penalty. Raises ConfigError where no column varies.
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
        regression = fit_logistic(table.values[:size], acceptable[:size], strength)
        weights = dict(zip(table.names, regression.weights.tolist(), strict=True))
        systems.append(trained(ALL, Classifier("logistic", weights, -regression.constant)))
    return systems


def recorded_classifier(job: Job, classifier: Classifier, text: TextPipeline, folder: Path, **more: Any) -> Classifier:
    """The classifier with all that is needed to classify other sentences alike, and `more` about its training.

    File names are recorded relative to `folder`, where the classifier will be saved.
    """
    provenance = {
        "version": __version__,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "steps": text.rebased(folder),
        **more,
        RECORDED: recorded_tables(job, folder, *EXTRACTING),
    }
    return Classifier(classifier.kind, classifier.weights, classifier.threshold, provenance)


def recorded_text(classifier: Classifier, folder: Path) -> TextPipeline:
    """The text steps with which a classifier that was saved in `folder` was trained."""
    return TextPipeline(tuple(classifier.provenance.get("steps", ())), folder)


def sentence_margins(job: Job, classifier: Classifier, sentences: Sequence[str], text: TextPipeline) -> FloatArray:
    """(sentences) score minus threshold, positive for acceptable. The job is the one recorded with the classifier."""
    nbests = [Judgement(sentence, True, line=line).nbest() for line, sentence in enumerate(sentences, 1)]
    return classifier.margins(sentence_table(job, nbests, text, tuple(classifier.weights)))
