"""Features over language models and vocabularies: out-of-vocabulary words, and the log ratio of two language models.

Out-of-vocabulary words: o(e) = -#{i : e_i not in V}. Higher (nearer to 0) is better; the empty hypothesis has 0. V is
the vocabulary of a language model, a word list, or that of the embedded English frequencies.

The log ratio is ln p_1(e) - ln p_2(e), total and per word. With a model of the lists' own domain and a general one,
minus the value per word is the cross-entropy difference H_in(e) - H_general(e) by which Moore and Lewis (2010, equation
1) choose training text. Both terms include the end of the sentence, so the total is divided by |e| + 1. The ratio
compares models only where they know the same words: a word that is unknown to one of them counts for or against the
hypothesis. Moore and Lewis therefore train the general model on a sample of the size of the in-domain text, with the
in-domain vocabulary; keep `oovs` of `ngram-lm` beside the ratio where the vocabularies differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rerank_plugins import FloatArray, PickledFields, Sentence, SentenceFeature, SentenceModel, open_text, option
from rerank_plugins.core.brackets_and_quotes import spellings
from rerank_plugins.core.interfaces import minus_unknown
from rerank_plugins.core.words import model_words
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel


@dataclass(frozen=True)
class OovCountFeature(SentenceFeature, PickledFields):
    """Minus the number of words outside a vocabulary: a language model's, a word list's, or embedded English."""

    lm: SentenceModel | None = option(None, doc="language model whose vocabulary is used")
    words: Path | None = option(None, doc="word list, one word per line, instead of a language model")

    def __post_init__(self) -> None:
        if self.lm is not None and self.words is not None:
            raise ValueError("give 'lm' or 'words', not both")

    @cached_property
    def vocabulary(self) -> SentenceModel | frozenset[str]:
        """The words that count as known."""
        if self.words is None:
            return UnigramLanguageModel() if self.lm is None else self.lm
        return read_words(self.words)

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 1) minus the number of out-of-vocabulary words."""
        return minus_unknown(sentences, self.vocabulary)[:, None]


def read_words(path: Path) -> frozenset[str]:
    """The words of a list, one per line (the first token of each line), in all the spellings of brackets_and_quotes.py.

    Raises FormatError for a file that is not text.
    """
    with open_text(path) as lines:
        return frozenset(form for line in lines if line.strip() for form in spellings(model_words(line)[0]))


@dataclass(frozen=True)
class LanguageModelRatioFeature(SentenceFeature, PickledFields):
    """Log-ratio of two language models, one of the lists' own domain and a general one: total and per word.

    Raises ValueError unless each of the two models is given once, by name or by file.
    """

    lm: SentenceModel | None = option(None, doc="the language model of the domain, by name")
    general: SentenceModel | None = option(None, doc="the general language model, by name")
    model: Path | None = option(None, doc="model file, ARPA file or KenLM binary of the domain, in place of `lm`")
    general_model: Path | None = option(None, doc="the same of general text, in place of `general`")

    components = ("total", "per_word")

    def __post_init__(self) -> None:
        for name, lm, file, path in (
            ("lm", self.lm, "model", self.model),
            ("general", self.general, "general_model", self.general_model),
        ):
            if (lm is None) == (path is None):
                raise ValueError(f"give one of {name!r} (a language model's name) and {file!r} (a file)")

    @cached_property
    def _models(self) -> tuple[SentenceModel, SentenceModel]:
        return (
            NgramLanguageModel(self.model) if self.lm is None else self.lm,
            NgramLanguageModel(self.general_model) if self.general is None else self.general,
        )

    @property
    def vocabulary(self) -> SentenceModel:
        """The words that the language model of the domain knows."""
        return self._models[0]

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 2) differences of natural logs; those of an empty sentence are of ln p(</s>)."""
        domain, general = self._models
        totals = domain.totals(sentences) - general.totals(sentences)
        return np.stack([totals, totals / [len(words) + 1 for words in sentences]], axis=1)
