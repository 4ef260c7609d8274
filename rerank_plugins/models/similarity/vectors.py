"""Cosines of sentence vectors, and words aligned by their vectors, for each space of a model (random indexing, LSA).

Cosines of sentences are equation 3 of Wu et al. (2013), with words weighted by 1, by their idf among the sentences
given (see `tfidf`), and by their information content -ln p (Šarić et al. 2012). `aligned` is that of alignment.py by
the cosines of words. Negative cosines count 0, as do words without a vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.arrays import FloatArray
from rerank_plugins.models.random_indexing.model import RandomIndexModel
from rerank_plugins.models.similarity.alignment import aligned
from rerank_plugins.models.similarity.text import Lexicon, Text
from rerank_plugins.models.similarity.tfidf import bags_of, words

KINDS = ("none", "idf", "information", "aligned")


def names(model: RandomIndexModel) -> tuple[str, ...]:
    """Per space three cosines and an alignment."""
    return tuple(f"{space}_{kind}" for space in model.spaces for kind in KINDS)


def columns(pairs: Sequence[tuple[Text, Text]], model: RandomIndexModel, lexicon: Lexicon) -> FloatArray:
    """(pairs, names) values."""
    _, idf = bags_of(pairs, words)
    by_idf, by_information = np.zeros(len(model.words)), np.zeros(len(model.words))
    for word, value in idf.items():
        number = model.number.get(word)
        if number is not None:
            by_idf[number], by_information[number] = value, lexicon.information(word)
    sides = [[pair[side].words for pair in pairs] for side in (0, 1)]
    found = []
    for space in model.spaces:
        for weights in (np.ones(len(model.words)), by_idf, by_information):
            left, right = (model.sentence_vectors(side, space, weights) for side in sides)
            found.append(np.einsum("ij,ij->i", left, right))
        table = model.vectors(space)
        between = partial(_similarities, model=model, table=table)
        found.append(np.array([aligned(a.words, b.words, between, idf) for a, b in pairs]))
    return np.column_stack(found)


def _similarities(
    left: Sequence[str], right: Sequence[str], model: RandomIndexModel, table: NDArray[np.float16]
) -> FloatArray:
    """(n, m) cosines of words, those below 0 as 0."""
    x, y = (_rows(side, model, table) for side in (left, right))
    return np.asarray(np.clip(x @ y.T, 0.0, 1.0), np.float64)


def _rows(side: Sequence[str], model: RandomIndexModel, table: NDArray[np.float16]) -> FloatArray:
    """(words, dimensions), 0 for a word without a vector."""
    rows = np.zeros((len(side), table.shape[1]))
    for i, word in enumerate(side):
        number = model.number.get(word)
        if number is not None:
            rows[i] = table[number]
    return rows
