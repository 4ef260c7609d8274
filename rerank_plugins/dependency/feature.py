"""The dependency language model's score of a hypothesis: its words, given their ancestors in its parse.

total = Σ_i ln p(e_i | up to N-1 ancestors of e_i, and in a labelled model the labels between) (Gubbins & Vlachos 2013);
per_word = total / |e|; oovs = -#{i : e_i not in V}. The tree is the parser's best one for the hypothesis. The score
leaves out the probability of the tree itself, so use it together with other features. A hypothesis without a
parse gets, for each word, the lowest ln p that the model gives the word in any context, so that no parse of the same
words scores below it; the cache in front of the parser logs how many there were. An empty hypothesis has total 0 and,
per word, the floor of an unknown word.
The cost is that of parsing each distinct text once; scoring takes about a microsecond a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.brackets_and_quotes import Words
from rerank_plugins.core.interfaces import Parser, Sentence, option
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.core.sentence_feature import SentenceFeature
from rerank_plugins.kit.files.embedded import embedded, shared_if_embedded
from rerank_plugins.kit.vocabulary.signatures import minus_unknown

if TYPE_CHECKING:
    from rerank_plugins.dependency.model import DependencyModel

EMBEDDED = embedded("dependency-lm.zst")


@dataclass(frozen=True)
class DependencyFeature(SentenceFeature, PickledFields):
    """Dependency language model: ln p of the words given their ancestors, the same per word, minus unknown words."""

    model: Path | None = option(None, doc="model from `rerank train dependency-lm`; default: the embedded English one")
    parser: Parser | None = option(
        None, doc="a parser, by name; default: that of the model's trees, or the embedded English one"
    )

    @property
    def components(self) -> tuple[str, ...]:
        """`total`, `per_word`, `oovs`."""
        return ("total", "per_word", "oovs")

    @cached_property
    def _model(self) -> DependencyModel:
        from rerank_plugins.dependency.model_file import read_model

        return shared_if_embedded(self.model or EMBEDDED, read_model)

    @cached_property
    def _parser(self) -> Parser:
        from rerank_plugins.dependency.biaffine_parser import EnglishParser
        from rerank_plugins.kit.files.cached_parser import parser_of_model

        return parser_of_model(self.model, self.parser, EnglishParser())

    @property
    def vocabulary(self) -> Words:
        """The words that the model knows."""
        return self._model

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

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 3) natural logs, natural logs per word, minus the number of unknown words."""
        model = self._model
        parses = self._parser.parse(sentences)
        trees = {i: parse.dependencies for i, parse in enumerate(parses) if parse.dependencies is not None}
        floors = [0.0 if i in trees or not words else model.floor(words).sum() for i, words in enumerate(sentences)]
        totals = np.array(floors, np.float64)
        totals[list(trees)] = model.totals(list(trees.values()))
        lengths = np.array([len(words) for words in sentences])
        values = np.empty((len(sentences), 3))
        values[:, 0] = totals
        values[:, 1] = totals / np.maximum(lengths, 1)
        if not lengths.all():
            values[lengths == 0, 1] = model.floor(["<unk>"])[0]
        values[:, 2] = minus_unknown(sentences, model)
        return values
