"""Measures by data: vectors of words, WordNet, explicit semantic analysis, structured vectors.

`vectors`, for each space of a model (random indexing, LSA), are cosines of two sentences (equation 3 of Wu et al.
2013), with words weighted by 1, by their idf among the compared sentences (see `tfidf`), or by their information
content -ln p (Šarić et al. 2012); and `aligned`, the measure of word_alignment.py over the cosines of words, in which
negative cosines and words without a vector count as 0.

`esa`: `cosine` weights words by the tf idf of the collection, as the paper of the method does, `cosine_idf` by their
idf among the compared sentences; `aligned` is over the cosines of words. `svs` is similarity by the structured vectors
of sentences (Wu et al. 2013, equations 6 and 7), and by their shared `meaning` (similarity/meaning.py), in which the
rarity of a word is its idf among the compared sentences; 0 for an unparsed sentence. `wordnet`:

    path … jcn      alignment of words by each word measure of similarity/wordnet.py
    resnik          the same by Resnik's measure, with the arithmetic mean of both sides (Mihalcea et al. 2006)
    augmented       word overlap in which a word that the other sentence lacks counts as much as its path similarity
                    with the most similar word there: the harmonic mean of both sides' means (Šarić et al. 2012, who
                    print the sum over one sentence divided by the length of the other, which may exceed 1)
    greedy_lemmas   Σ max(IC(w), IC(u)) lin(w, u) over the pairs (w, u) of words that are aligned greedily by `lin`,
                    divided by the length of the longer sentence in words (their equations 6 and 7); IC(w) = -ln p(w).
                    It has no upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray
from rerank_plugins.similarity import meaning
from rerank_plugins.similarity.esa_model import EsaModel
from rerank_plugins.similarity.measures.sentence_parts import Lexicon, Text
from rerank_plugins.similarity.measures.tfidf import bags_of, words
from rerank_plugins.similarity.measures.word_alignment import (
    aligned,
    greedy_pairs,
    harmonic_mean,
    side_means,
    with_same,
)
from rerank_plugins.similarity.random_indexing import RandomIndexModel
from rerank_plugins.similarity.sentence_meanings import SentenceMeanings
from rerank_plugins.similarity.structured_vectors import pair_by_pair, parsed_vectors
from rerank_plugins.similarity.wordnet import MEASURES, WordNet
from rerank_plugins.svs.concept_model import ConceptModel
from rerank_plugins.svs.parsing import SvsParser

Pairs = Sequence[tuple[Text, Text]]
KINDS = ("none", "idf", "information", "aligned")
ALIGNED = ("path", "wup", "lch", "lin", "jcn")
WORDNET = (*ALIGNED, "resnik", "augmented", "greedy_lemmas")
WORDNET_OTHER = ("greedy_lemmas",)  # no upper bound
PATH, LIN, RESNIK = map(MEASURES.index, ("path", "lin", "resnik"))
ESA = ("cosine", "cosine_idf", "aligned")
SVS = ("top", "phrase")
MEANING = "meaning"
LONGEST = 80  # words: a longer sentence is not parsed
THRESHOLD = 1e-3  # the pruning threshold of the parser


def vector_names(model: RandomIndexModel) -> tuple[str, ...]:
    """The names of the columns: three cosines and an alignment for each space of the model."""
    return tuple(f"{space}_{kind}" for space in model.spaces for kind in KINDS)


def vector_columns(pairs: Pairs, model: RandomIndexModel, lexicon: Lexicon) -> FloatArray:
    """Compute the measures for all pairs: a (pairs, names) array, its columns in the order of `vector_names(model)`."""
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


def wordnet_columns(pairs: Pairs, wordnet: WordNet, lexicon: Lexicon) -> FloatArray:
    """Compute (pairs, names) values: 0 to 1, `greedy_lemmas` 0 or more; all are 0 if a sentence has no word."""
    _, idf = bags_of(pairs, words)
    return np.array([_by_wordnet(a, b, wordnet, lexicon, idf) for a, b in pairs], np.float64)


def _by_wordnet(a: Text, b: Text, wordnet: WordNet, lexicon: Lexicon, idf: Mapping[str, float]) -> FloatArray:
    if not a.words or not b.words:
        return np.zeros(len(WORDNET))
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


def esa_columns(pairs: Pairs, model: EsaModel) -> FloatArray:
    """Compute the measures of ESA for all pairs: a (pairs, names) array of values from 0 to 1."""
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


def svs_names(parser: SvsParser | None, sentences: SentenceMeanings | None) -> tuple[str, ...]:
    """The names of the measures of SVS by these data."""
    return (*(SVS if parser else ()), *((MEANING,) if sentences else ()))


def svs_columns(pairs: Pairs, parser: SvsParser | None, sentences: SentenceMeanings | None) -> FloatArray:
    """Compute the measures of SVS for all pairs: a (pairs, names) array of values from 0 to 1."""
    columns = _vector_columns(pairs, parser) if parser else np.zeros((len(pairs), 0))
    if sentences is None:
        return columns
    _, idf = bags_of(pairs, words)
    left, right = (sentences.of([pair[side].tokens for pair in pairs]) for side in (0, 1))
    return np.column_stack([columns, meaning.pair_by_pair(left, right, rarity=idf)])


def _vector_columns(pairs: Pairs, parser: SvsParser) -> FloatArray:
    sides = [[pair[side].tokens for pair in pairs] for side in (0, 1)]
    sides = [[tokens if len(tokens) <= LONGEST else () for tokens in side] for side in sides]
    vectors = parsed_vectors(parser, [*sides[0], *sides[1]])
    return np.column_stack(pair_by_pair(vectors[: len(pairs)], vectors[len(pairs) :]))


def described(parser: SvsParser | None, sentences: SentenceMeanings | None) -> str | None:
    """A description of the models for messages and reports."""
    texts = []
    if parser:
        model = parser.model
        texts.append(f"structured vectors of {len(model.symbols):,} symbols and {model.concepts} concepts")
    if sentences and isinstance(sentences.concepts, ConceptModel):
        texts.append(f"{sentences.concepts.concepts} concepts of {len(sentences.concepts.heads):,} words")
    return " and ".join(texts) or None
