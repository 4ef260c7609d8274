"""Syntactic log-odds ratio: how much likelier a sentence is than its words are.

SLR(s) = (ln p_model(s) - ln p_unigram(s)) / |s|                                        (Pauls and Klein 2012, §5.3)

What rare words cost is in both terms, so a sentence is not held to be worse for what it is about. Both count the end of
the sentence. The unigram model is that of the treelet model's own training corpus and vocabulary; for another language
model, the embedded word frequencies unless one is named. Without words, |s| is taken to be 1. Cost: the model's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rerank_plugins.feature_table import FloatArray
from rerank_plugins.features.parsed_lm import ParsedLM, Treelet, shared
from rerank_plugins.features.sentence_feature import SentenceFeature
from rerank_plugins.interfaces import LanguageModel, Sentence, option
from rerank_plugins.models.unigram_model import UnigramModel
from rerank_plugins.pickling import PickledFields


@dataclass(frozen=True)
class Slr(SentenceFeature, PickledFields):
    """Syntactic log-odds ratio: ln p by a language model minus ln p of the words alone, per word."""

    lm: LanguageModel | None = option(None, doc="a language model, by name; none: treelet, embedded English")
    unigram: LanguageModel | None = option(
        None, doc="what gives ln p of the words; none: unigrams of a treelet model's own, or embedded English"
    )

    @cached_property
    def _lm(self) -> LanguageModel:
        lm = Treelet() if self.lm is None else self.lm
        return shared(lm) if isinstance(lm, ParsedLM) else lm

    @property
    def vocabulary(self) -> LanguageModel:
        """The words that the language model knows."""
        return self._lm

    def _unigram_totals(self, sentences: Sequence[Sentence]) -> FloatArray:
        if self.unigram is None and isinstance(self._lm, ParsedLM):
            return self._lm.unigram_totals(sentences)
        return (self.unigram or UnigramModel()).totals(sentences)

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 1) natural logs per word."""
        odds = self._lm.totals(sentences) - self._unigram_totals(sentences)
        return (odds / [max(1, len(words)) for words in sentences])[:, None]
