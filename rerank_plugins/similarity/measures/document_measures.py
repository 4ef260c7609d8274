"""Explicit semantic analysis (similarity/esa): sentences and words compared as vectors over a document collection.

`cosine` weights words by the tf idf of the collection, as the paper of the method does, and `cosine_idf` by their idf
among the compared sentences (see `tfidf`); `aligned` is the measure of word_alignment.py over the cosines of words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.similarity.esa.model import EsaModel
from rerank_plugins.similarity.measures.sentence_parts import Text
from rerank_plugins.similarity.measures.tfidf import bags_of, words
from rerank_plugins.similarity.measures.word_alignment import aligned

NAMES = ("cosine", "cosine_idf", "aligned")


def columns(pairs: Sequence[tuple[Text, Text]], model: EsaModel) -> FloatArray:
    """Compute the measures of NAMES for all pairs: a (pairs, names) array of values from 0 to 1."""
    _, idf = bags_of(pairs, words)
    weights = np.zeros(len(model.words))
    for word, word_idf in idf.items():
        if word in model.number:
            weights[model.number[word]] = word_idf
    of_words = [(a.words, b.words) for a, b in pairs]
    return np.column_stack(
        [
            model.cosines(of_words),
            model.cosines(of_words, weights),
            np.array([aligned(a, b, model.word_similarities, idf) for a, b in of_words]),
        ]
    )
