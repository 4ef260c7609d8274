"""Cosines of sentence vectors, and words aligned by their vectors, for each space of a model (random indexing, LSA).

Cosines of sentences are equation 3 of Wu et al. (2013), with words weighted by 1 and by their idf among the sentences
given (see `tfidf`). `aligned` lets each word of a sentence look for its most similar word in the other, s(w) = max_u
cos(w, u), 1 for the word itself, and takes the mean of s weighted by idf, from both sides; their harmonic mean (after
Mihalcea et al. 2006). Negative cosines count 0, as do words without a vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.feature_table import FloatArray
from rerank_plugins.models.random_indexing.model import RandomIndexModel
from rerank_plugins.models.similarity.text import Text
from rerank_plugins.models.similarity.tfidf import bags_of, words

KINDS = ("none", "idf", "aligned")


def names(model: RandomIndexModel) -> tuple[str, ...]:
    """Per space two cosines and an alignment."""
    return tuple(f"{space}_{kind}" for space in model.spaces for kind in KINDS)


def columns(pairs: Sequence[tuple[Text, Text]], model: RandomIndexModel) -> FloatArray:
    """(pairs, names) values."""
    _, idf = bags_of(pairs, words)
    weights = np.zeros(len(model.words))
    for word, value in idf.items():
        number = model.number.get(word)
        if number is not None:
            weights[number] = value
    sides = [[pair[side].words for pair in pairs] for side in (0, 1)]
    found = []
    for space in model.spaces:
        for given in ("none", weights):
            left, right = (model.sentence_vectors(side, space, given) for side in sides)
            found.append(np.einsum("ij,ij->i", left, right))
        table = model.vectors(space)
        found.append(np.array([_aligned(a.words, b.words, model, table, idf) for a, b in pairs]))
    return np.column_stack(found)


def _aligned(
    a: Sequence[str],
    b: Sequence[str],
    model: RandomIndexModel,
    table: NDArray[np.float16],
    idf: Mapping[str, float],
) -> float:
    left, right = list(dict.fromkeys(a)), list(dict.fromkeys(b))
    if not left or not right:
        return 0.0
    x, y = (_rows(side, model, table) for side in (left, right))
    similar = np.maximum(np.clip(x @ y.T, 0.0, 1.0), np.array([[u == v for v in right] for u in left], np.float64))
    weights = [np.array([idf[word] for word in side]) for side in (left, right)]
    if not weights[0].any() or not weights[1].any():
        return 0.0
    one, other = (
        float(similar.max(axis=axis) @ weight / weight.sum()) for axis, weight in zip((1, 0), weights, strict=True)
    )
    return 2 * one * other / (one + other) if one and other else 0.0


def _rows(side: Sequence[str], model: RandomIndexModel, table: NDArray[np.float16]) -> FloatArray:
    """(words, dimensions), 0 for a word without a vector."""
    rows = np.zeros((len(side), table.shape[1]))
    for i, word in enumerate(side):
        number = model.number.get(word)
        if number is not None:
            rows[i] = table[number]
    return rows
