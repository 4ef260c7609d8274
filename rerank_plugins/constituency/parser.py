"""The parser `pcfg`: constituency trees by a probabilistic context-free grammar of a file, or the embedded one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from rerank_plugins import ModelError, PickledFields, ScoredTree, Sentence, TrainedOn, Words, option
from rerank_plugins.constituency.fallback import EverySentence
from rerank_plugins.constituency.model_file import EMBEDDED, read_or_embedded
from rerank_plugins.kit.files.model_file import read_trained_on

if TYPE_CHECKING:
    from rerank_plugins.constituency.parsing import ChartParser, Decoding


@dataclass(frozen=True)
class PcfgParser(EverySentence, PickledFields):
    """The k best constituency trees by a grammar, with ln p(tree, words); embedded: English.

    Every sentence with words gets a tree: sentences that are too long are parsed in pieces, and those that the grammar
    cannot derive get a flat tree; the log says how many there were. Raises ModelError for a file that is missing, cut
    short, of another kind or version, or for another language, and for a tag that the grammar does not have.
    """

    file_kind: ClassVar[str] = "grammar"
    model: Path | None = option(None, doc="grammar of `rerank train grammar`; default: the embedded English one")
    language: str = option("", doc="code of the language, such as en: a grammar for another one is refused")
    decoder: Literal["mbr", "viterbi"] = option(
        "mbr", doc="mbr: the trees whose rules have the highest posterior; viterbi: the most probable derivations"
    )
    k: int = option(1, doc="number of trees of a sentence, best first")
    threshold: float = option(1e-3, doc="phrases with a lower posterior in the coarse grammar are pruned; 0: exact")
    longest: int = option(200, doc="words of a sentence; longer ones are parsed in pieces")
    tags: bool = option(False, doc="tokens are word/TAG: parse with these tags; the trees have the words alone")

    def __post_init__(self) -> None:
        if self.k < 1 or self.longest < 2 or not 0 <= self.threshold < 1:
            raise ValueError("'k' must be 1 or more, 'longest' 2 or more, and 'threshold' at least 0 and below 1")

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
        """The words of the embedded grammar; None for another one, and if tokens are word/TAG."""
        return None if self.model or self.tags else self.parser.grammar.lexicon

    @cached_property
    def parser(self) -> ChartParser:
        """The grammar, prepared for parsing."""
        from rerank_plugins.constituency.parsing import ChartParser

        return ChartParser(read_or_embedded(self.model, self.language))

    @property
    def _decoding(self) -> Decoding:
        from rerank_plugins.constituency.parsing import Decoding

        return Decoding(self.decoder, self.k, self.threshold)

    def words(self, tokens: Sentence) -> tuple[str, ...]:
        """The words, without tags."""
        return _split(tokens)[0] if self.tags else tuple(tokens)

    def piece(self, tokens: Sentence, flat: list[Sentence]) -> Sequence[ScoredTree]:
        """The k best trees of a sentence."""
        from rerank_plugins.constituency.fallback import flat_tree

        words, tags = _split(tokens) if self.tags else (tuple(tokens), None)
        parser, decoding = self.parser, self._decoding
        trees = parser.parse_tagged(words, tags, decoding) if tags else parser.k_best(words, decoding)
        if trees:
            return trees
        flat.append(words)
        return [flat_tree(parser.grammar, words, tags)]


def _split(tokens: Sentence) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words and tags of tokens word/TAG, split at the last slash. Raises ModelError for a token without a tag."""
    words, tags = [], []
    for token in tokens:
        word, _, tag = token.rpartition("/")
        if not word or not tag:
            raise ModelError(f"token {token!r} is not word/TAG, as the option 'tags' requires")
        words.append(word)
        tags.append(tag)
    return tuple(words), tuple(tags)
