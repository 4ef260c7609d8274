"""Similarity of hypotheses to other text by random indexing (Wu et al. 2013, eq. 3): cosines of sentence vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import option
from rerank_plugins.similarity.random_indexing.model import RandomIndexModel, Space, Weighting
from rerank_plugins.similarity.similarity_feature import SimilarityFeature


@dataclass(frozen=True, kw_only=True)
class RandomIndexingFeature(SimilarityFeature):
    """Similarity by random-indexing vectors: consensus with the list, or to a source, a context or a file.

    Raises ModelError for a file that is missing, cut short, of another version or kind, or that lacks the space.
    """

    model: Path = option(doc="model from `rerank train random-indexing`")
    space: Space = option("document", doc="word vectors to use: by document, window, direction or position, or by LSA")
    weight: Weighting = option("idf", doc="weight of a word: 1 (none), ln(N / df) (idf) or a / (a + p) (sif)")

    @cached_property
    def _model(self) -> RandomIndexModel:
        from rerank_plugins.similarity.random_indexing.model_file import read_model

        return read_model(self.model)

    def vectors(self, sentences: Sequence[Sequence[str]]) -> FloatArray:
        """(n, dimensions) weighted sums of the word vectors, scaled to length 1."""
        return self._model.sentence_vectors(sentences, self.space, self.weight)
