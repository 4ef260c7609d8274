"""Explicit semantic analysis: sentences as vectors over documents, v_S = Σ_t w_t v_t.

v_t has the weights of word t in the documents, and w_t = tf(t) idf(t), as in the paper, or other weights of the caller.
A sentence without a known word has the zero vector, whose cosine with any other is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import sqrt
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.core.sentences import check_sentences
from rerank_plugins.kit.files.model_schema import Array, ModelFile, Offsets, Setting, WordList
from rerank_plugins.kit.kernels import kernel, part
from rerank_plugins.similarity.random_indexing import KnownWords

Sentence = Sequence[str]


@part
def count_words(tokens: IntArray, first: int, last: int, counts: LongArray, seen: LongArray) -> int:
    """Count the known words of tokens[first:last] and return how many are distinct.

    `counts` (V), zero before the call, receives the counts, and `seen` the distinct words.
    """
    distinct = 0
    for token in tokens[first:last]:
        if token >= 0:
            if counts[token] == 0:
                seen[distinct] = token
                distinct += 1
            counts[token] += 1
    return distinct


@kernel
def index_documents(
    tokens: IntArray,
    ends: LongArray,
    idf: FloatArray,
    shortest: int,
    words: LongArray,
    weights: NDArray[np.float32],
    sizes: LongArray,
) -> int:
    """Compute the unit vectors of the documents, with (1 + ln tf) idf for each word, and return the number of entries.

    `words` and `weights` (tokens) are filled document by document; `sizes` (documents) receives the number of entries
    of each document, 0 if it has fewer than `shortest` tokens, unknown ones included.
    """
    counts, seen = np.zeros(len(idf), np.int64), np.empty(len(idf), np.int64)
    total, start = 0, 0
    for document in range(len(ends)):
        end = ends[document]
        distinct = count_words(tokens, start, end, counts, seen)
        squares = 0.0
        for i in range(distinct):
            weight = (1 + np.log(counts[seen[i]])) * idf[seen[i]]
            counts[seen[i]] = 0
            words[total + i], weights[total + i] = seen[i], weight
            squares += weight * weight
        if end - start >= shortest and squares > 0:
            for i in range(total, total + distinct):
                weights[i] /= sqrt(squares)
            sizes[document] = distinct
            total += distinct
        start = end + 1
    return total


@kernel
def pair_cosines(
    starts: LongArray,
    documents: IntArray,
    weights: NDArray[np.float32],
    size: int,
    sides: LongArray,
    tokens: LongArray,
    token_weights: FloatArray,
) -> Any:
    """The (pairs) cosines of sentence vectors Σ token weight · document weight, over `size` documents.

    Sentence s has tokens[sides[s] : sides[s + 1]]; sentences 2i and 2i + 1 are a pair.
    """
    pairs = (len(sides) - 1) // 2
    values = np.zeros(pairs)
    left, right = np.zeros(size), np.zeros(size)
    for pair in range(pairs):
        _add(starts, documents, weights, sides[2 * pair], sides[2 * pair + 1], tokens, token_weights, left)
        _add(starts, documents, weights, sides[2 * pair + 1], sides[2 * pair + 2], tokens, token_weights, right)
        squares = inner(left, left) * inner(right, right)
        if squares > 0:
            values[pair] = inner(left, right) / sqrt(squares)
        left[:] = 0.0
        right[:] = 0.0
    return values


@part
def _add(
    starts: LongArray, documents: IntArray, weights: NDArray[np.float32], first: int, last: int, tokens: LongArray,
    token_weights: FloatArray, vector: FloatArray,
) -> None:  # fmt: skip
    """Add the weighted vectors of tokens[first:last] to `vector` (documents)."""
    for i in range(first, last):
        for k in range(starts[tokens[i]], starts[tokens[i] + 1]):
            vector[documents[k]] += token_weights[i] * weights[k]


@partial(part, fastmath={"reassoc"})
def inner(left: FloatArray, right: FloatArray) -> float:
    """The inner product, summed in any order; numba's `@` would need SciPy, which is not a core dependency."""
    total = 0.0
    for i in range(len(left)):
        total += left[i] * right[i]
    return total


