"""Values of a list that features read: the posterior P(e) of each hypothesis, and the source sentence."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.nbest import NBestList

Posterior = Literal["score", "spread", "rank", "uniform"]
OF_TOTALS = ("score", "spread")  # posteriors that depend on total scores


def source_of(nbest: NBestList, feature: str) -> str:
    """The source sentence of a list. Raises ConfigError where there is none."""
    if nbest.source is None:
        problem = f"{feature} compares with the source sentence, and segment {nbest.segment_id} has none"
        raise ConfigError(
            f"{problem}: give it as `source` (a file for a command or a config, the sentence itself in Python and in a"
            " request)"
        )
    return nbest.source


def posteriors(nbest: NBestList, kind: Posterior, scale: float) -> FloatArray:
    """(n) posteriors P(e) = softmax(scale · x), which sum to 1; `kind` chooses x.

    It is the total score (`score`), the total score divided by its standard deviation in the list (`spread`),
    -ln rank (`rank`), or a constant (`uniform`). A list without total scores is weighted by rank.
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
