"""The discriminative word lexicon's score of a hypothesis: ln p of its words, given all words of the source.

With z_e the log odds of word e, given the source, sums over the distinct words e of the hypothesis that it knows:

    log_odds = sum z_e        unlikely = sum min(z_e, 0)        gain = sum ln p(e) - ln p(e without source)
    ln_p     = sum ln p(e),   p = 1 / (1 + exp(-z))             per_word = ln_p / number of these words
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import FeatureExtractor, option
from rerank_plugins.core.nbest import NBestList
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.kit.nbest_lists import source_of

if TYPE_CHECKING:
    from rerank_plugins.translation.word_lexicon import WordLexicon


@dataclass(frozen=True)
class WordLexiconFeature(FeatureExtractor, PickledFields):
    """Discriminative word lexicon: which words a translation has, given all words of the source.

    Raises ModelError for a file that is missing, damaged, or of another kind.
    """

    model: Path = option(doc="model from `rerank train word-lexicon`")

    components = ("log_odds", "ln_p", "gain", "per_word", "unlikely")

    @cached_property
    def _lexicon(self) -> WordLexicon:
        from rerank_plugins.translation.word_lexicon import read_model

        return read_model(self.model)

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 5) natural logs. Raises ConfigError for a list without a source."""
        from rerank_plugins.translation.word_lexicon import ln_probability

        if not len(nbest):
            return np.zeros((0, len(self.components)))
        odds = self._lexicon.log_odds(source_of(nbest, "word-lexicon"))
        rows, words = self._lexicon.words_of(nbest.texts)
        z = odds[words]
        ln_p = ln_probability(z)
        gain = ln_p - ln_probability(self._lexicon.bias[words].astype(np.float64))
        sums = [np.bincount(rows, values, len(nbest)) for values in (z, ln_p, gain, np.minimum(z, 0.0))]
        known = np.maximum(np.bincount(rows, minlength=len(nbest)), 1)
        return np.column_stack([*sums[:3], sums[1] / known, sums[3]])
