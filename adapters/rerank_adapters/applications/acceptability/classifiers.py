"""Classifiers of single sentences and their file; `rerank acceptability classify` applies one.

A classifier has weights of features, and a threshold that the weighted sum must exceed: one score with a threshold, as
Pauls and Klein (2012, §5.3) classify by the syntactic log-odds ratio, or a logistic regression over several.

    kind = "threshold"                  # or "logistic": then 1 / (1 + exp(threshold - sum)) is a probability
    threshold = 2.75
    [weights]
    slr = 1.0
    [provenance]                        # how it was trained, and how to extract its features

Floats are written with enough digits to be read back exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import numpy as np

from rerank_adapters.applications.acceptability.features import fit_logistic, sentence_table
from rerank_adapters.applications.acceptability.judgements import Judgement
from rerank_adapters.applications.acceptability.measures import Criterion, best_threshold
from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import jobs_option, output_option
from rerank_adapters.formats.references import read_lines
from rerank_adapters.text import TextPipeline
from rerank_adapters.weights.files import plain_values, read_toml, write_toml
from rerank_plugins import ConfigError, FloatArray, __version__
from rerank_plugins.core.arrays import BoolArray
from rerank_plugins.core.feature_table import FeatureTable
from rerank_plugins.core.registry import Registry, suggestion
from rerank_plugins.kit.files.text import open_atomic

if TYPE_CHECKING:
    from rerank_adapters.chain.job import Job

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
    job: Job, dev: Sequence[Judgement], test: Sequence[Judgement], text: TextPipeline, *, columns: Sequence[str] = (),
    criterion: Criterion = "accuracy", logistic: bool = True,
) -> list[TrainedClassifier]:  # fmt: skip
    """A threshold on each column that varies, tuned on `dev`; with `logistic`, then a regression on all.

    Raises ConfigError where no column varies.
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
        systems.append(trained(ALL, Classifier("logistic", weights, -regression.constant)))
    return systems


def recorded_classifier(job: Job, classifier: Classifier, text: TextPipeline, folder: Path, **more: Any) -> Classifier:
    """The classifier with all that is needed to classify other sentences alike, and `more` about its training.

    File names are recorded relative to `folder`, where the classifier will be saved.
    """
    from rerank_adapters.chain.provenance import EXTRACTING, RECORDED, recorded_tables

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


@click.command("classify")
@click.argument("text", default="-")
@click.option("-c", "--classifier", type=Path, required=True, metavar="FILE",
              help="A classifier saved by `rerank acceptability sentences --save`.")  # fmt: skip
@output_option("Write the labels to this file.")
@jobs_option
@click.pass_obj
def command(registry: Registry, text: str, classifier: Path, output: Path, jobs: int | None) -> None:
    """Accept or reject each sentence of TEXT, which has one sentence per line.

    Each line of the output is label<TAB>score<TAB>sentence. The label is 1 for an acceptable sentence, 0 for another.
    The score of a classifier by logistic regression is the probability that the sentence is acceptable; otherwise it
    is the distance from the threshold. The file of the classifier also records its features and text steps.

    \b
    rerank acceptability classify essays.txt -c classifier.toml > labels.tsv
    """  # noqa: D301
    from rerank_adapters.chain.provenance import recorded_job

    closing = Closing()
    learnt = read_classifier(classifier)
    job: Job = recorded_job(learnt.provenance, classifier, registry)
    job = job.with_config({"jobs": jobs} if jobs else {})
    sentences = read_lines(text)
    margins = sentence_margins(job, learnt, sentences, recorded_text(learnt, classifier.parent))
    scores = learnt.probabilities(margins) if learnt.kind == "logistic" else margins
    with open_atomic(output) as out:
        for sentence, margin, score in zip(sentences, margins.tolist(), scores.tolist(), strict=True):
            out.write(f"{int(margin > 0)}\t{score:.6g}\t{sentence}\n")
    closing.wrote(f"{counted(len(sentences), 'sentence')}, {int((margins > 0).sum()):,} of them accepted", output)
