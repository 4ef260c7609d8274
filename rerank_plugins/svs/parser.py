"""The parser `svs`: constituency trees by structured vectorial semantics, where syntax and meaning are one model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from rerank_plugins import Parse, Parser, PickledFields, ScoredTree, Sentence, TrainedOn, Words, option
from rerank_plugins.constituency.fallback import EverySentence
from rerank_plugins.kit.files.model_file import read_trained_on

if TYPE_CHECKING:
    from rerank_plugins.svs.parsing import SvsParser
    from rerank_plugins.svs.vector_tree import ChartNode


PARSES = 10  # of a sentence, as many as `treelet-lm` has, so that both share one parser


def parser_of_concepts(model: Path | None = None, parser: Parser | None = None) -> Parser:
    """The parser of the trees on which the concepts of a model are inferred; default: `pcfg`, as for `treelet-lm`.

    Raises ModelError for a parser of another language than the model's.
    """
    from rerank_plugins.constituency.parser import PcfgParser
    from rerank_plugins.kit.files.cached_parser import parser_of_model

    return parser_of_model(model, parser, PcfgParser(k=PARSES))


@dataclass(frozen=True)
class VectorParser(EverySentence, PickledFields):
    """Constituency trees by vectors over concepts, with ln p(tree, words) summed over concepts; embedded: English.

    The probability is that of the annotated tree, whose annotation the resulting tree does not show. Every sentence
    with words gets a tree: sentences that are too long are parsed in pieces, and those that the model cannot derive get
    a flat tree; the log says how many there were. Raises ModelError for a file that is missing, cut short, of another
    kind or version, or for another language.
    """

    file_kind: ClassVar[str] = "svs"
    model: Path | None = option(None, doc="model of `rerank train svs`; default: the embedded English one")
    language: str = option("", doc="code of the language, such as en: a model for another one is refused")
    decoder: Literal["mbr", "vector"] = option(
        "mbr", doc="mbr: the tree whose rules have the highest posterior; vector: the best vector of each constituent"
    )
    threshold: float = option(1e-4, doc="phrases with a lower posterior in the coarse grammar are pruned; 0: exact")
    longest: int = option(200, doc="words of a sentence; longer ones are parsed in pieces")

    def __post_init__(self) -> None:
        if self.longest < 2 or not 0 <= self.threshold < 1:
            raise ValueError("'longest' must be 2 or more, and 'threshold' at least 0 and below 1")

    @property
    def resources(self) -> tuple[Path, ...]:
        """The embedded model, if it is used."""
        from rerank_plugins.svs.model import EMBEDDED

        return () if self.model else (EMBEDDED,)

    @property
    def trained_on(self) -> TrainedOn:
        """The language of the model."""
        from rerank_plugins.svs.model import EMBEDDED

        return read_trained_on(self.model or EMBEDDED)

    @property
    def vocabulary(self) -> Words | None:
        """The words of the embedded model; None for another one."""
        return None if self.model else self.parser.model.lexicon

    @cached_property
    def parser(self) -> SvsParser:
        """The model, prepared for parsing."""
        from rerank_plugins.svs.model import read_or_embedded
        from rerank_plugins.svs.parsing import SvsParser

        return SvsParser(read_or_embedded(self.model, self.language), self.threshold, self.decoder)

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; sentences of one length are parsed together."""
        short = [tuple(sentence) for sentence in sentences if len(sentence) <= self.longest]
        parsed = zip(short, self.parser.read_all(short, self._scored), strict=True)
        self._ahead.update({words: scored for words, scored in parsed if scored is not None})
        try:
            return super().parse(sentences)
        finally:
            self._ahead.clear()

    @cached_property
    def _ahead(self) -> dict[tuple[str, ...], ScoredTree]:
        return {}

    def _scored(self, sentence: Sentence, root: ChartNode) -> ScoredTree:
        parse = self.parser.vector_tree(sentence, root)
        return ScoredTree(parse.tree(), parse.log_probability)

    def piece(self, tokens: Sentence, flat: list[Sentence]) -> list[ScoredTree]:
        """The tree of a sentence, with ln p summed over concepts."""
        from rerank_plugins.constituency.fallback import flat_tree

        scored = self._ahead.get(tuple(tokens)) or self.parser.read_all([tokens], self._scored)[0]
        if scored:
            return [scored]
        flat.append(tokens)
        return [flat_tree(self.parser.coarse, tokens)]
