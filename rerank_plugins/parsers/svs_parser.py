"""Constituency trees by structured vectorial semantics (models/svs): syntax chosen with the vectors of its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rerank_plugins.interfaces import ScoredTree, Sentence, option
from rerank_plugins.parsers.every_sentence import EverySentence
from rerank_plugins.pickling import PickledFields

if TYPE_CHECKING:
    from rerank_plugins.models.svs.parsing import SvsParser


@dataclass(frozen=True)
class VectorParser(EverySentence, PickledFields):
    """Constituency trees by vectors over concepts, with ln p(tree, words) summed over these; embedded: English.

    The probability is that of the annotated tree, which the treebank's form does not show. Every sentence with words
    gets a tree: those that are too long are parsed in pieces, those that the model does not derive are flat, and how
    many there were is in the log. Raises ModelError for a file that is missing, cut short, of another kind or version,
    or for another language.
    """

    model: Path | None = option(None, doc="model, from `rerank train svs`; default: the embedded English one")
    language: str = option("", doc="code of the language, as en: refuse a model for another one")
    decoder: Literal["mbr", "vector"] = option(
        "mbr", doc="mbr: trees whose rules are most probably right; vector: by the best vector of each constituent"
    )
    threshold: float = option(1e-4, doc="phrases expected less often in the coarse grammar are passed over; 0: exact")
    longest: int = option(200, doc="words; longer sentences are parsed in pieces")

    def __post_init__(self) -> None:
        if self.longest < 2 or not 0 <= self.threshold < 1:
            raise ValueError("longest is 2 or more, threshold from 0 to below 1")

    @property
    def resources(self) -> tuple[Path, ...]:
        """The embedded model, where it is the one."""
        from rerank_plugins.models.svs.model_file import EMBEDDED

        return () if self.model else (EMBEDDED,)

    @cached_property
    def parser(self) -> SvsParser:
        """The model, made ready for parsing."""
        from rerank_plugins.models.svs.model_file import read_or_embedded
        from rerank_plugins.models.svs.parsing import SvsParser

        return SvsParser(read_or_embedded(self.model, self.language), self.threshold, self.decoder)

    def piece(self, tokens: Sentence, flat: list[Sentence]) -> list[ScoredTree]:
        """The tree of a sentence, with ln p summed over concepts."""
        from rerank_plugins.models.pcfg import fallback

        found = self.parser.parse(tokens)
        if found:
            return [ScoredTree(found.tree(), found.log_probability)]
        flat.append(tokens)
        return [fallback.flat(self.parser.coarse, tokens)]
