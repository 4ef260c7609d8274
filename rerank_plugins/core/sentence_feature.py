"""The base class of features that depend on the words alone, whose model scores all lists in one call."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import FeatureExtractor, Sentence
from rerank_plugins.core.nbest import NBestList


class SentenceFeature(FeatureExtractor):
    """An extractor that works on sentences: a subclass computes the values of any number of them at once."""

    @abstractmethod
    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, components) values, one row for each sentence."""

    def extract(self, nbest: NBestList) -> FloatArray:
        """(hypotheses, components) values, as `values` computes them."""
        return self.values([text.split() for text in nbest.texts])

    def extract_all(self, nbests: Sequence[NBestList]) -> list[FloatArray]:
        """One (hypotheses, components) array for each list, from a single call of `values`."""
        if not nbests:
            return []
        values = self.values([text.split() for nbest in nbests for text in nbest.texts])
        return np.split(values, np.cumsum([len(nbest) for nbest in nbests])[:-1])

    def word_values(self, sentences: Sequence[Sentence]) -> list[FloatArray] | None:  # noqa: ARG002
        """What each word adds to the values, as `word_scores` has it; None (the default) if it has no parts by word."""
        return None

    def word_scores(self, nbest: NBestList) -> list[FloatArray] | None:
        """What each word of the hypotheses adds, as `word_values` computes it."""
        return self.word_values([text.split() for text in nbest.texts])
