"""What parsers by a grammar share: every sentence with words gets a tree, in pieces or flat where need be."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Sequence

from rerank_plugins.interfaces import Parse, Parser, ScoredTree, Sentence

logger = logging.getLogger(__name__)


class EverySentence(Parser):
    """A parser whose subclass parses `piece`s of at most `longest` tokens (models/pcfg/fallback.py)."""

    longest: int

    @abstractmethod
    def piece(self, tokens: Sentence, flat: list[Sentence]) -> list[ScoredTree]:
        """The trees of a sentence or piece, best first, at least one; a flat one's words are added to `flat`."""

    def words(self, tokens: Sentence) -> tuple[str, ...]:
        """The words of tokens, by which long sentences are cut."""
        return tuple(tokens)

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; `Parse()` for an empty one alone."""
        from rerank_plugins.models.pcfg.fallback import in_pieces, warn
        from rerank_plugins.models.pcfg.inside import sharing_order

        parses = [Parse()] * len(sentences)
        flat: list[Sentence] = []
        long: list[Sentence] = []
        for place in sharing_order(sentences):
            tokens = tuple(sentences[place])
            if len(tokens) > self.longest:
                long.append(tokens)
                cut = in_pieces(self.words(tokens), self.longest, lambda at: self.piece(tokens[at], flat)[0])  # noqa: B023
                parses[place] = Parse(None, (cut,))
            elif tokens:
                parses[place] = Parse(None, tuple(self.piece(tokens, flat)))
        warn(logger, flat, long, self.longest)
        return parses
