"""The log ratio of a hypothesis's probabilities by two language models: ln p_1(e) - ln p_2(e), total and per word.

With a model of the lists' own domain and a general one, minus the value per word is the cross-entropy difference
H_in(e) - H_general(e) by which Moore and Lewis (2010, equation 1) choose training text. Both terms include the end of
the sentence, so the total is divided by |e| + 1. The ratio compares models only where they know the same words: a word
that is unknown to one of them counts for or against the hypothesis. Moore and Lewis therefore train the general model
on a sample of the size of the in-domain text, with the in-domain vocabulary; keep `oovs` of `ngram-lm` beside the ratio
where the vocabularies differ. The cost is that of scoring each distinct text by both models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import Sentence, SentenceFeature, SentenceModel, option
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.ngram.language_model import NgramLanguageModel


@dataclass(frozen=True)
class LanguageModelRatioFeature(SentenceFeature, PickledFields):
    """Log-ratio of two language models, one of the lists' own domain and a general one: total and per word.

    Raises ValueError unless each of the two models is given once, by name or by file.
    """

    lm: SentenceModel | None = option(None, doc="the language model of the domain, by name")
    general: SentenceModel | None = option(None, doc="the general language model, by name")
    model: Path | None = option(None, doc="model file, ARPA file or KenLM binary of the domain, in place of `lm`")
    general_model: Path | None = option(None, doc="the same of general text, in place of `general`")

    def __post_init__(self) -> None:
        for name, lm, file, path in (
            ("lm", self.lm, "model", self.model),
            ("general", self.general, "general_model", self.general_model),
        ):
            if (lm is None) == (path is None):
                raise ValueError(f"give one of {name!r} (a language model's name) and {file!r} (a file)")

    @property
    def components(self) -> tuple[str, ...]:
        """`total`, `per_word`."""
        return ("total", "per_word")

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
