"""Explicit semantic analysis (models/esa): sentences, and aligned words, by the documents of a collection.

`cosine` weights words by tf idf of the collection, as the paper of the method does, `cosine_idf` by their idf among the
sentences given (see `tfidf`); `aligned` is that of alignment.py by the cosines of words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.models.esa.model import EsaModel
from rerank_plugins.models.similarity.alignment import aligned
from rerank_plugins.models.similarity.text import Text
from rerank_plugins.models.similarity.tfidf import bags_of, words

NAMES = ("cosine", "cosine_idf", "aligned")


def columns(pairs: Sequence[tuple[Text, Text]], model: EsaModel) -> FloatArray:
    """(pairs, names) values from 0 to 1."""
    _, idf = bags_of(pairs, words)
    weights = np.zeros(len(model.words))
    for word, value in idf.items():
        if word in model.number:
            weights[model.number[word]] = value
    of_words = [(a.words, b.words) for a, b in pairs]
    return np.column_stack(
        [
            model.cosines(of_words),
            model.cosines(of_words, weights),
            np.array([aligned(a, b, model.word_similarities, idf) for a, b in of_words]),
        ]
    )
