"""The referential semantic language model's score of a hypothesis (Schuler, Wu & Schwartz 2009).

total = ln p(e_1 … e_n </s>); per_word = total / (n + 1); referent = 1 if all words can be read and are a complete
sentence whose best hypothesis refers to something, else 0. Without semantics every complete sentence refers to
everything, and trigrams have no referents. An empty hypothesis has the floor of an unfinished sentence, and no
referent. The cost is one step for each distinct prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import LanguageModel, Sentence
from rerank_plugins.core.sentence_feature import SentenceFeature
from rerank_plugins.referential.language_model import ReferentialLanguageModel, ReferentialOptions


@dataclass(frozen=True)
class ReferentialFeature(ReferentialOptions, SentenceFeature):
    """Sentence ln p by a referential semantic language model: total, per word, and whether a referent remains."""

    @property
    def components(self) -> tuple[str, ...]:
        """`total`, `per_word`, `referent`."""
        return ("total", "per_word", "referent")

    @cached_property
    def _lm(self) -> ReferentialLanguageModel:
        return ReferentialLanguageModel(**{field.name: getattr(self, field.name) for field in fields(self)})

    @property
    def vocabulary(self) -> LanguageModel:
        """The words of the grammar, and those of the world's taxonomy where the grammar admits them."""
        return self._lm

    def word_values(self, sentences: Sequence[Sentence]) -> list[FloatArray] | None:
        """Ln p of each word, `</s>` last."""
        return self._lm.word_scores(sentences)

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 3) natural logs, natural logs per word, 1 where a referent remains and else 0."""
        scores, refers = self._lm.score_and_refer(sentences)
        totals = np.array([values.sum() for values in scores], np.float64)
        return np.stack([totals, totals / [len(values) for values in scores], refers], axis=1).reshape(-1, 3)
