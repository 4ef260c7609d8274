"""Sentences as vectors over documents: v_S = Σ_t w_t v_t, where v_t has the weights of word t in the documents.

By default w_t = tf(t) idf(t), as in the paper; callers may pass other weights. A sentence without a known word has the
zero vector, whose cosine with any other is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.kit.files.declared import Array, Offsets, Setting, WordList
from rerank_plugins.similarity.esa.document_vectors import pair_cosines, word_cosines
from rerank_plugins.similarity.known_words import KnownWords

Sentence = Sequence[str]


@dataclass(frozen=True, eq=False)
class EsaModel(KnownWords):
    """An inverted index: the `words`, their (V) `idf`, and the `titles` of the documents.

    The documents of word w are `documents[starts[w] : starts[w + 1]]`, sorted, at most `settings["most"]`. Their
    `weights` are (1 + ln tf) idf, divided by the Euclidean length of the document's vector.
    """

    words: Annotated[tuple[str, ...], WordList("V")]
    idf: Annotated[FloatArray, Array("V")]
    titles: Annotated[tuple[str, ...], WordList("D")]
    starts: Annotated[LongArray, Offsets("V", "E")]
    documents: Annotated[IntArray, Array("E")]
    weights: Annotated[NDArray[np.float32], Array("E")]
    settings: Annotated[Mapping[str, Any], Setting()]
    provenance: Annotated[Mapping[str, Any], Setting(versioned=True)] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"ESA of {len(self.titles):,} documents and {len(self.words):,} words"

    def cosines(self, pairs: Sequence[tuple[Sentence, Sentence]], weights: FloatArray | None = None) -> FloatArray:
        """The (pairs) cosines of the sentences of each pair, from 0 to 1, by (V) word `weights`, by default idf."""
        known = [self._known(sentence) for pair in pairs for sentence in pair]
        sides = np.cumsum([0, *map(len, known)], dtype=np.int64)
        tokens = np.array([word for words in known for word in words], np.int64)
        token_weights = (self.idf if weights is None else weights)[tokens]
        index = self.starts, self.documents, self.weights
        return np.asarray(pair_cosines(*index, len(self.titles), sides, tokens, token_weights), np.float64)

    def word_similarities(self, left: Sentence, right: Sentence) -> FloatArray:
        """The (n, m) cosines of n words with m others; 0 for out-of-vocabulary words."""
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
