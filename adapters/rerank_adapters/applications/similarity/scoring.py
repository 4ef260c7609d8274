"""Scores for pairs of sentences: the values of the measures, and a trained system or a single measure over them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from rerank_adapters.applications.similarity.pairs_file import SentencePairs
from rerank_adapters.applications.similarity.system import Regression, SimilarityModel
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError
from rerank_plugins.arrays import FloatArray
from rerank_plugins.models.similarity.measures import Measures
from rerank_plugins.registry import suggestion

OF_DATA = ("vectors", "wordnet", "esa", "svs")  # families that exist only where their data are given


def measure(
    found: SentencePairs, measures: Measures, text: TextPipeline, only: Collection[str] | None = None
) -> FloatArray:
    """(pairs, measures) values of the pairs of a file, 0 for families that are not among `only`."""
    first, second = (text.apply([pair[side] for pair in found.pairs]) for side in (0, 1))
    return measures.columns([(a.split(), b.split()) for a, b in zip(first, second, strict=True)], only)


def family_of(name: str) -> str:
    """`tfidf` of `tfidf.words`."""
    return name.partition(".")[0]


def one_measure(name: str, measures: Measures, text: tuple[str, ...]) -> SimilarityModel:
    """A measure on its own, on its own scale: nothing is learnt. Raises ConfigError for an unknown one."""
    if name not in measures.names:
        family = family_of(name)
        hint = f" (those of {family} need --{family})" if family in OF_DATA and family not in measures.families else ""
        raise ConfigError(f"no measure is named {name!r}{suggestion(name, measures.names)}{hint}")
    regression = Regression((name,), np.ones(1), 0.0)
    return SimilarityModel("one", (name,), {name: regression}, (-np.inf, np.inf), text, vectors=measures.vectors)


def score_pairs(model: SimilarityModel, found: SentencePairs, given: Measures) -> FloatArray:
    """(pairs) scores on the scale of the training pairs; `given` has the data that the model does not hold.

    Raises ConfigError where they are missing, or others than those of training.
    """
    check_data(model, given)
    measures = replace(given, vectors=model.vectors)
    values = measure(found, measures, TextPipeline(model.text), model.families)
    columns = dict(zip(measures.names, values.T, strict=True))
    absent = np.zeros(len(values))  # columns that no score depends on
    return model.scores(np.column_stack([columns.get(name, absent) for name in model.names]))


def check_data(model: SimilarityModel, given: Measures) -> None:
    """Raise ConfigError where data that the model was trained with are missing, or others."""
    for family, trained in model.data.items():
        found = given.data.get(family)
        if found != trained:
            wanted = f"the system was trained with {trained} (measures of {family})"
            raise ConfigError(f"{wanted}: give it by --{family}" if found is None else f"{wanted}, not with {found}")
