"""Scorers of pairs of sentences: a measure by its name, a trained system from its file, or a metric.

`scores_of` is the one path from pairs to scores. Measures and systems that have the same data and text steps share the
values that these are computed from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rerank_adapters.applications.similarity.measure_data import check_data, check_measure, family_of, measures_of
from rerank_adapters.applications.similarity.model import SimilarityModel, read_similarity
from rerank_adapters.data.given_texts import Text, Words, pairs_of, pipeline_of, words_of
from rerank_adapters.job.models import all_plugins, file_of, kinds_of, load, made, table_of_name
from rerank_adapters.text import TextPipeline
from rerank_plugins import FloatArray, Metric
from rerank_plugins.core.identity import identity
from rerank_plugins.kit.files.in_use import shared

if TYPE_CHECKING:
    from rerank_plugins.similarity.measures.table import Measures

Columns = Mapping[str, FloatArray]  # (pairs) the values of measures, by name
TokenPairs = Sequence[tuple[Words, Words]]


@dataclass(frozen=True, kw_only=True)
class PairScorer(ABC):
    """The data of measures, as the options of `rerank similarity apply` name them; equal data are loaded once."""

    loaded_as: ClassVar[str] = "measure"

    vectors: str | Path | None = None
    esa: str | Path | None = None
    svs: str | Path | None = None
    wordnet: str | Path | None = None

    def scores(self, pairs: Iterable[tuple[Text, Text]]) -> FloatArray:
        """(pairs) how alike the sentences are; those of a pair are texts, or sequences of words.

        Words are weighted by their rarity among the pairs, so give pairs of one kind together. Raises TypeError for a
        value that is no pair.
        """
        return scores_of({"": self}, pairs_of(pairs), self.pipeline)[""]

    @property
    @abstractmethod
    def pipeline(self) -> TextPipeline:
        """The steps that texts go through."""

    @property
    @abstractmethod
    def families(self) -> set[str]:
        """The families of the measures that the scores depend on."""

    @abstractmethod
    def combine(self, columns: Columns, pairs: TokenPairs) -> FloatArray:
        """(pairs) the scores by the values of the measures of all families that they depend on."""

    @property
    def measures(self) -> Measures:
        """The measures with their data."""
        return self._given

    @cached_property
    def _given(self) -> Measures:
        paths = {field.name: getattr(self, field.name) for field in fields(PairScorer)}
        files = {name: Path(path) for name, path in paths.items() if path is not None}
        key = identity("measures of pairs", files, [str(path.absolute()) for path in files.values()])
        return shared(key, lambda: measures_of(**files))


@dataclass(frozen=True)
class SimilarityMeasure(PairScorer):
    """A measure of how alike in meaning two sentences are, such as `tfidf.stems`; docs/similarity.md lists them.

    `vectors`, `esa`, `svs` and `wordnet` are the data that measures of these families need, and `text` has the text
    steps of texts. Raises ConfigError for an unknown name, and for one whose data are not given.

    >>> SimilarityMeasure("strings.edits").scores([("The dog barks.", "The dogs bark."), ("It rains.", "It rains.")])
    array([0.86666667, 1.        ])
    """

    name: str
    text: str | Sequence[str] = "penn-tokenize"

    def __post_init__(self) -> None:
        check_measure(self.name, self.measures)

    @cached_property
    def pipeline(self) -> TextPipeline:
        """The text steps of the option."""
        return pipeline_of(self.text)

    @property
    def families(self) -> set[str]:
        """The family of the measure."""
        return {family_of(self.name)}

    def combine(self, columns: Columns, pairs: TokenPairs) -> FloatArray:  # noqa: ARG002
        """(pairs) the values of the measure."""
        return columns[self.name]


@dataclass(frozen=True)
class SimilaritySystem(PairScorer):
    """A system of `rerank similarity train`, which combines measures, by its file; this records its text steps.

    Scores are on the scale of the training pairs. Two sentences of the same tokens, at least one, have the highest
    score of the scale. Raises ModelError for a file of another kind, and ConfigError where the data are not those of
    training.
    """

    model: str | Path | SimilarityModel

    def __post_init__(self) -> None:
        check_data(self.system, self._given)

    @cached_property
    def system(self) -> SimilarityModel:
        """The system that the file has."""
        return self.model if isinstance(self.model, SimilarityModel) else read_similarity(Path(self.model))

    @cached_property
    def measures(self) -> Measures:
        """The measures with the data that are given, and the vectors that the system holds."""
        return replace(self._given, vectors=self.system.vectors)

    @cached_property
    def pipeline(self) -> TextPipeline:
        """The text steps of the training pairs."""
        return TextPipeline(self.system.text)

    @property
    def families(self) -> set[str]:
        """The families that the regressions or the forest read."""
        return self.system.families

    def combine(self, columns: Columns, pairs: TokenPairs) -> FloatArray:
        """(pairs) the scores of the system."""
        absent = np.zeros(len(pairs))  # for columns that no score depends on
        scores = self.system.scores(np.column_stack([columns.get(name, absent) for name in self.system.names]))
        highest = self.system.scale[1]
        if np.isfinite(highest):
            scores[[bool(first) and first == second for first, second in pairs]] = highest
        return scores


def scores_of(
    scorers: Mapping[str, PairScorer | Metric], pairs: Sequence[tuple[Text, Text]], text: TextPipeline
) -> dict[str, FloatArray]:
    """(pairs) the scores of each scorer by its label; shared computations on the same data are done once.

    The texts of metrics go through the steps of `text`, those of measures and systems through their own.
    """
    scores: dict[str, FloatArray] = {}
    alike: dict[tuple[int, tuple[str, ...]], dict[str, PairScorer]] = {}
    for label, scorer in scorers.items():
        if isinstance(scorer, Metric):
            scores[label] = _sentence_scores(scorer, tokens_of(pairs, text))
        else:
            alike.setdefault((id(scorer.measures), tuple(scorer.pipeline.steps)), {})[label] = scorer
    for group in alike.values():
        first = next(iter(group.values()))
        tokens = tokens_of(pairs, first.pipeline)
        values = first.measures.columns(tokens, set().union(*(scorer.families for scorer in group.values())))
        columns = dict(zip(first.measures.names, values.T, strict=True))
        scores |= {label: scorer.combine(columns, tokens) for label, scorer in group.items()}
    return scores


def tokens_of(pairs: Sequence[tuple[Text, Text]], text: TextPipeline) -> list[tuple[Words, Words]]:
    """The words of both sentences of each pair."""
    first, second = (words_of([pair[side] for pair in pairs], text, "pairs") for side in (0, 1))
    return list(zip(first, second, strict=True))


def _sentence_scores(metric: Metric, pairs: TokenPairs) -> FloatArray:
    """(pairs) the score of each first sentence with the second as its reference."""
    if not pairs:
        return np.zeros(0)
    sides = [[[" ".join(pair[side])] for pair in pairs] for side in (0, 1)]
    return metric.sentence_scores(metric.statistics(*sides))


def measure_of(spec: Any, usual: Mapping[str, Any] = {}, **options: Any) -> Metric | PairScorer:
    """The measure of that name, with its options; the metric of that name; the trained system of a file; or the object.

    A name is a text, with options ("svs.meaning,svs=en"), or a table with `use`. `options` are those of the measure,
    and so are those of `usual` where its class has them and nothing else is said.

    Raises ConfigError for an unknown measure or option, and for data that are missing; TypeError for another object.

    >>> measure_of("strings.edits,text=none", {"text": "penn-tokenize"}).text
    'none'
    """
    data = {key: value for key, value in usual.items() if key != "text"}  # a system records its text steps
    if not isinstance(spec, str | Path | Mapping):
        if options:
            raise TypeError(f"options ({', '.join(options)}) belong to a name; {type(spec).__name__} is an object")
        if isinstance(spec, SimilarityModel):
            return made(SimilaritySystem, {"model": spec}, data, "a system")
        if not isinstance(spec, PairScorer | Metric):
            wanted = "the name of a measure, a table with 'use', a file or a trained system"
            raise TypeError(f"wanted {wanted}, found {spec!r:.60}")
        return spec
    if (path := file_of(spec)) is not None:
        return made(SimilaritySystem, {"model": path}, data | options, str(spec))
    table = table_of_name(spec)
    name = table.pop("use")
    if kinds_of(all_plugins(), name, "metric"):
        metric: Metric = load(spec, "metric", **options)
        return metric
    table.pop("label", None)
    return made(SimilarityMeasure, {"name": name}, {**usual, **table, **options}, name)
