"""The treelet language model (Pauls & Klein 2012), summed over the k best parses of a sentence.

As a feature: total = ln Σ_T p(T) over the k best parses T of the hypothesis (parsed_language_model.py); per_word =
total / |e|. A hypothesis without a parse has ln p of a flat tree with unknown labels over its words. The empty
hypothesis has what smoothing leaves for a sentence without words, both as its total and per word. The cache in front of
the parser logs how many hypotheses had no parse. The cost is that of parsing each distinct text once: chart cells over
the same words and subtrees of the same derivation are shared by the hypotheses of a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import Parser, Sentence, SentenceModel, option
from rerank_plugins.kit.files.embedded import embedded, shared_if_embedded
from rerank_plugins.treelet.parsed_language_model import ParsedLanguageModel, shared

if TYPE_CHECKING:
    from rerank_plugins.treelet.model import TreeletModel
    from rerank_plugins.treelet.sampling import TreeletSampler

EMBEDDED = embedded("treelet-lm.zst")


@dataclass(frozen=True, kw_only=True)
class TreeletLanguageModel(ParsedLanguageModel):
    """Treelet language model: ln p by windows of tree context, summed over the k best parses; and the same per word.

    Natural logs. Raises ModelError for a file that is missing, cut short, of another version or kind.
    """

    file_kind: ClassVar[str] = "treelet"
    model: Path | None = option(None, doc="model from `rerank train treelet-lm`; default: the embedded English one")

    @cached_property
    def _shared(self) -> TreeletLanguageModel:
        return shared(self)

    @property
    def vocabulary(self) -> SentenceModel:
        """The words that the model knows."""
        return self._shared

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """The parser whose trees are summed over."""
        return (self._shared._parser,)

    @property
    def components(self) -> tuple[str, ...]:
        """`total` and `per_word`."""
        return ("total", "per_word")

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 2) natural logs, natural logs per word."""
        totals = self._shared.totals(sentences)
        return np.column_stack([totals, totals / [max(1, len(words)) for words in sentences]])

    def sampler(self, shortest: int, longest: int) -> TreeletSampler:
        """A sampler of sentences and their trees that have `shortest` to `longest` words."""
        from rerank_plugins.treelet.sampling import TreeletSampler

        return TreeletSampler(self.trees, shortest, longest)

    def word_values(self, sentences: Sequence[Sentence]) -> list[FloatArray] | None:
        """What each word adds to ln p of the best tree, which the words of a sentence sum to; without `</s>`.

        In a derivation from the left, the rules between a word and the next one are applied for the next one.
        """
        best = [parse.tree for parse in self._shared._parser.parse(sentences)]
        return self._shared.trees.score_words(best, sentences)

    @cached_property
    def trees(self) -> TreeletModel:
        """The tree model, loaded on first use."""
        from rerank_plugins.treelet.model_file import read_model

        return replace(shared_if_embedded(self.model or EMBEDDED, read_model))  # which remembers words of its own
