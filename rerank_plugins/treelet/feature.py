"""The treelet language model's score of a hypothesis: total, and per word.

total = ln Σ_T p(T) over the k best parses T of the hypothesis (Pauls & Klein 2012; parsed_language_model.py);
per_word = total / |e|. A hypothesis without a parse has ln p of a flat tree with unknown labels over its words. The
empty hypothesis has what smoothing leaves for a sentence without words, both as its total and per word. The cache in
front of the parser logs how many hypotheses had no parse. The cost is that of parsing each distinct text once: chart
cells over the same words and subtrees of the same derivation are shared by the hypotheses of a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import Parser, Sentence, SentenceModel, option
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.core.sentence_feature import SentenceFeature
from rerank_plugins.treelet.language_model import TreeletLanguageModel
from rerank_plugins.treelet.parsed_language_model import shared


@dataclass(frozen=True)
class TreeletFeature(SentenceFeature, PickledFields):
    """Treelet language model: ln p of the hypothesis, summed over its k best parses; and the same per word."""

    model: Path | None = option(None, doc="model from `rerank train treelet-lm`; default: the embedded English one")
    parser: Parser | None = option(
        None, doc="a parser, by name; default: that of the model's trees, or one over the embedded English grammar"
    )
    k: int = option(10, doc="largest number of parses to sum over; 1 is cheapest")

    def __post_init__(self) -> None:
        TreeletLanguageModel(parser=self.parser, k=self.k, model=self.model)  # raises ValueError if k is below 1

    @property
    def components(self) -> tuple[str, ...]:
        """`total` and `per_word`."""
        return ("total", "per_word")

    @cached_property
    def _lm(self) -> TreeletLanguageModel:
        return shared(TreeletLanguageModel(parser=self.parser, k=self.k, model=self.model))

    @property
    def vocabulary(self) -> SentenceModel:
        """The words that the model knows."""
        return self._lm

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """The parsers of the language model."""
        return self._lm.parsers

    def word_values(self, sentences: Sequence[Sentence]) -> list[FloatArray] | None:
        """The word scores of the language model."""
        return self._lm.word_scores(sentences)

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 2) natural logs, natural logs per word."""
        totals = self._lm.totals(sentences)
        return np.column_stack([totals, totals / [max(1, len(words)) for words in sentences]])
