"""Syntactic log-odds ratio (SLR): ln p of a sentence less ln p of its words alone, per word.

SLR(s) = (ln p_model(s) - ln p_unigram(s)) / |s|                                        (Pauls and Klein 2012, §5.3)

The cost of rare words is in both terms, so a sentence is not penalised for its topic. Both terms include the end of the
sentence. The ratio is meaningful only where both terms have the same vocabulary: otherwise a word that is unknown to
one of them counts for or against the sentence. The unigrams are therefore the language model's own (`HasUnigrams`),
from the same training corpus and with the same replacement of unknown words, unless another model is named. For a
sentence without words, |s| is taken to be 1. The cost is that of the language model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rerank_plugins import (
    FloatArray,
    HasUnigrams,
    LanguageModel,
    Parser,
    PickledFields,
    Sentence,
    SentenceFeature,
    SentenceModel,
    option,
)
from rerank_plugins.kit.language_models import with_unigrams
from rerank_plugins.treelet.language_model import ParsedLanguageModel, TreeletLanguageModel, in_use


@dataclass(frozen=True)
class SlrFeature(SentenceFeature, PickledFields):
    """Syntactic log-odds ratio: ln p by a language model minus ln p of the words alone, per word.

    Raises ValueError where the language model has no unigrams of its own and `unigram` is not given.
    """

    lm: SentenceModel | None = option(
        None, doc="a language model, by name; default: the embedded English treelet model"
    )
    unigram: LanguageModel | None = option(
        None, doc="a language model of the words alone, in place of the unigrams of `lm`"
    )

    def __post_init__(self) -> None:
        if self.unigram is None and self.lm is not None and not isinstance(self.lm, HasUnigrams):
            raise ValueError(
                f"the language model {type(self.lm).__name__} has no unigrams of its own: name some with 'unigram'"
            )

    @cached_property
    def _lm(self) -> SentenceModel:
        lm = TreeletLanguageModel() if self.lm is None else self.lm
        return in_use(lm) if isinstance(lm, ParsedLanguageModel) else lm

    @property
    def vocabulary(self) -> SentenceModel:
        """The words that the language model knows."""
        return self._lm

    def _unigram_totals(self, sentences: Sequence[Sentence]) -> FloatArray:
        if self.unigram is not None:
            return self.unigram.totals(sentences)
        scores = with_unigrams(self._lm).unigram_scores(sentences)
        return np.array([values.sum() for values in scores], np.float64)

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """The parsers of the language model."""
        return self._lm.parsers

    def word_values(self, sentences: Sequence[Sentence]) -> list[FloatArray] | None:
        """The word scores of the language model, less ln p of each word alone."""
        scores = self._lm.word_values(sentences)
        if scores is None:
            return None
        if self.unigram is None:
            alone = with_unigrams(self._lm).unigram_scores(sentences)
        else:
            alone = self.unigram.score(sentences)
        return [values - unigrams[: len(values)] for values, unigrams in zip(scores, alone, strict=True)]

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 1) log-odds ratios, in natural logs per word."""
        odds = self._lm.totals(sentences) - self._unigram_totals(sentences)
        return (odds / [max(1, len(words)) for words in sentences])[:, None]
