"""The dependency language model (Gubbins & Vlachos 2013): the words of a sentence, given their ancestors in its parse.

total = Σ_i ln p(e_i | up to N-1 ancestors of e_i, and in a labelled model the labels between);
per_word = total / |e|; oovs = -#{i : e_i not in V}. The tree is the parser's best one for the hypothesis. The score
leaves out the probability of the tree itself, so use it together with other features. A hypothesis without a
parse gets, for each word, the lowest ln p that the model gives the word in any context, so that no parse of the same
words scores below it; the cache in front of the parser logs how many there were. An empty hypothesis has total 0 and,
per word, the floor of an unknown word.
The cost is that of parsing each distinct text once; scoring takes about a microsecond a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerank_plugins import FloatArray, Parser, PickledFields, Sentence, SentenceModel, option
from rerank_plugins.core.interfaces import minus_unknown
from rerank_plugins.kit.files.languages import embedded, shared_if_embedded
from rerank_plugins.kit.vocabulary.unknown_types import check_unknown_types, unknown_types_option

if TYPE_CHECKING:
    from rerank_plugins.dependency.model import DependencyModel

EMBEDDED = embedded("dependency-lm.zst")


@dataclass(frozen=True)
class DependencyLanguageModel(SentenceModel, PickledFields):
    """Dependency language model: ln p of the words given their ancestors, the same per word, minus unknown words."""

    file_kind: ClassVar[str] = "dependency"
    model: Path | None = option(None, doc="model from `rerank train dependency-lm`; default: the embedded English one")
    parser: Parser | None = option(
        None, doc="a parser, by name; default: that of the model's trees, or the embedded English one"
    )
    unknown_types: int | None = unknown_types_option("as the model file says")

    def __post_init__(self) -> None:
        check_unknown_types(self.unknown_types)

    @cached_property
    def _model(self) -> DependencyModel:
        from rerank_plugins.dependency.model import read_model

        model = shared_if_embedded(self.model or EMBEDDED, read_model)
        return replace(model, unknown_types=self.unknown_types) if self.unknown_types else model

    @cached_property
    def _parser(self) -> Parser:
        from rerank_plugins.dependency.parsers import EnglishParser
        from rerank_plugins.kit.files.cached_parser import parser_of_model

        return parser_of_model(self.model, self.parser, EnglishParser(), constituents=False)

    def __contains__(self, word: str) -> bool:
        return word in self._model

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """The parser of the trees."""
        return (self._parser,)

    def word_values(self, sentences: Sequence[Sentence]) -> list[FloatArray] | None:
        """Ln p of each word given its ancestors, or, in a sentence without a tree, in its worst context; no `</s>`."""
        return [
            self._model.floor(words) if parse.dependencies is None else self._model.score([parse.dependencies])[0]
            for words, parse in zip(sentences, self._parser.parse(sentences), strict=True)
        ]

    def totals(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p of the words of each sentence, given its parse, which determines where it ends."""
        parses = self._parser.parse(sentences)
        trees = {i: parse.dependencies for i, parse in enumerate(parses) if parse.dependencies is not None}
        floors = [0.0 if i in trees else self._model.floor(words).sum() for i, words in enumerate(sentences)]
        totals = np.array(floors, np.float64)
        totals[list(trees)] = self._model.totals(list(trees.values()))
        return totals

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 3) natural logs, natural logs per word, minus the number of unknown words."""
        totals = self.totals(sentences)
        per_word = totals / [max(len(words), 1) for words in sentences]
        empty = [not words for words in sentences]
        if any(empty):
            per_word[empty] = self._model.floor(["<unk>"])[0]
        return np.column_stack([totals, per_word, minus_unknown(sentences, self._model)])
