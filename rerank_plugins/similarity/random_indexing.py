"""Random indexing: vectors of words, and of sentences, v_S = Σ_t w_t v_t over the words t of S (Wu et al. 2013).

A word vector is a sum of sparse random index vectors (Kanerva et al. 2000; Sahlgren 2005). The paper's weights w_t are
1 (`none`); `idf` is ln(N / df_t), where df_t of the N training documents contain t, and `sif` is a / (a + p(t)) with
a = 0.001 (Arora et al. 2017). A sentence without a known word has the zero vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, LongArray, ModelError, PickledFields, known_spelling, normal_form
from rerank_plugins.kit.files.model_schema import Array, ModelFile, NamedArrays, Setting, WordList

Weighting = Literal["none", "idf", "sif"]
Space = Literal["document", "window", "directional", "positional", "lsa"]
SPACES: tuple[Space, ...] = ("document", "window", "directional", "positional")  # the spaces of random indexing
SIF = 1e-3  # a of the weights `sif`


class KnownWords:
    """A mixin that gives a model the look-up of its words: `word in model`, `model.form(word)`, `model.number`.

    The model has the fields `words`, in the order of their numbers, and `settings`, whose entry "lowercase" says
    whether it was trained on lower-cased text.
    """

    words: tuple[str, ...]
    settings: Mapping[str, Any]

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each word."""
        return {word: i for i, word in enumerate(self.words)}

    def form(self, word: str) -> str:
        """The form of the word in the model: the normal form, in lower case if the model was trained so."""
        fold = str.lower if self.settings["lowercase"] else str
        return known_spelling(word, self.number, fold) or fold(normal_form(word))

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.form(word) in self.number


@dataclass(frozen=True, eq=False)
class RandomIndexModel(KnownWords, PickledFields):
    """The `words`, their (V) `counts` and document frequencies, and (V, dimensions) unit vectors for each space."""

    words: Annotated[tuple[str, ...], WordList("V")]
    counts: Annotated[LongArray, Array("V", values="not negative")]
    documents: Annotated[LongArray, Array("V", values="not negative")]
    total_documents: Annotated[int, Setting("documents")]
    spaces: Annotated[Mapping[str, NDArray[np.float16]], NamedArrays("space.", "V", "*")]
    settings: Annotated[Mapping[str, Any], Setting()]
    provenance: Annotated[Mapping[str, Any], Setting(versioned=True)] = field(default_factory=dict)

    @cached_property
    def weights(self) -> dict[Weighting, FloatArray]:
        """The (V) weights of the words in a sentence, by the name of the weighting."""
        return {
            "none": np.ones(len(self.words)),
            "idf": np.log(self.total_documents / np.maximum(self.documents, 1)),
            "sif": SIF / (SIF + self.counts / self.counts.sum()),
        }

    def vectors(self, space: str) -> NDArray[np.float16]:
        """The (V, dimensions) vectors of a space. Raises ModelError for a space that was not trained."""
        if space not in self.spaces:
            raise ModelError(f"the random-indexing model has no space {space!r}, only: {', '.join(self.spaces)}")
        return self.spaces[space]

    def sentence_vectors(
        self, sentences: Sequence[Sequence[str]], space: str, weighting: Weighting | FloatArray
    ) -> FloatArray:
        """The (n, dimensions) unit vectors of n sentences, zero for one without a known word.

        `weighting` is the name of a weighting or an array of (V) weights.
        """
        from rerank_plugins.similarity.context_sums import sum_rows

        table, number = self.vectors(space), self.number
        weights = self.weights[weighting] if isinstance(weighting, str) else weighting
        known = [[number[form] for form in map(self.form, sentence) if form in number] for sentence in sentences]
        starts = np.cumsum([0, *map(len, known)], dtype=np.int64)
        tokens = np.fromiter((word for words in known for word in words), np.int64, int(starts[-1]))
        used, rows = np.unique(tokens, return_inverse=True)
        sums = np.zeros((len(sentences), table.shape[1]))
        sum_rows(table[used].astype(np.float64), rows, weights[tokens], starts, sums)
        return unit_length(sums)


def unit_length(vectors: FloatArray) -> FloatArray:
    """Divide each row by its Euclidean length; zero rows stay zero."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0)[:, None], np.float64)


FILE = ModelFile(RandomIndexModel, "random-indexing", "random-indexing model", check=lambda model: model.form(""))
read_model, write_model = FILE.read, FILE.write
