"""Scores sentence pairs: computes the measures, and the score by a trained system or by a single measure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from rerank_adapters.applications.similarity.pairs_file import SentencePairs
from rerank_adapters.applications.similarity.system import Regression, SimilarityModel
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.registry import suggestion
from rerank_plugins.similarity.measures.table import Measures

OF_DATA = ("vectors", "wordnet", "esa", "svs")  # families of measures that exist only if the user names their data


def measure(
    sentences: SentencePairs, measures: Measures, text: TextPipeline, only: Collection[str] | None = None
) -> FloatArray:
    """(pairs, measures) the values of all measures; the columns of families that are not in `only` are 0."""
    first, second = (text.apply([pair[side] for pair in sentences.pairs]) for side in (0, 1))
    return measures.columns([(a.split(), b.split()) for a, b in zip(first, second, strict=True)], only)


def family_of(name: str) -> str:
    """The family of a measure: `tfidf` for `tfidf.words`."""
    return name.partition(".")[0]


def one_measure(name: str, measures: Measures, text: tuple[str, ...]) -> SimilarityModel:
    """A system that returns the value of one measure, on its own scale. Raises ConfigError for an unknown measure."""
    if name not in measures.names:
        family = family_of(name)
        hint = f" (those of {family} need --{family})" if family in OF_DATA and family not in measures.families else ""
        raise ConfigError(f"no measure is named {name!r}{suggestion(name, measures.names)}{hint}")
    regression = Regression((name,), np.ones(1), 0.0)
    return SimilarityModel("one", (name,), {name: regression}, (-np.inf, np.inf), text, vectors=measures.vectors)


def score_pairs(model: SimilarityModel, sentences: SentencePairs, measures: Measures) -> FloatArray:
    """(pairs) scores on the scale of the training pairs; `measures` has the data that the model does not hold.

    Raises ConfigError if these data are missing or differ from those of training.
    """
    check_data(model, measures)
    measures = replace(measures, vectors=model.vectors)
    values = measure(sentences, measures, TextPipeline(model.text), model.families)
    columns = dict(zip(measures.names, values.T, strict=True))
    absent = np.zeros(len(values))  # for columns that no score depends on
    return model.scores(np.column_stack([columns.get(name, absent) for name in model.names]))


def check_data(model: SimilarityModel, measures: Measures) -> None:
    """Raise ConfigError if data that the model was trained with are missing or differ."""
    for family, trained in model.data.items():
        data = measures.data.get(family)
        if data != trained:
            wanted = f"the system was trained with {trained} (measures of {family})"
            raise ConfigError(f"{wanted}: give it by --{family}" if data is None else f"{wanted}, not with {data}")
