"""The posteriors of a hypothesis's words in the confusion network of its list.

The hypotheses of a list are aligned into a confusion network with their posteriors as weights
(confusion_network). With P(w | s) the posterior of word w in slot s, and a(e, s) what hypothesis e has there
(a word or nothing),

    errors   = - Σ_s (1 - P(a(e, s) | s))        minus the expected number of word errors (Mangu et al. 2000)
    total    = Σ ln P(w | s) over the words of e
    per_word = the mean of P(w | s) over the words of e; 0 for an empty hypothesis

A hypothesis with the highest `errors` has the lowest expected word error among those of the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import FeatureExtractor, option
from rerank_plugins.core.nbest import NBestList
from rerank_plugins.kit.elementary_functions import log
from rerank_plugins.kit.nbest_lists import Posterior, posteriors

LEAST = 1e-30  # the least posterior whose logarithm is taken: a weight of 0 has none


@dataclass(frozen=True)
class WordPosteriorsFeature(FeatureExtractor):
    """Posteriors of words in a confusion network (Mangu et al. 2000): minus expected errors, sum of logs, mean."""

    scope: ClassVar[Literal["text", "list"]] = "list"

    posterior: Posterior = option(
        "score",
        doc="softmax of scale * total (score), total / its deviation (spread) or -ln rank (rank); or uniform",
    )
    scale: float = option(0.5, doc="flat (towards 0) or peaked (above 1) posterior")

    @property
    def components(self) -> tuple[str, ...]:
        """`errors`, `total` and `per_word`."""
        return ("errors", "total", "per_word")

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 3) values; a list without total scores is weighted by rank."""
        from rerank_plugins.lists.confusion_network import ConfusionNetwork  # loads numba, at the first list

        sentences = [text.split() for text in nbest.texts]
        if not sentences:
            return np.zeros((0, 3))
        network = ConfusionNetwork.build(sentences, posteriors(nbest, self.posterior, self.scale))
        values = network.of_choices()
        is_word = network.choices < len(network.words)
        totals = np.where(is_word, log(np.maximum(values, LEAST)), 0.0).sum(axis=1)
        means = np.where(is_word, values, 0.0).sum(axis=1) / np.maximum(is_word.sum(axis=1), 1)
        return np.column_stack([-network.expected_errors(), totals, means])
