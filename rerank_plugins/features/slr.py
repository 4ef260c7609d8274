"""Syntactic log-odds ratio: how much likelier a sentence is than its words are.

SLR(s) = (ln p_model(s) - ln p_unigram(s)) / |s|                                        (Pauls and Klein 2012, §5.3)

What rare words cost is in both terms, so a sentence is not held to be worse for what it is about. Both count the end of
the sentence. The ratio means something only where both terms are of one vocabulary: otherwise a word that one of them
does not know counts for or against the sentence. So the unigrams are the language model's own (`HasUnigrams`), of the
same training corpus and with the same replacement of unknown words, unless others are named. Without words, |s| is
taken to be 1. Cost: the model's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.features.sentence_feature import SentenceFeature
from rerank_plugins.interfaces import HasUnigrams, LanguageModel, Sentence, option
from rerank_plugins.language_models.own_unigrams import with_unigrams
from rerank_plugins.language_models.parsed import ParsedLanguageModel, shared
from rerank_plugins.language_models.treelet import TreeletLanguageModel
from rerank_plugins.pickling import PickledFields


@dataclass(frozen=True)
class SlrFeature(SentenceFeature, PickledFields):
    """Syntactic log-odds ratio: ln p by a language model minus ln p of the words alone, per word.

    Raises ValueError for a language model that has no unigrams of its own where none are named.
    """

    lm: LanguageModel | None = option(None, doc="a language model, by name; none: treelet, embedded English")
    unigram: LanguageModel | None = option(
        None, doc="a language model of the words alone, instead of the unigrams that `lm` itself has"
    )

    def __post_init__(self) -> None:
        if self.unigram is None and self.lm is not None and not isinstance(self.lm, HasUnigrams):
            raise ValueError(
                f"the language model {type(self.lm).__name__} has no unigrams of its own: name some with 'unigram'"
            )

    @cached_property
    def _lm(self) -> LanguageModel:
        lm = TreeletLanguageModel() if self.lm is None else self.lm
        return shared(lm) if isinstance(lm, ParsedLanguageModel) else lm

    @property
    def vocabulary(self) -> LanguageModel:
        """The words that the language model knows."""
        return self._lm

    def _unigram_totals(self, sentences: Sequence[Sentence]) -> FloatArray:
        if self.unigram is not None:
            return self.unigram.totals(sentences)
        scores = with_unigrams(self._lm).unigram_scores(sentences)
        return np.array([values.sum() for values in scores], np.float64)

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 1) natural logs per word."""
        odds = self._lm.totals(sentences) - self._unigram_totals(sentences)
        return (odds / [max(1, len(words)) for words in sentences])[:, None]
