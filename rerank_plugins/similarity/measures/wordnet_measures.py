"""Similarity of sentences by the similarities of their words in WordNet.

path … jcn      alignment of words (word_alignment.py) by each word measure of similarity/wordnet.py
resnik          the same by Resnik's measure, with the arithmetic mean of both sides (Mihalcea et al. 2006)
augmented       word overlap in which a word that the other sentence lacks counts as much as its path similarity with
                the most similar word there: the harmonic mean of both sides' means (Šarić et al. 2012, who print the
                sum over one sentence divided by the length of the other, which may exceed 1)
greedy_lemmas   Σ max(IC(w), IC(u)) lin(w, u) over the pairs (w, u) of words that are aligned greedily by `lin`, divided
                by the length of the longer sentence in words (their equations 6 and 7); IC(w) = -ln p(w). It has no
                upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.similarity.measures.sentence_parts import Lexicon, Text
from rerank_plugins.similarity.measures.tfidf import bags_of, words
from rerank_plugins.similarity.measures.word_alignment import greedy_pairs, harmonic_mean, side_means, with_same
from rerank_plugins.similarity.wordnet import MEASURES, WordNet

ALIGNED = ("path", "wup", "lch", "lin", "jcn")
NAMES = (*ALIGNED, "resnik", "augmented", "greedy_lemmas")
OTHER = ("greedy_lemmas",)  # no upper bound
PATH, LIN, RESNIK = map(MEASURES.index, ("path", "lin", "resnik"))


def columns(pairs: Sequence[tuple[Text, Text]], wordnet: WordNet, lexicon: Lexicon) -> FloatArray:
    """Compute (pairs, names) values: 0 to 1, `greedy_lemmas` 0 or more; all are 0 if a sentence has no word."""
    _, idf = bags_of(pairs, words)
    return np.array([_of_pair(a, b, wordnet, lexicon, idf) for a, b in pairs], np.float64)


def _of_pair(a: Text, b: Text, wordnet: WordNet, lexicon: Lexicon, idf: Mapping[str, float]) -> FloatArray:
    if not a.words or not b.words:
        return np.zeros(len(NAMES))
    first, second = sorted((a.words, b.words))
    left, right = list(dict.fromkeys(first)), list(dict.fromkeys(second))
    similarity = with_same(left, right, wordnet.similarities(left, right))
    weights = (np.array([idf[word] for word in side]) for side in (left, right))
    one, other = side_means(similarity, *weights)
    unweighted = side_means(similarity[PATH], np.ones(len(left)), np.ones(len(right)))
    aligned = harmonic_mean(one, other)[[MEASURES.index(name) for name in ALIGNED]]
    resnik = (one[RESNIK] + other[RESNIK]) / 2
    occurrences = np.ix_([*map(left.index, first)], [*map(right.index, second)])
    greedy = _greedy(first, second, similarity[LIN][occurrences], lexicon)
    return np.array([*aligned, resnik, harmonic_mean(*unweighted), greedy])


def _greedy(a: Sequence[str], b: Sequence[str], lin: FloatArray, lexicon: Lexicon) -> float:
    """`greedy_lemmas` of two sentences, by the (n, m) similarities `lin` of their words."""
    information = lexicon.information
    shared = sum(max(information(a[i]), information(b[j])) * lin[i, j] for i, j in greedy_pairs(lin))
    return float(shared / max(len(a), len(b)))
