"""Sentences by the similarities of their words in WordNet.

path … jcn      words aligned (alignment.py) by each measure of words (models/wordnet/model.py)
resnik          the same by Resnik's, the arithmetic mean of the two sides (Mihalcea et al. 2006)
augmented       word overlap in which a word that the other sentence does not have counts the path similarity of the
                most similar word there: the harmonic mean of both sides' means (Šarić et al. 2012, who print the sum
                over one sentence divided by the length of the other, which may exceed 1)
greedy_lemmas   Σ max(IC(w), IC(u)) lin(w, u) / the words of the longer sentence, over the pairs (w, u) of words that
                are aligned greedily by `lin` (their equations 6 and 7); IC(w) = -ln p(w). It has no upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.models.similarity.alignment import greedy_pairs, harmonic_mean, side_means, with_same
from rerank_plugins.models.similarity.text import Lexicon, Text
from rerank_plugins.models.similarity.tfidf import bags_of, words
from rerank_plugins.models.wordnet.model import MEASURES, WordNet

ALIGNED = ("path", "wup", "lch", "lin", "jcn")
NAMES = (*ALIGNED, "resnik", "augmented", "greedy_lemmas")
OTHER = ("greedy_lemmas",)  # has no greatest value
PATH, LIN, RESNIK = map(MEASURES.index, ("path", "lin", "resnik"))


def columns(pairs: Sequence[tuple[Text, Text]], wordnet: WordNet, lexicon: Lexicon) -> FloatArray:
    """(pairs, names) values from 0 to 1, but `greedy_lemmas`, which is not negative; 0 where a side has no word."""
    _, idf = bags_of(pairs, words)
    return np.array([_of_pair(a, b, wordnet, lexicon, idf) for a, b in pairs], np.float64)


def _of_pair(a: Text, b: Text, wordnet: WordNet, lexicon: Lexicon, idf: Mapping[str, float]) -> FloatArray:
    if not a.words or not b.words:
        return np.zeros(len(NAMES))
    first, second = sorted((a.words, b.words))
    left, right = list(dict.fromkeys(first)), list(dict.fromkeys(second))
    similar = with_same(left, right, wordnet.similarities(left, right))
    weights = (np.array([idf[word] for word in side]) for side in (left, right))
    one, other = side_means(similar, *weights)
    counted = side_means(similar[PATH], np.ones(len(left)), np.ones(len(right)))
    aligned = harmonic_mean(one, other)[[MEASURES.index(name) for name in ALIGNED]]
    resnik = (one[RESNIK] + other[RESNIK]) / 2
    greedy = _greedy(
        first, second, similar[LIN][np.ix_([*map(left.index, first)], [*map(right.index, second)])], lexicon
    )
    return np.array([*aligned, resnik, harmonic_mean(*counted), greedy])


def _greedy(a: Sequence[str], b: Sequence[str], similar: FloatArray, lexicon: Lexicon) -> float:
    information = lexicon.information
    told = sum(max(information(a[i]), information(b[j])) * similar[i, j] for i, j in greedy_pairs(similar))
    return float(told / max(len(a), len(b)))
