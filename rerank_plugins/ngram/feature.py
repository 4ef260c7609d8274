"""A language model's score of the whole sentence: total, per word, and the number of unknown words.

total = sum_{i=1}^{|e|+1} ln p(e_i | e_1 .. e_{i-1}) with e_{|e|+1} = `</s>`, as SRILM's and KenLM's `query` count;
per_word = total / (|e| + 1), which is minus the log of the perplexity; oovs = -#{i : e_i not in V}. For an empty
hypothesis the first two are ln p(</s>) and oovs is 0. An unknown word has the probability that the model gives `<unk>`:
keep `oovs`, so that a tuner can weight unknown words by itself. The cost is that of scoring each distinct text once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import LanguageModel, Parser, Sentence, SentenceModel, option
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.core.sentence_feature import SentenceFeature
from rerank_plugins.kit.vocabulary.signatures import minus_unknown
from rerank_plugins.ngram.arpa_files import is_kenlm_binary
from rerank_plugins.ngram.kenlm_model import KenlmLanguageModel
from rerank_plugins.ngram.language_model import EMBEDDED, NgramLanguageModel


@dataclass(frozen=True)
class NgramFeature(SentenceFeature, PickledFields):
    """Sentence ln p by a language model: total, per word, and minus the number of unknown words."""

    lm: SentenceModel | None = option(None, doc="a language model of the config, by name")
    model: Path | None = option(
        None,
        doc="model file, ARPA file or KenLM binary, instead of a named language model; default: the embedded English "
        "n-gram model",
    )

    def __post_init__(self) -> None:
        if self.lm is not None and self.model is not None:
            raise ValueError(
                "give one of 'lm' (a language model's name) and 'model' (a model file, ARPA file or KenLM binary)"
            )

    @property
    def components(self) -> tuple[str, ...]:
        """`total`, `per_word`, `oovs`."""
        return ("total", "per_word", "oovs")

    @property
    def resources(self) -> tuple[Path, ...]:
        """The embedded model, if it is used."""
        return () if self.model or self.lm else (EMBEDDED,)

    @cached_property
    def _lm(self) -> SentenceModel:
        return model_of_file(self.model) if self.lm is None else self.lm

    @property
    def vocabulary(self) -> SentenceModel:
        """The words that the language model knows."""
        return self._lm

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """The parsers of the language model."""
        return self._lm.parsers

    def word_values(self, sentences: Sequence[Sentence]) -> list[FloatArray] | None:
        """The word scores of the language model."""
        return self._lm.word_scores(sentences)

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 3) natural logs, natural logs per word, minus the number of unknown words."""
        values = np.empty((len(sentences), 3))
        values[:, 0] = self._lm.totals(sentences)
        values[:, 1] = values[:, 0] / [len(words) + 1 for words in sentences]
        values[:, 2] = minus_unknown(sentences, self._lm)
        return values


def model_of_file(path: Path | None) -> LanguageModel:
    """The n-gram language model of a model file, an ARPA file or a KenLM binary; None stands for the embedded model."""
    return KenlmLanguageModel(path) if path is not None and is_kenlm_binary(path) else NgramLanguageModel(path)