@kernel
def word_cosines(
    starts: LongArray, documents: IntArray, weights: NDArray[np.float32], left: LongArray, right: LongArray
) -> Any:
    """The (n, m) cosines of words; the number -1 stands for a word without a vector, of cosine 0."""
    values = np.zeros((len(left), len(right)))
    for i in range(len(left)):
        for j in range(len(right)):
            if left[i] >= 0 and right[j] >= 0:
                values[i, j] = _cosine(starts, documents, weights, left[i], right[j])
    return values


@part
def _cosine(starts: LongArray, documents: IntArray, weights: NDArray[np.float32], a: int, b: int) -> float:
    """The cosine of two words, by merging their sorted lists of documents."""
    i, j = starts[a], starts[b]
    both = 0.0
    while i < starts[a + 1] and j < starts[b + 1]:
        if documents[i] < documents[j]:
            i += 1
        elif documents[i] > documents[j]:
            j += 1
        else:
            both += weights[i] * weights[j]
            i += 1
            j += 1
    if both <= 0:
        return 0.0
    return both / sqrt(_square_sum(weights, starts[a], starts[a + 1]) * _square_sum(weights, starts[b], starts[b + 1]))


@part
def _square_sum(weights: NDArray[np.float32], start: int, end: int) -> float:
    total = 0.0
    for i in range(start, end):
        total += weights[i] * weights[i]
    return total


@dataclass(frozen=True, eq=False)
class EsaModel(KnownWords):
    """An inverted index: the `words`, their (V) `idf`, and the `titles` of the documents.

    The documents of word w are `documents[starts[w] : starts[w + 1]]`, sorted, at most `settings["most"]`. Their
    `weights` are (1 + ln tf) idf, divided by the Euclidean length of the document's vector.
    """

    words: Annotated[tuple[str, ...], WordList("V")]
    idf: Annotated[FloatArray, Array("V", values="not negative")]
    titles: Annotated[tuple[str, ...], WordList("D")]
    starts: Annotated[LongArray, Offsets("V", "E")]
    documents: Annotated[IntArray, Array("E", below="D")]
    weights: Annotated[NDArray[np.float32], Array("E", values="not negative")]
    settings: Annotated[Mapping[str, Any], Setting()]
    provenance: Annotated[Mapping[str, Any], Setting(versioned=True)] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"ESA of {len(self.titles):,} documents and {len(self.words):,} words"

    def cosines(self, pairs: Sequence[tuple[Sentence, Sentence]], weights: FloatArray | None = None) -> FloatArray:
        """The (pairs) cosines of the sentences of each pair, from 0 to 1, by (V) word `weights`, by default idf."""
        for pair in pairs:
            check_sentences(pair)
        known = [self._known(sentence) for pair in pairs for sentence in pair]
        sides = np.cumsum([0, *map(len, known)], dtype=np.int64)
        tokens = np.array([word for words in known for word in words], np.int64)
        token_weights = (self.idf if weights is None else weights)[tokens]
        index = self.starts, self.documents, self.weights
        return np.asarray(pair_cosines(*index, len(self.titles), sides, tokens, token_weights), np.float64)

    def word_similarities(self, left: Sentence, right: Sentence) -> FloatArray:
        """The (n, m) cosines of n words with m others; 0 for out-of-vocabulary words."""
        check_sentences((left, right))
        a, b = (np.array([self.number.get(self.form(word), -1) for word in side], np.int64) for side in (left, right))
        return np.asarray(word_cosines(self.starts, self.documents, self.weights, a, b), np.float64)

    def strongest(self, sentence: Sentence, most: int = 10) -> list[tuple[str, float]]:
        """The titles and weights of the `most` documents that are strongest in the vector of the sentence."""
        vector = np.zeros(len(self.titles))
        for word in self._known(sentence):
            own = slice(self.starts[word], self.starts[word + 1])
            vector[self.documents[own]] += self.idf[word] * self.weights[own]
        best = np.argsort(-vector, kind="stable")[:most]
        return [(self.titles[i], float(vector[i])) for i in best if vector[i] > 0]

    def _known(self, sentence: Sentence) -> list[int]:
        return [self.number[form] for form in map(self.form, sentence) if form in self.number]


FILE = ModelFile(
    EsaModel, "esa", "ESA model", first=("idf", "starts", "documents", "weights"), check=lambda model: model.form("")
)
read_model, write_model = FILE.read, FILE.write
