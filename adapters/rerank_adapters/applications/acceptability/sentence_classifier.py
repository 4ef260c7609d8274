"""`SentenceClassifier`: accepts or rejects sentences by their features, as `rerank acceptability` does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, get_args

import numpy as np

from rerank_adapters.api.jobs import job_of
from rerank_adapters.applications.acceptability.classifier import Classifier, Kind, fit_logistic, fit_thresholds
from rerank_adapters.applications.acceptability.classifier_file import (
    KINDS,
    read_classifier,
    recorded_classifier,
    recorded_text,
    write_classifier,
)
from rerank_adapters.applications.acceptability.features import sentence_table
from rerank_adapters.applications.acceptability.measures import Criterion, accuracy, value_of
from rerank_adapters.data.given_texts import Text, pipeline_of, shown, texts_of, words_of
from rerank_adapters.job.job import Job
from rerank_adapters.job.models import all_plugins
from rerank_adapters.rows import Rows
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FeatureTable, Hypothesis, NBestList
from rerank_plugins.core.arrays import BoolArray
from rerank_plugins.core.columns import plain
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.plugins import Registry

AS_THEY_ARE = TextPipeline(())  # for texts that have gone through the steps


@dataclass(eq=False)
class SentenceClassifier:
    """Accepts a sentence where the weighted sum of its features is above a threshold, which is tuned.

    `features`   one or many, language models among them, each as `load` takes it; a mapping gives them labels
    `kind`       "threshold": the one column of the features that decides best; "logistic": all columns, by logistic
                 regression (extra `ml`)
    `criterion`  "accuracy", or "mcc" for Matthews' correlation, for which the threshold is tuned
    `columns`    patterns such as "*.per_word": only columns that match decide
    `text`       the text steps of texts; sequences of words are taken as they are
    `language`   the code of the language whose models are used where none is named
    `jobs`       the number of processes

    `load("threshold", features="slr")` makes one too, and `load("classifier.toml")` reads one that `save` or
    `rerank acceptability sentences --save` has written. Raises ConfigError for an unknown kind or criterion, and what
    `load` raises for the features.

    >>> texts = ["the dog barks", "it rains", "dogs", "rain"]
    >>> classifier = SentenceClassifier("length").fit(texts, [1, 1, 0, 0])
    >>> classifier.threshold_, classifier.weights_
    (1.5, {'length': 1.0})
    >>> classifier.predict(["it snows", "snow"])
    text      acceptable  score
    it snows        True    0.5
    snow           False   -0.5
    """

    loaded_as: ClassVar[str] = "classifier"

    features: Any = ()
    kind: Kind = "threshold"
    criterion: Criterion = "accuracy"
    columns: str | Sequence[str] = ()
    text: str | Sequence[str] = "penn-tokenize"
    language: str = ""
    jobs: int = 2
    _job: Job = field(init=False, repr=False)
    _learnt: Classifier | None = field(default=None, init=False, repr=False)
    _steps: TextPipeline = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, value, known in (("kind", self.kind, KINDS), ("criterion", self.criterion, get_args(Criterion))):
            if value not in known:
                raise ConfigError(f"{name} is {value!r}{suggestion(str(value), known)}")
        self._steps = pipeline_of(self.text)
        self._job = job_of(self.features, language=self.language, jobs=self.jobs)

    @classmethod
    def load(cls, path: str | Path, registry: Registry | None = None, *, jobs: int = 2) -> SentenceClassifier:
        """The classifier of a file, with the features and the text steps that it records.

        Raises FormatError for a damaged file, ConfigError and PluginError where its features cannot be made.
        """
        learnt = read_classifier(path)
        job = Job.of_record(learnt.provenance, Path(path).absolute(), registry or all_plugins()).changed(jobs=jobs)
        steps = recorded_text(learnt, Path(path).absolute().parent)
        classifier = cls((), learnt.kind, text=AS_THEY_ARE.steps, language=job.config.language, jobs=jobs)
        classifier.features, classifier.text = list(job.config.feature), list(steps.steps)
        classifier._job, classifier._learnt, classifier._steps = job, learnt, steps
        return classifier

    @property
    def weights_(self) -> dict[str, float]:
        """The weight of each column that decides. Raises ConfigError before `fit`."""
        return dict(self._fitted.weights)

    @property
    def threshold_(self) -> float:
        """The threshold that the weighted sum exceeds for an acceptable sentence. Raises ConfigError before `fit`."""
        return self._fitted.threshold

    @property
    def _fitted(self) -> Classifier:
        if self._learnt is None:
            raise ConfigError("this classifier is not fitted: call fit(texts, labels), or load(file)")
        return self._learnt

    def fit(self, texts: Iterable[Text] | Path, labels: Iterable[object]) -> Self:
        """Learn from texts and their labels, 1 (or True) for an acceptable one and 0 for another.

        Raises ConfigError for other labels or another number of them, where all texts have the same label, and where no
        column of the features varies.
        """
        given = list(texts_of(texts))
        good = _truth_values(labels, len(given))
        if good.all() or not good.any():
            raise ConfigError(f"labels: wanted acceptable texts (1) and others (0), found {len(given)} of one kind")
        table = self._table(given, (self.columns,) if isinstance(self.columns, str) else tuple(self.columns))
        by_column = fit_thresholds(table.names, table.values, good, self.criterion)
        if self.kind == "logistic":
            self._learnt = fit_logistic(table.names, table.values, good, self.criterion)
        else:
            values = {
                name: value_of(self.criterion, classifier.margins(table) > 0, good)
                for name, classifier in by_column.items()
            }
            self._learnt = by_column[max(values, key=lambda name: values[name])]
        return self

    def predict(self, texts: Iterable[Text] | Path) -> Rows:
        """Whether each text is acceptable, and its score.

        The columns are `text`, `acceptable` (True or False) and `score`: the probability that the text is acceptable,
        by a logistic regression, or else the distance from the threshold. The threshold is tuned, and need not be at a
        probability of 1/2. Raises ConfigError before `fit`.
        """
        learnt, given = self._fitted, list(texts_of(texts))
        margins = learnt.margins(self._table(given, tuple(learnt.weights)))
        names = [shown(text).rstrip("\r\n") for text in given]
        rows = zip(names, (margins > 0).tolist(), learnt.scores(margins).tolist(), strict=True)
        return Rows(["text", "acceptable", "score"], rows)

    def score(self, texts: Iterable[Text] | Path, labels: Iterable[object]) -> float:
        """The proportion of texts whose label is predicted.

        Raises ConfigError before `fit`, for other labels than 0 and 1, and for another number of them.
        """
        accepted = np.array(self.predict(texts)["acceptable"])
        return accuracy(accepted, _truth_values(labels, len(accepted)))

    def save(self, path: str | Path) -> None:
        """Write the file that `load` and `rerank acceptability classify` read.

        Raises ConfigError before `fit`, and for a feature of a class that no plugin registers, which no file can name.
        """
        learnt, path = self._fitted, Path(path)
        if objects := list(self._job.objects):
            raise ConfigError(f"the feature {objects[0]!r} has no name that a file could hold: register its class")
        folder = path.absolute().parent
        record = self._job.record(folder, "feature")
        write_classifier(recorded_classifier(learnt, self._steps, folder, record, criterion=self.criterion), path)

    def _table(self, texts: Sequence[Text], columns: Sequence[str]) -> FeatureTable:
        """The features of the texts after the text steps, a row each; of them the columns that match a pattern."""
        sentences = [" ".join(words) for words in words_of(texts, self._steps)]
        nbests = [NBestList(str(line), (Hypothesis(text),), line=line) for line, text in enumerate(sentences, 1)]
        return sentence_table(self._job.extraction(), nbests, AS_THEY_ARE, columns)


def _truth_values(labels: Iterable[object], texts: int) -> BoolArray:
    """(texts) the labels as truth values. Raises ConfigError for others, and for another number."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise TypeError(f"labels: wanted 1 (acceptable) or 0 for each text, found {labels!r:.60}")
    given = list(plain(labels))
    if len(given) != texts:
        raise ConfigError(f"labels: found {len(given)} for {texts} texts")
    for number, label in enumerate(given):
        if isinstance(label, str) or label not in (0, 1):
            raise ConfigError(f"labels[{number}]: wanted 1 (acceptable) or 0, found {label!r:.60}")
    return np.array(given, np.bool_)
