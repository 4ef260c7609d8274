"""P(e), the posterior that the decoder's totals give each hypothesis of a list."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.nbest import NBestList

Posterior = Literal["score", "spread", "rank", "uniform"]


def posteriors(nbest: NBestList, kind: Posterior, scale: float) -> FloatArray:
    """(n) P(e), summing to 1: softmax of scale · total (`score`), of total / its deviation in the list (`spread`), of
    -ln rank, or uniform. Lists without totals are weighted by rank.
    """
    scores = [hypothesis.score for hypothesis in nbest]
    if not scores:
        return np.zeros(0)
    if kind == "uniform":
        logits = np.zeros(len(scores))
    elif kind == "rank" or None in scores:
        logits = -np.log(np.arange(1.0, len(scores) + 1.0))
    else:
        logits = np.array(scores, np.float64)
        spread = logits.std() if kind == "spread" else 1.0
        logits = logits / spread if spread > 0 else np.zeros(len(scores))
    masses = np.exp(scale * (logits - logits.max()))
    normalised: FloatArray = masses / masses.sum()
    return normalised
