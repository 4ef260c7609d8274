"""Features of the words alone: the hypotheses of all lists go to the model in one call."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.interfaces import FeatureExtractor, Sentence
from rerank_plugins.nbest import NBestList


class SentenceFeature(FeatureExtractor):
    """An extractor that sees sentences: a subclass gives their values, however many there are."""

    @abstractmethod
    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, components) one row per sentence."""

    def extract(self, nbest: NBestList) -> FloatArray:
        """(hypotheses, components): see `values`."""
        return self.values([text.split() for text in nbest.texts])

    def extract_all(self, nbests: Sequence[NBestList]) -> list[FloatArray]:
        """One array per list, from one call of `values`."""
        if not nbests:
            return []
        values = self.values([text.split() for nbest in nbests for text in nbest.texts])
        return np.split(values, np.cumsum([len(nbest) for nbest in nbests])[:-1])
