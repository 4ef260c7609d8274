"""Constituency trees by a context-free grammar (models/pcfg): any grammar, or the embedded English one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rerank_plugins.errors import ModelError
from rerank_plugins.interfaces import ScoredTree, Sentence, option
from rerank_plugins.models.pcfg.embedded import EMBEDDED, read_or_embedded
from rerank_plugins.parsers.every_sentence import EverySentence
from rerank_plugins.pickling import PickledFields

if TYPE_CHECKING:
    from rerank_plugins.models.pcfg.parsing import ChartParser, Decoding


@dataclass(frozen=True)
class PcfgParser(EverySentence, PickledFields):
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

    def words(self, tokens: Sentence) -> tuple[str, ...]:
        """The words, without tags."""
        return _split(tokens)[0] if self.tags else tuple(tokens)

    def piece(self, tokens: Sentence, flat: list[Sentence]) -> list[ScoredTree]:
        """The k best trees of a sentence."""
        from rerank_plugins.models.pcfg import fallback

        words, tags = _split(tokens) if self.tags else (tuple(tokens), None)
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
