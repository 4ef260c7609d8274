"""A complete plugin: the type-token ratio of a hypothesis, which is low where a decoder repeats itself."""

from dataclasses import dataclass

import numpy as np

from rerank_plugins import FeatureExtractor, FloatArray, NBestList, hookimpl, option


@dataclass
class TypeTokenRatio(FeatureExtractor):
    """Different words per word, in [0, 1]; 1 for an empty hypothesis."""

    lowercase: bool = option(True, doc="take words that differ in case alone for the same word")

    def extract(self, nbest: NBestList) -> FloatArray:
        texts = (text.lower() if self.lowercase else text for text in nbest.texts)
        return np.array([[_ratio(text.split())] for text in texts]).reshape(-1, 1)


def _ratio(words: list[str]) -> float:
    return len(set(words)) / len(words) if words else 1.0


@hookimpl
def register_feature_extractors(register):
    register("type-token-ratio", TypeTokenRatio)
