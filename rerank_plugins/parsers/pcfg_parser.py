"""Constituency trees by a context-free grammar (models/pcfg): any grammar, or the embedded English one."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rerank_plugins.errors import ModelError
from rerank_plugins.interfaces import Parse, Parser, ScoredTree, Sentence, option
from rerank_plugins.models.pcfg.embedded import EMBEDDED, read_or_embedded
from rerank_plugins.pickling import PickledFields

if TYPE_CHECKING:
    from rerank_plugins.models.pcfg.parsing import ChartParser, Decoding

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class PcfgParser(Parser, PickledFields):
    """Constituency trees by a grammar, k best, with ln p(tree, words); embedded: English.

    Every sentence with words gets a tree: those that are too long are parsed in pieces, those that the grammar does not
    derive are flat, and how many there were is in the log. Raises ModelError for a file that is missing, cut short, of
    another kind or version, or for another language, and for a tag that the grammar does not have.
    """

    model: Path | None = option(None, doc="grammar, from `rerank train grammar`; default: the embedded English one")
    language: str = option("", doc="code of the language, as en: refuse a grammar for another one")
    decoder: Literal["mbr", "viterbi"] = option(
        "mbr", doc="mbr: trees whose rules are most probably right; viterbi: most probable derivations"
    )
    k: int = option(1, doc="how many trees a sentence, best first")
    threshold: float = option(1e-3, doc="phrases expected less often in the coarse grammar are passed over; 0: exact")
    longest: int = option(200, doc="words; longer sentences are parsed in pieces")
    tags: bool = option(False, doc="tokens are word/TAG: parse with these tags (the trees have the words)")

    def __post_init__(self) -> None:
        if self.k < 1 or self.longest < 2 or not 0 <= self.threshold < 1:
            raise ValueError("k is 1 or more, longest 2 or more, threshold from 0 to below 1")

    @property
    def resources(self) -> tuple[Path, ...]:
        """The embedded grammar, where it is the one."""
        return () if self.model else (EMBEDDED,)

    @cached_property
    def parser(self) -> ChartParser:
        """The grammar, made ready for parsing."""
        from rerank_plugins.models.pcfg.parsing import ChartParser

        return ChartParser(read_or_embedded(self.model, self.language))

    @property
    def _decoding(self) -> Decoding:
        from rerank_plugins.models.pcfg.parsing import Decoding

        return Decoding(self.decoder, self.k, self.threshold)

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; `Parse()` for an empty one alone."""
        from rerank_plugins.models.pcfg.fallback import warn
        from rerank_plugins.models.pcfg.inside import sharing_order

        parses = [Parse()] * len(sentences)
        flat: list[Sentence] = []
        long: list[Sentence] = []
        for place in sharing_order(sentences):
            if sentences[place]:
                parses[place] = Parse(None, tuple(self._trees(sentences[place], flat, long)))
        warn(logger, flat, long, self.longest)
        return parses

    def _trees(self, tokens: Sentence, flat: list[Sentence], long: list[Sentence]) -> list[ScoredTree]:
        from rerank_plugins.models.pcfg.fallback import in_pieces

        words, tags = _split(tokens) if self.tags else (tuple(tokens), None)
        if len(words) <= self.longest:
            return self._piece(words, tags, flat)
        long.append(tokens)

        def best(piece: slice) -> ScoredTree:
            return self._piece(words[piece], tags and tags[piece], flat)[0]

        return [in_pieces(words, self.longest, best)]

    def _piece(self, words: Sentence, tags: Sequence[str] | None, flat: list[Sentence]) -> list[ScoredTree]:
        from rerank_plugins.models.pcfg import fallback

        parser, decoding = self.parser, self._decoding
        found = parser.parse_tagged(words, tags, decoding) if tags else parser.parse(words, decoding)
        if found:
            return found
        flat.append(words)
        return [fallback.flat(parser.grammar, words, tags)]


def _split(tokens: Sentence) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words and tags of word/TAG; the last slash counts. Raises ModelError for a token without a tag."""
    words, tags = [], []
    for token in tokens:
        word, _, tag = token.rpartition("/")
        if not word or not tag:
            raise ModelError(f"token {token!r} is not word/TAG, as the option 'tags' wants")
        words.append(word)
        tags.append(tag)
    return tuple(words), tuple(tags)
