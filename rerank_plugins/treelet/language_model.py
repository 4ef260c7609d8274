"""The treelet language model (Pauls & Klein 2012), summed over the k best parses of a sentence.

As a feature: total = ln Σ_T p(T) over the k best parses T of the hypothesis ; per_word = total / |e|. A hypothesis
without a parse has ln p of a flat tree with unknown labels over its words. The empty hypothesis has what smoothing
leaves for a sentence without words, both as its total and per word. The cache in front of the parser logs how many
hypotheses had no parse. The cost is that of parsing each distinct text once: chart cells over the same words and
subtrees of the same derivation are shared by the hypotheses of a list.

The sum is a lower bound on ln p(s), so a perplexity computed from it is too high, most of all with one parse. (Pauls
and Klein 2012, §4 and 5.2, sum over 1000 parses; one parse does as well for telling good sentences from bad.) The
parses are those of whole sentences, so that such a model has no probability of a word given the words before it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

from rerank_plugins import (
    FloatArray,
    KBestTrees,
    Parser,
    PickledFields,
    ScoredTree,
    Sentence,
    SentenceModel,
    option,
)
from rerank_plugins.core.files import content_hash
from rerank_plugins.kit.files.in_use import shared
from rerank_plugins.kit.files.languages import embedded, shared_if_embedded
from rerank_plugins.kit.remembered import MEGABYTE, Remembered
from rerank_plugins.kit.vocabulary.unknown_types import check_unknown_types, unknown_types_option

if TYPE_CHECKING:
    from rerank_plugins import Tree
    from rerank_plugins.treelet.headlex import HeadlexModel
    from rerank_plugins.treelet.model import TreeletModel
    from rerank_plugins.treelet.sampling import TreeletSampler

TREES = 20_000  # trees scored in one call
REMEMBERED = 16 * MEGABYTE  # of sentences and their ln p


@dataclass(frozen=True, kw_only=True)
class ParsedLanguageModel(SentenceModel, PickledFields):
    """A language model that sums a tree model over the trees that a parser gives a sentence."""

    model: Path | None = option(None, doc="model file")
    parser: Parser | None = option(
        None, doc="a parser, by name; default: that of the model's trees, or one over the embedded English grammar"
    )
    k: int = option(10, doc="largest number of parses to sum over; 1 is cheapest")
    unknown_types: int | None = unknown_types_option("of each signature, as the model file says")

    def __post_init__(self) -> None:
        check_unknown_types(self.unknown_types)
        if self.k < 1:
            raise ValueError(f"k is {self.k}, wanted 1 or more parses of a sentence")

    @property
    @abstractmethod
    def trees(self) -> TreeletModel | HeadlexModel:
        """The tree model, loaded on first use."""

    @cached_property
    def _parser(self) -> Parser:
        from rerank_plugins.constituency.parser import PcfgParser
        from rerank_plugins.kit.files.cached_parser import parser_of_model

        return parser_of_model(self.model, self.parser, PcfgParser(k=self.k))

    def __contains__(self, word: str) -> bool:
        return word in self.trees.vocabulary

    @cached_property
    def _totals(self) -> Remembered[tuple[str, ...], float]:
        """Ln p of the sentences scored since the cache was last cleared."""
        return Remembered(REMEMBERED)

    def totals(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p of each sentence; the model's floor for an empty sentence or one without a parse.

        Each distinct sentence is parsed and scored once, as long as it stays in the cache.
        """
        known, keys = self._totals, [tuple(sentence) for sentence in sentences]
        known.make_room()
        new = [key for key in dict.fromkeys(keys) if key not in known]
        for key, total in zip(new, self._scored(new).tolist(), strict=True):
            known.keep(key, total)
        return np.array([known[key] for key in keys], np.float64)

    def _scored(self, sentences: Sequence[Sentence]) -> FloatArray:
        if not sentences:
            return np.zeros(0)
        parses = self._parser.parse(sentences)
        best = [_trees(parse.constituents[: self.k]) for parse in parses]
        totals = np.zeros(len(sentences))
        step = max(1, TREES // self.k)
        for start in range(0, len(best), step):
            totals[start : start + step] = self.trees.score_sentences(best[start : start + step])
        unparsed = [i for i, trees in enumerate(best) if not trees]
        totals[unparsed] = self.trees.floor([sentences[i] for i in unparsed])
        return totals

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """The parser whose trees are summed over."""
        return (self._parser,)

    def unigram_scores(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word, `</s>` last, by its frequency in the model's training corpus."""
        return self.trees.vocabulary.unigram_scores(sentences)


def _trees(scored: Sequence[ScoredTree]) -> Sequence[Tree]:
    return scored.trees if isinstance(scored, KBestTrees) else [tree for tree, _ in scored]


Model = TypeVar("Model", bound=ParsedLanguageModel)


def in_use(lm: Model) -> Model:
    """The model with the same options that is already in use in this process, or else this one.

    Features with the same model thus load it once, and each reuses the scores that another has computed.
    """
    key = (type(lm), *(_identity(getattr(lm, field.name)) for field in fields(lm)))
    return shared(key, lambda: lm)


def _identity(option: object) -> object:
    """A key that tells option values apart: parsers by object identity, files by path and content."""
    if isinstance(option, Path):
        return option, content_hash(option) if option.is_file() else None
    return id(option) if isinstance(option, Parser) else option


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
        return in_use(self)

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
        from rerank_plugins.treelet.model import read_model

        model = shared_if_embedded(self.model or EMBEDDED, read_model)
        # A copy remembers words of its own.
        return replace(model, vocabulary=model.vocabulary.stated(self.unknown_types))


@dataclass(frozen=True, kw_only=True)
class HeadlexLanguageModel(ParsedLanguageModel):
    """Head-lexicalised language model (Collins' Model 1 with the previous modifier), summed over the k best parses.

    Natural logs. Raises ModelError for a file that is missing, cut short, of another version or kind.
    """

    file_kind: ClassVar[str] = "headlex"
    model: Path = option(doc="model from `rerank train treelet-lm --variant headlex`")

    @cached_property
    def trees(self) -> HeadlexModel:
        """The tree model, loaded on first use."""
        from rerank_plugins.treelet.headlex import read_model

        model = read_model(self.model)
        return replace(model, vocabulary=model.vocabulary.stated(self.unknown_types))
