"""Single sentences judged: a threshold on one score, or a logistic regression over several.

The threshold on the syntactic log-odds ratio, tuned on a development set, is how Pauls and Klein (2012, §5.3) classify;
every column of the feature table is tried so. Tuned on one set, measured on another.
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
from rerank_adapters.pipeline.job import Job
from rerank_adapters.pipeline.provenance import EXTRACTING, RECORDED, recorded_tables
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FeatureTable, FloatArray, __version__
from rerank_plugins.arrays import BoolArray

ALL = "all, logistic"


@dataclass(frozen=True, eq=False)
class Judged:
    """A classifier by its name, and what it makes of the two sets: margins (score minus threshold) and the truth."""

    system: str
    classifier: Classifier
    dev: FloatArray
    test: FloatArray
    dev_good: BoolArray
    test_good: BoolArray


def judge_all(
    job: Job,
    dev: Sequence[Judgement],
    test: Sequence[Judgement],
    text: TextPipeline,
    *,
    columns: Sequence[str] = (),
    criterion: Criterion = "accuracy",
    strength: float = 1.0,
    logistic: bool = True,
) -> list[Judged]:
    """A threshold on each column that varies, tuned on `dev`; last, where wanted, all columns by logistic regression.

    Raises ConfigError where no column varies.
    """
    both = sentence_table(job, [judgement.nbest() for judgement in [*dev, *test]], text, columns)
    good = np.array([judgement.acceptable for judgement in [*dev, *test]])
    cut = len(dev)

    def judged(system: str, classifier: Classifier) -> Judged:
        margins = classifier.margins(both)
        return Judged(system, classifier, margins[:cut], margins[cut:], good[:cut], good[cut:])

    varying = [i for i in range(len(both.names)) if np.ptp(both.values[:cut, i]) > 0]
    if not varying:
        raise ConfigError("no feature tells any two sentences apart")
    systems = []
    for i in varying:
        threshold = best_threshold(both.values[:cut, i], good[:cut], criterion)
        systems.append(judged(both.names[i], Classifier("threshold", {both.names[i]: 1.0}, threshold)))
    if logistic:
        found = fit_logistic(both.values[:cut], good[:cut], strength)
        weights = dict(zip(both.names, found.weights.tolist(), strict=True))
        systems.append(judged(ALL, Classifier("logistic", weights, -found.constant)))
    return systems


def remembered(job: Job, classifier: Classifier, text: TextPipeline, folder: Path, **more: Any) -> Classifier:
    """The classifier with what is needed to judge other sentences alike, to be written in `folder`."""
    provenance = {
        "version": __version__,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "steps": text.rebased(folder),
        **more,
        RECORDED: recorded_tables(job, folder, *EXTRACTING),
    }
    return Classifier(classifier.kind, classifier.weights, classifier.threshold, provenance)


def steps_of(classifier: Classifier, folder: Path) -> TextPipeline:
    """The text steps that sentences went through when the classifier in `folder` was made."""
    return TextPipeline(tuple(classifier.provenance.get("steps", ())), folder)


def margins_of(job: Job, classifier: Classifier, sentences: Sequence[str], text: TextPipeline) -> FloatArray:
    """(sentences) score minus threshold: above 0 is acceptable. The job is the classifier's own."""
    nbests = [Judgement(sentence, True, line=line).nbest() for line, sentence in enumerate(sentences, 1)]
    table: FeatureTable = sentence_table(job, nbests, text, tuple(classifier.weights))
    return classifier.margins(table)
