"""The length of a hypothesis: its number of words, which is 0 for the empty one, or of its characters.

A tuner chooses the sign of the weight. The cost is linear in the text.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_plugins import FeatureExtractor, FloatArray, NBestList


@dataclass(frozen=True)
class LengthFeature(FeatureExtractor):
    """Number of words of the hypothesis."""

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 1) numbers of words, split at white space."""
        return np.array([len(hypothesis.words) for hypothesis in nbest], np.float64)[:, None]


@dataclass(frozen=True)
class CharacterLengthFeature(FeatureExtractor):
    """Number of characters of the hypothesis, spaces not counted, so that tokenisation hardly matters."""

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 1) numbers of characters (Unicode code points) that are not white space."""
        return np.array([len("".join(text.split())) for text in nbest.texts], np.float64)[:, None]
