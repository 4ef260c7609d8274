"""The joint model's score of a translation: ln p of its words, given the words before and the aligned source words.

With p the probabilities of the m words of a hypothesis and of its `</s>`: total = sum ln p; per_word = total / (m + 1);
improbable = -#{words with p < 0.01}. All unknown words together have one probability.
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
    from rerank_plugins.translation.alignment.model import WordAlignmentModel
    from rerank_plugins.translation.joint_model.model import JointModel

IMPROBABLE = np.log(0.01)


@dataclass(frozen=True)
class JointLMFeature(FeatureExtractor, PickledFields):
    """Neural network joint model (Devlin et al. 2014): ln p of words, given the source and the words before.

    Raises ModelError for a file that is missing, damaged, or of another kind.
    """

    model: Path = option(doc="model from `rerank train joint-lm`")
    alignment: Path = option(doc="model from `rerank train word-alignment`, best the one that `model` was trained with")

    components = ("total", "per_word", "improbable")

    @cached_property
    def _model(self) -> JointModel:
        from rerank_plugins.translation.joint_model.model import read_model

        return read_model(self.model)

    @cached_property
    def _alignment(self) -> WordAlignmentModel:
        from rerank_plugins.translation.alignment.model import read_model  # loads numba, at the first use

        return read_model(self.alignment)

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 3) values, natural logs. Raises ConfigError for a list without a source, ModelError as above."""
        scores = self.word_scores(nbest)
        values = [(ln_p.sum(), ln_p.mean(), -float((ln_p < IMPROBABLE).sum())) for ln_p in scores]
        return np.array(values, np.float64).reshape(-1, len(self.components)) + 0.0  # no -0

    def word_scores(self, nbest: NBestList) -> list[FloatArray]:
        """Ln p of each word and of `</s>`. Raises ConfigError for a list without a source, ModelError as above."""
        from rerank_plugins.translation.joint_model.contexts import affiliations

        if not len(nbest):
            return []
        source = source_of(nbest, "joint-lm")
        places = affiliations(self._alignment, source, nbest.texts)
        ln_p = self._model.ln_p(self._model.numbering.contexts([(source, nbest.texts, places)]))
        return np.split(ln_p, np.cumsum([len(of_words) + 1 for of_words in places])[:-1])
