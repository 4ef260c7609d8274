"""The decoder's own order of a list as features: its total score, and the reciprocal of the rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rerank_plugins import ConfigError, FeatureExtractor, FloatArray, NBestList, option


@dataclass(frozen=True)
class DecoderScoreFeature(FeatureExtractor):
    """The decoder's total score, unchanged. Redundant next to all the decoder's features; useful without them."""

    scope: ClassVar[Literal["text", "list"]] = "list"

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 1) total scores. Raises ConfigError where a hypothesis has none."""
        scores = [hypothesis.score for hypothesis in nbest]
        if None in scores:
            raise ConfigError(
                f"decoder-score: hypothesis {scores.index(None) + 1} of segment {nbest.segment_id} has no total score"
                " (use reciprocal-rank for lists without totals)"
            )
        return np.array(scores, np.float64)[:, None]


@dataclass(frozen=True)
class ReciprocalRankFeature(FeatureExtractor):
    """1 / rank in the decoder's order: 1 for its 1-best, falling towards 0; for lists without scores."""

    scope: ClassVar[Literal["text", "list"]] = "list"

    power: float = option(1.0, doc="1 / rank ^ power: a high one sets the 1-best apart, a low one spaces ranks evenly")

    def __post_init__(self) -> None:
        if not self.power > 0:
            raise ValueError(f"power is {self.power}; wanted more than 0")

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 1) (1 + row) to the power of minus `power`."""
        return np.arange(1.0, len(nbest) + 1.0)[:, None] ** -self.power
