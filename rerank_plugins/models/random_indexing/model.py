"""Words with their vectors, and the vectors of sentences: v_S = Σ_t w_t v_t over the words t of S (Wu et al. 2013).

The paper's weights w_t are 1 (`none`). Two others take into account that words which stand everywhere say little:
`idf` ln(N / df_t), with df_t the documents of the training text that have t, and `sif` a / (a + p(t)), a = 0.001 (Arora
et al. 2017). Unknown words have no vector; a sentence without a known word has the vector 0, and cosine 0 to any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.errors import ModelError
from rerank_plugins.models.vocabulary.known_words import KnownWords
from rerank_plugins.pickling import PickledFields

Weighting = Literal["none", "idf", "sif"]
Space = Literal["document", "window", "directional", "positional", "lsa"]
SPACES: tuple[Space, ...] = ("document", "window", "directional", "positional")  # of random indexing
SIF = 1e-3


@dataclass(frozen=True, eq=False)
class RandomIndexModel(KnownWords, PickledFields):
    """`words` by number, (V) their `counts` and `documents`, and by space (V, dimensions) vectors of unit length."""

    words: tuple[str, ...]
    counts: LongArray
    documents: LongArray
    total_documents: int
    spaces: Mapping[str, NDArray[np.float16]]
    settings: Mapping[str, Any]
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def weights(self) -> dict[Weighting, FloatArray]:
        """(V) the weight of each word in a sentence, by weighting."""
        return {
            "none": np.ones(len(self.words)),
            "idf": np.log(self.total_documents / np.maximum(self.documents, 1)),
            "sif": SIF / (SIF + self.counts / self.counts.sum()),
        }

    def vectors(self, space: str) -> NDArray[np.float16]:
        """(V, dimensions) the vectors of a space. Raises ModelError for one that was not trained."""
        if space not in self.spaces:
            raise ModelError(f"the random-indexing model has no space {space!r}, only: {', '.join(self.spaces)}")
        return self.spaces[space]

    def sentence_vectors(
        self, sentences: Sequence[Sequence[str]], space: str, weighting: Weighting | FloatArray
    ) -> FloatArray:
        """(n, dimensions) vectors of length 1, or 0 where no word is known; `weighting` by name, or (V) numbers."""
        from rerank_plugins.models.random_indexing.accumulating import sum_rows

        table, number = self.vectors(space), self.number
        weights = self.weights[weighting] if isinstance(weighting, str) else weighting
        known = [[number[form] for form in map(self.form, sentence) if form in number] for sentence in sentences]
        starts = np.cumsum([0, *map(len, known)], dtype=np.int64)
        tokens = np.fromiter((word for words in known for word in words), np.int64, int(starts[-1]))
        used, places = np.unique(tokens, return_inverse=True)
        sums = np.zeros((len(sentences), table.shape[1]))
        sum_rows(table[used].astype(np.float64), places, weights[tokens], starts, sums)
        return unit_length(sums)


def unit_length(vectors: FloatArray) -> FloatArray:
    """The rows divided by their lengths; rows that are 0 stay so."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0)[:, None], np.float64)
