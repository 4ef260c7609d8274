"""The tokens common to source f and hypothesis e, as proportions of both sides, with clipped counts.

m = sum_w min(#_w(e), #_w(f)); hypothesis = m / |e|, source = m / |f|; 0 where a side is empty. For tasks within one
language (simplification, correction, speech) overlap is desirable; for translation a tuner makes the weight negative.
The cost is linear in the text.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.brackets_and_quotes import normal_text
from rerank_plugins.core.interfaces import FeatureExtractor, option
from rerank_plugins.core.nbest import NBestList
from rerank_plugins.kit.nbest_lists import source_of


@dataclass(frozen=True)
class LexicalOverlapFeature(FeatureExtractor):
    """Proportions of the hypothesis's and of the source's tokens that the other side has too."""

    ignore_case: bool = option(True, doc="compare tokens in lower case")

    @property
    def components(self) -> tuple[str, ...]:
        """`hypothesis` (precision against the source) and `source` (recall)."""
        return ("hypothesis", "source")

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 2) proportions from 0 to 1. Raises ConfigError for a list without a source."""
        values = np.zeros((len(nbest), 2))
        if not len(nbest):
            return values
        source = Counter(self._tokens(source_of(nbest, "lexical-overlap")))
        size = source.total()
        for row, text in enumerate(nbest.texts):
            words = self._tokens(text)
            if words and size:
                matches = sum(min(words.count(word), source[word]) for word in source.keys() & words)
                values[row] = matches / len(words), matches / size
        return values

    def _tokens(self, text: str) -> list[str]:
        text = normal_text(text)
        return text.lower().split() if self.ignore_case else text.split()
