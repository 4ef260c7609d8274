"""The rank r = 1 … n of a hypothesis in the decoder's order, on scales that a tuner can weigh.

log = -ln r; relative = -(r - 1) / (n - 1), from 0 for the first hypothesis to -1 for the last one (0 in a list of one);
first = 1 for the first hypothesis, and 0 for any other. Unlike the decoder's total, these do not depend on the scale of
its scores. `reciprocal-rank` (decoder_score.py) is a fourth scale. The cost is negligible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import FeatureExtractor
from rerank_plugins.core.nbest import NBestList


@dataclass(frozen=True)
class RankFeature(FeatureExtractor):
    """Rank in the decoder's order: minus its logarithm, the rank relative to the list, and whether it is the first."""

    scope: ClassVar[Literal["text", "list"]] = "list"

    @property
    def components(self) -> tuple[str, ...]:
        """`log`, `relative`, `first`."""
        return ("log", "relative", "first")

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 3) values that fall from the first hypothesis to the last one."""
        rows = np.arange(float(len(nbest)))
        return np.stack([-np.log(rows + 1.0), -rows / max(len(nbest) - 1, 1), rows == 0], axis=1) + 0.0
