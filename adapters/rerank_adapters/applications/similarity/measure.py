"""What scores pairs of sentences: a measure by its name, or a trained system from its file, with their data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerank_adapters.applications.similarity.measure_data import check_data, check_measure, family_of, measures_of
from rerank_adapters.applications.similarity.model import SimilarityModel, read_similarity
from rerank_adapters.applications.similarity.pairs_file import SentencePairs
from rerank_adapters.chain.builder import file_state
from rerank_adapters.given_texts import Text, Words, checked_pairs, pipeline_of, words_of
from rerank_adapters.text import TextPipeline
from rerank_plugins import FloatArray
from rerank_plugins.kit.files.in_use import shared

if TYPE_CHECKING:
    from rerank_plugins.similarity.measures.table import Measures


@dataclass(frozen=True, kw_only=True)
class PairScorer(ABC):
    """The data of measures, as the options of `rerank similarity apply` name them; equal data are loaded once."""

    loaded_as: ClassVar[str] = "measure"

    vectors: str | Path | None = None
    esa: str | Path | None = None
    svs: str | Path | None = None
    wordnet: str | Path | None = None
    entities: str = "capitals"

    @abstractmethod
    def scores(self, pairs: Iterable[tuple[Text, Text]]) -> FloatArray:
        """(pairs) how alike the sentences are; those of a pair are texts, or sequences of words.

        Raises TypeError for a value that is no pair.
        """

    @cached_property
    def _measures(self) -> Measures:
        paths = {f.name: getattr(self, f.name) for f in fields(PairScorer) if f.name != "entities"}
        files = {name: Path(path) for name, path in paths.items() if path is not None}
        key = tuple((name, str(path.absolute()), file_state(path)) for name, path in files.items())
        return shared(("measures of pairs", key, self.entities), lambda: measures_of(**files, entities=self.entities))


@dataclass(frozen=True)
class SimilarityMeasure(PairScorer):
    """A measure of how alike in meaning two sentences are, such as `tfidf.stems`; docs/similarity.md lists them.

    `vectors`, `esa`, `svs`, `wordnet` and `entities` are the data that measures of these families need, and `text` has
    the text steps of texts. Raises ConfigError for an unknown name, and for one whose data are not given.

    >>> SimilarityMeasure("strings.edits").scores([("The dog barks.", "The dogs bark."), ("It rains.", "It rains.")])
    array([0.86666667, 1.        ])
    """

    name: str
    text: str | Sequence[str] = "penn-tokenize"

    def __post_init__(self) -> None:
        check_measure(self.name, self._measures)

    def scores(self, pairs: Iterable[tuple[Text, Text]]) -> FloatArray:
        """(pairs) how alike the sentences are; those of a pair are texts, or sequences of words.

        Words are weighted by their rarity among the pairs, so give pairs of one kind together. Raises TypeError for a
        value that is no pair.
        """
        return columns_of({self.name: self}, checked_pairs(pairs))[self.name]


@dataclass(frozen=True)
class SimilaritySystem(PairScorer):
    """A system of `rerank similarity train`, which combines measures, by its file; this records its text steps.

    Raises ModelError for a file of another kind, and ConfigError where data that it was trained with are not given.
    """

    model: str | Path | SimilarityModel

    def __post_init__(self) -> None:
        check_data(self._system, self._measures)

    @cached_property
    def _system(self) -> SimilarityModel:
        return self.model if isinstance(self.model, SimilarityModel) else read_similarity(Path(self.model))

    def scores(self, pairs: Iterable[tuple[Text, Text]]) -> FloatArray:
        """(pairs) scores on the scale of the training pairs. Raises TypeError for a value that is no pair."""
        return score_pairs(self._system, checked_pairs(pairs), self._measures)


def columns_of(measures: Mapping[str, SimilarityMeasure], pairs: Sequence[tuple[Text, Text]]) -> dict[str, FloatArray]:
    """(pairs) the values of each measure by its label; what measures of the same data share is computed once."""
    alike: dict[tuple[int, tuple[str, ...]], dict[str, SimilarityMeasure]] = {}
    for label, measure in measures.items():
        key = (id(measure._measures), tuple(pipeline_of(measure.text).steps))
        alike.setdefault(key, {})[label] = measure
    columns: dict[str, FloatArray] = {}
    for group in alike.values():
        first = next(iter(group.values()))
        families = {family_of(measure.name) for measure in group.values()}
        values = first._measures.columns(tokens_of(pairs, pipeline_of(first.text)), families)
        columns |= {label: values[:, first._measures.names.index(measure.name)] for label, measure in group.items()}
    return columns


def tokens_of(pairs: Sequence[tuple[Text, Text]], text: TextPipeline) -> list[tuple[Words, Words]]:
    """The words of both sentences of each pair."""
    first, second = (words_of([pair[side] for pair in pairs], text, "pairs") for side in (0, 1))
    return list(zip(first, second, strict=True))


def measure(
    sentences: SentencePairs, measures: Measures, text: TextPipeline, only: Collection[str] | None = None
) -> FloatArray:
    """(pairs, measures) the values of all measures; the columns of families that are not in `only` are 0."""
    return measures.columns(tokens_of(sentences.pairs, text), only)


def score_pairs(model: SimilarityModel, pairs: Sequence[tuple[Text, Text]], measures: Measures) -> FloatArray:
    """(pairs) scores on the scale of the training pairs; `measures` has the data that the model does not hold.

    Two sentences of the same tokens, at least one, have the highest score of the scale.
    Raises ConfigError if these data are missing or differ from those of training.
    """
    check_data(model, measures)
    measures = replace(measures, vectors=model.vectors)
    tokens = tokens_of(pairs, TextPipeline(model.text))
    values = measures.columns(tokens, model.families)
    columns = dict(zip(measures.names, values.T, strict=True))
    absent = np.zeros(len(values))  # for columns that no score depends on
    scores = model.scores(np.column_stack([columns.get(name, absent) for name in model.names]))
    if np.isfinite(model.scale[1]):
        scores[[bool(a) and a == b for a, b in tokens]] = model.scale[1]
    return scores
