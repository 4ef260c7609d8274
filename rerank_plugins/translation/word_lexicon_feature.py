"""The discriminative word lexicon's score of a hypothesis: ln p of its words, given all words of the source.

With the log odds z_e of the word e, given the source, and b_e those without any source word, the
values are sums over the distinct words e of the hypothesis that the lexicon knows:

    log_odds = sum z_e,       which is ln p of exactly these words being there, but for a constant of the segment
    ln_p     = sum ln p(e),   p = 1 / (1 + exp(-z))
    gain     = sum ln p(e) - ln p(e without source)
    per_word = ln_p / number of these words
    unlikely = sum min(z_e, 0)

All are 0 for a hypothesis without known words. Repetitions and the order of the words
do not count. The cost is some microseconds a hypothesis.
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

    @property
    def components(self) -> tuple[str, ...]:
        """`log_odds`, `ln_p`, `gain`, `per_word`, `unlikely`."""
        return ("log_odds", "ln_p", "gain", "per_word", "unlikely")

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
