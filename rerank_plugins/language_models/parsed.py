"""Language models whose probability of a sentence is a sum over its parses: so they import parsers.

    ln p(s) = ln Σ_T p(T) over the k best parses T of s

which is a lower bound: a perplexity from it is pessimistic, with one parse most of all (Pauls and Klein 2012, §4 and
5.2, sum over 1000; for telling good from bad sentences, one is as good). Words have no probabilities one by one in such
a model, so `score` gives every word, and `</s>`, an equal share of the sentence's ln p: only sums mean something. A
mixture with other models, word by word, would not.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, cast
from weakref import WeakValueDictionary

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.interfaces import LanguageModel, Parser, Sentence, option
from rerank_plugins.paths import content_hash
from rerank_plugins.pickling import PickledFields

if TYPE_CHECKING:
    from rerank_plugins.models.vocabulary.closed import ClosedVocabulary
    from rerank_plugins.trees.constituency import Tree

TREES = 20_000  # scored at a time
REMEMBERED = 10_000  # sentences whose ln p is kept, about 2 kB each


class TreeModel(Protocol):
    """A model of trees with words."""

    @property
    def vocabulary(self) -> ClosedVocabulary:
        """The words."""
        ...

    def score_sentences(self, parses: Sequence[Sequence[Tree]]) -> FloatArray:
        """(n) ln of the summed p of the trees of each sentence."""
        ...

    def floor(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p where there is no parse."""
        ...


@dataclass(frozen=True, kw_only=True)
class ParsedLanguageModel(LanguageModel, PickledFields):
    """A model of trees, and the parser that gives the trees of a sentence."""

    parser: Parser | None = option(None, doc="a parser, by name; none: embedded English grammar")
    k: int = option(10, doc="parses that are summed over, where the parser gives so many; 1 is cheapest")

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k is {self.k}, wanted 1 or more parses of a sentence")

    @property
    @abstractmethod
    def trees(self) -> TreeModel:
        """The model of trees, loaded on first use."""

    @cached_property
    def _parser(self) -> Parser:
        from rerank_plugins.parsers.cached import CachedParser
        from rerank_plugins.parsers.pcfg_parser import PcfgParser

        return self.parser or CachedParser(PcfgParser(k=self.k))

    def __contains__(self, word: str) -> bool:
        return word in self.trees.vocabulary

    @cached_property
    def _totals(self) -> dict[tuple[str, ...], float]:
        """Ln p of the most recent sentences."""
        return {}

    def totals(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p of each sentence; of one without a parse, and an empty one, the model's floor.

        A distinct sentence is parsed and scored once, while it is remembered.
        """
        known, keys = self._totals, [tuple(sentence) for sentence in sentences]
        if len(known) > REMEMBERED:
            known.clear()
        new = [key for key in dict.fromkeys(keys) if key not in known]
        known.update(zip(new, self._scored(new).tolist(), strict=True))
        return np.array([known[key] for key in keys], np.float64)

    def _scored(self, sentences: Sequence[Sentence]) -> FloatArray:
        if not sentences:
            return np.zeros(0)
        parses = self._parser.parse(sentences)
        best = [[each.tree for each in parse.constituents[: self.k]] for parse in parses]
        totals = np.zeros(len(sentences))
        step = max(1, TREES // self.k)
        for start in range(0, len(best), step):
            totals[start : start + step] = self.trees.score_sentences(best[start : start + step])
        without = [i for i, trees in enumerate(best) if not trees]
        totals[without] = self.trees.floor([sentences[i] for i in without])
        return totals

    def score(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Equal shares of ln p of the sentence, one for each word and one for `</s>`: their sum is what is known."""
        totals = self.totals(sentences)
        lengths = [len(sentence) + 1 for sentence in sentences]
        return [np.full(n, total / n) for n, total in zip(lengths, totals.tolist(), strict=True)]

    def unigram_scores(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word, `</s>` last, by its frequency in the model's training corpus."""
        return self.trees.vocabulary.unigram_scores(sentences)


Model = TypeVar("Model", bound=ParsedLanguageModel)
_in_use: WeakValueDictionary[tuple[object, ...], ParsedLanguageModel] = WeakValueDictionary()


def shared(lm: Model) -> Model:
    """The model of this process that has the same options, as long as one is in use, else this one.

    So features that want the same model load it once, and a sentence that one has scored the other finds there.
    """
    key = (type(lm), *(_identity(getattr(lm, each.name)) for each in fields(lm)))
    return cast(Model, _in_use.setdefault(key, lm))


def _identity(option: object) -> object:
    """What tells options apart: parsers by themselves, files by path and content."""
    if isinstance(option, Path):
        return option, content_hash(option) if option.is_file() else None
    return id(option) if isinstance(option, Parser) else option
