"""Sentences by the similarities of their words in WordNet, aligned (alignment.py), a value a measure of words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_plugins.feature_table import FloatArray
from rerank_plugins.models.similarity.alignment import all_aligned
from rerank_plugins.models.similarity.text import Text
from rerank_plugins.models.similarity.tfidf import bags_of, words
from rerank_plugins.models.wordnet.model import MEASURES, WordNet

NAMES = MEASURES


def columns(pairs: Sequence[tuple[Text, Text]], wordnet: WordNet) -> FloatArray:
    """(pairs, names) values from 0 to 1."""
    _, idf = bags_of(pairs, words)
    found = [all_aligned(a.words, b.words, wordnet.similarities, idf, len(NAMES)) for a, b in pairs]
    return np.array(found, np.float64)
