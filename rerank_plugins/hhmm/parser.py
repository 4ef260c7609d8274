"""The parser `hhmm`: constituency trees of the best derivations of a hierarchical HMM."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rerank_plugins import Parse, Parser, PickledFields, Sentence, TrainedOn, Words, option
from rerank_plugins.hhmm.language_model import BEAM, EMBEDDED, THRESHOLD, check_beam, read_or_embedded
from rerank_plugins.kit.files.model_file import read_trained_on

if TYPE_CHECKING:
    from rerank_plugins.hhmm.model import HhmmModel

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class HhmmParser(Parser, PickledFields):
    """Constituency trees by incremental parsing in linear time, with ln p of the derivation; embedded: English.

    Every sentence with words gets a tree; without a complete derivation in the beam, its parts are put below FRAG, and
    the log says how many such sentences there were. Raises ModelError for a file that is missing, cut short, of another
    kind or version, or for another language.
    """

    file_kind: ClassVar[str] = "hhmm"
    model: Path | None = option(None, doc="model of `rerank train hhmm` or grammar; default: the embedded English one")
    language: str = option("", doc="code of the language, such as en: a grammar for another one is refused")
    beam: int = option(BEAM, doc="stores kept in the beam after each word; 0: all")
    depth: int = option(4, doc="elements of a store, 1 to 63: the depth of centre embedding")
    threshold: float = option(THRESHOLD, doc="stores below this fraction of the best one's probability are pruned")

    def __post_init__(self) -> None:
        check_beam(self.beam, self.depth, self.threshold)

    @property
    def resources(self) -> tuple[Path, ...]:
        """The embedded grammar, if it is used."""
        return () if self.model else (EMBEDDED,)

    @property
    def trained_on(self) -> TrainedOn:
        """The language of the grammar."""
        return read_trained_on(self.model or EMBEDDED)

    @property
    def vocabulary(self) -> Words | None:
        """The words of the embedded grammar; None for another one."""
        return None if self.model else self._hhmm.grammar.lexicon

    @cached_property
    def _hhmm(self) -> HhmmModel:
        from rerank_plugins.hhmm.model import HhmmModel

        grammar, events = read_or_embedded(self.model, self.language)
        return HhmmModel(grammar, self.depth, self.beam, self.threshold, derivations=True, events=events)

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; only an empty sentence has none (`Parse()`)."""
        from rerank_plugins.hhmm.derivation import best_tree

        parses, incomplete = [], []
        for sentence in sentences:
            best = best_tree(self._hhmm, tuple(sentence))
            if best and not best.complete:
                incomplete.append(sentence)
            parses.append(Parse(None, (best.scored,)) if best else Parse())
        if incomplete:
            first = " ".join(incomplete[0])[:60]
            logger.warning("%d sentences have no complete tree in the beam (first: %r)", len(incomplete), first)
        return parses
