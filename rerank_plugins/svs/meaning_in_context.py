"""The feature `meaning-in-context`: how well the words of a hypothesis fit the concepts that the others predict.

`joint` is the information of the content words about each other, ln P(words | tree) - Σ ln P(word | part of speech);
`gain` sums, over the content words, what the others tell about each, so that what two words tell about each other
counts for both; `least` is the smallest of these, that of the word that fits worst; and `total` is Σ ln P(word | rest
of the tree) over all words (words_in_context.py). Natural logs. All are 0 for a hypothesis without words or a tree, but
`total`, where each word of a hypothesis without a tree has UNPARSED.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from rerank_plugins import FloatArray, Parser, PickledFields, Sentence, SentenceFeature, option
from rerank_plugins.kit.language_models import UNPARSED
from rerank_plugins.kit.vocabulary.unknown_types import check_unknown_types, unknown_types_option

if TYPE_CHECKING:
    from rerank_plugins.svs.concept_model import ConceptModel
    from rerank_plugins.svs.words_in_context import InContext, WordsInContext

Measure = Literal["joint", "gain", "least", "total"]
BATCH = 500  # sentences whose concepts are inferred together


@dataclass(frozen=True, kw_only=True)
class MeaningInContextFeature(SentenceFeature, PickledFields):
    """How well words fit their contexts by meaning: ln p of words given the others and the tree, by concepts.

    Raises ModelError for a file that is missing, cut short, of another version or kind.
    """

    file_kind: ClassVar[str] = "concepts"
    model: Path | None = option(
        None, doc="model from `rerank train svs-concepts`; default: the embedded English concepts"
    )
    parser: Parser | None = option(None, doc="a parser of constituents, by name; default: that of `treelet-lm`")
    measures: tuple[Measure, ...] = option(
        ("joint", "gain", "least", "total"),
        doc="joint: what the content words tell about each other; gain: the sum of what the others tell about each; "
        "least: the gain of the word that fits worst; total: ln p of all words, each given the others",
    )
    longest: int = option(80, doc="words in the longest sentence that is parsed")
    unknown_types: int | None = unknown_types_option("of each part of speech, as the model file says")

    def __post_init__(self) -> None:
        check_unknown_types(self.unknown_types)
        if not self.measures or len(set(self.measures)) < len(self.measures):
            raise ValueError("`measures` must name one or more of joint, gain, least and total, each only once")
        if self.longest < 1:
            raise ValueError(f"longest is {self.longest}, wanted 1 or more words")

    @property
    def components(self) -> tuple[str, ...]:
        """The values, in the order of `measures`."""
        return self.measures

    @cached_property
    def _model(self) -> ConceptModel:
        from rerank_plugins.svs.concept_model import read_or_embedded

        return read_or_embedded(self.model)

    @cached_property
    def _words(self) -> WordsInContext:
        from rerank_plugins.svs.words_in_context import WordsInContext

        return WordsInContext(self._model, self.unknown_types)

    @property
    def vocabulary(self) -> ConceptModel:
        """The words that the model of concepts knows."""
        return self._model

    @cached_property
    def _trees(self) -> Parser:
        from rerank_plugins.svs.parser import parser_of_concepts

        return parser_of_concepts(self.model, self.parser)

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """The parser of the trees."""
        return (self._trees,)

    def _in_context(self, sentences: Sequence[Sentence]) -> tuple[list[int], InContext]:
        """The numbers of the sentences that have a tree, and their words in context."""
        chosen = [i for i, words in enumerate(sentences) if 0 < len(words) <= self.longest]
        parses = self._trees.parse([sentences[i] for i in chosen])
        trees = {i: parse.tree for i, parse in zip(chosen, parses, strict=True) if parse.tree is not None}
        return list(trees), self._words.of_trees(list(trees.values()))

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, components) values in natural logs, from the best tree of each sentence."""
        found = {"total": np.array([UNPARSED * len(words) for words in sentences], np.float64)}
        found |= {name: np.zeros(len(sentences)) for name in ("joint", "gain", "least")}
        for start in range(0, len(sentences), BATCH):
            rows, read = self._in_context(sentences[start : start + BATCH])
            here = np.array(rows, np.int64) + start
            of_row = np.repeat(np.arange(len(rows)), np.diff(read.starts))
            found["joint"][here] = read.joint
            found["gain"][here] = np.bincount(of_row, read.gain, len(rows))
            found["total"][here] = np.bincount(of_row, read.ln_p, len(rows))
            least = np.full(len(rows), np.inf)
            content = read.has_concept > 0
            np.minimum.at(least, of_row[content], read.gain[content])
            found["least"][here] = np.where(np.isfinite(least), least, 0.0)
        return np.column_stack([found[name] for name in self.measures])

    def word_values(self, sentences: Sequence[Sentence]) -> list[FloatArray] | None:
        """Ln p of each word given the others and the tree."""
        rows, read = self._in_context(sentences)
        known = dict(zip(rows, np.split(read.ln_p, read.starts[1:-1]), strict=True)) if rows else {}
        return [known.get(i, np.full(len(words), UNPARSED)) for i, words in enumerate(sentences)]
