"""Cosines of sentence vectors and alignment of words by their vectors in each space of a model (random indexing, LSA).

The cosine of two sentences is equation 3 of Wu et al. (2013); words are weighted by 1, by their idf among the compared
sentences (see `tfidf`), or by their information content -ln p (Šarić et al. 2012). `aligned` is the measure of
word_alignment.py over the cosines of words, in which negative cosines and words without a vector count as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.similarity.measures.sentence_parts import Lexicon, Text
from rerank_plugins.similarity.measures.tfidf import bags_of, words
from rerank_plugins.similarity.measures.word_alignment import aligned
from rerank_plugins.similarity.random_indexing.model import RandomIndexModel

KINDS = ("none", "idf", "information", "aligned")


def names(model: RandomIndexModel) -> tuple[str, ...]:
    """The names of the columns: three cosines and an alignment for each space of the model."""
    return tuple(f"{space}_{kind}" for space in model.spaces for kind in KINDS)


def columns(pairs: Sequence[tuple[Text, Text]], model: RandomIndexModel, lexicon: Lexicon) -> FloatArray:
    """Compute the measures for all pairs: a (pairs, names) array, its columns in the order of `names(model)`."""
    _, idf = bags_of(pairs, words)
    by_idf, by_information = np.zeros(len(model.words)), np.zeros(len(model.words))
    for word, word_idf in idf.items():
        number = model.number.get(word)
        if number is not None:
            by_idf[number], by_information[number] = word_idf, lexicon.information(word)
    sides = [[pair[side].words for pair in pairs] for side in (0, 1)]
    values = []
    for space in model.spaces:
        for weights in (np.ones(len(model.words)), by_idf, by_information):
            left, right = (model.sentence_vectors(side, space, weights) for side in sides)
            values.append(np.einsum("ij,ij->i", left, right))
        table = model.vectors(space)
        between = partial(_similarities, model=model, table=table)
        values.append(np.array([aligned(a.words, b.words, between, idf) for a, b in pairs]))
    return np.column_stack(values)


def _similarities(
    left: Sequence[str], right: Sequence[str], model: RandomIndexModel, table: NDArray[np.float16]
) -> FloatArray:
    """The (n, m) cosines of n words with m others, clipped to the range from 0 to 1."""
    x, y = (_rows(side, model, table) for side in (left, right))
    return np.asarray(np.clip(x @ y.T, 0.0, 1.0), np.float64)


def _rows(side: Sequence[str], model: RandomIndexModel, table: NDArray[np.float16]) -> FloatArray:
    """The vectors of the words, (words, dimensions); a word without a vector has zeros."""
    rows = np.zeros((len(side), table.shape[1]))
    for i, word in enumerate(side):
        number = model.number.get(word)
        if number is not None:
            rows[i] = table[number]
    return rows
