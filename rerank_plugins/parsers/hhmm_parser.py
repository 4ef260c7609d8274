"""Constituency trees from left to right: the best derivation of the incremental HHMM (models/hhmm)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rerank_plugins.interfaces import Parse, Parser, Sentence, option
from rerank_plugins.models.hhmm.embedded import EMBEDDED, check_beam
from rerank_plugins.pickling import PickledFields

if TYPE_CHECKING:
    from rerank_plugins.models.hhmm.model import HhmmModel

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class HhmmParser(Parser, PickledFields):
    """Constituency trees by incremental parsing in linear time, with ln p of the derivation; embedded: English.

    Every sentence with words gets a tree: where no derivation is complete, its parts below FRAG; how many there were is
    in the log. Raises ModelError for a file that is missing, cut short, of another kind or version, or for another
    language.
    """

    model: Path | None = option(None, doc="model of `rerank train hhmm` or grammar; default: the embedded English one")
    language: str = option("", doc="code of the language, as en: refuse a grammar for another one")
    beam: int = option(500, doc="stores kept after each word; 0: all")
    depth: int = option(4, doc="elements of a store, 1 to 63: how deep centre embedding goes")
    threshold: float = option(1e-6, doc="stores below this share of the best are left out")

    def __post_init__(self) -> None:
        check_beam(self.beam, self.depth, self.threshold)

    @property
    def resources(self) -> tuple[Path, ...]:
        """The embedded grammar, where it is the one."""
        return () if self.model else (EMBEDDED,)

    @cached_property
    def _hhmm(self) -> HhmmModel:
        from rerank_plugins.models.hhmm.model import HhmmModel
        from rerank_plugins.models.hhmm.model_file import read_hhmm

        grammar, events = read_hhmm(self.model or EMBEDDED, self.language)
        return HhmmModel(grammar, self.depth, self.beam, self.threshold, derivations=True, events=events)

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; `Parse()` for an empty one alone."""
        from rerank_plugins.models.hhmm.derivation import best_tree

        parses, broken = [], []
        for sentence in sentences:
            found = best_tree(self._hhmm, tuple(sentence))
            if found and not found.complete:
                broken.append(sentence)
            parses.append(Parse(None, (found.scored,)) if found else Parse())
        if broken:
            first = " ".join(broken[0])[:60]
            logger.warning("%d sentences have no complete tree in the beam (first: %r)", len(broken), first)
        return parses
