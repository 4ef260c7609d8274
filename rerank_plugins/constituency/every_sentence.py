"""The base class of grammar parsers: every sentence with words gets a tree, in pieces or flat if necessary."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Sequence

from rerank_plugins.core.interfaces import Parse, Parser, Sentence
from rerank_plugins.core.scored_trees import ScoredTree

logger = logging.getLogger(__name__)


class EverySentence(Parser):
    """A parser that cuts longer sentences into pieces of at most `longest` tokens (fallback.py).

    A subclass parses one piece at a time, in `piece`.
    """

    longest: int

    @abstractmethod
    def piece(self, tokens: Sentence, flat: list[Sentence]) -> Sequence[ScoredTree]:
        """One or more trees of a sentence or piece, best first; the words of a flat tree are appended to `flat`."""

    def words(self, tokens: Sentence) -> tuple[str, ...]:
        """The words of the tokens, at which long sentences are cut."""
        return tuple(tokens)

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; only an empty sentence has none (`Parse()`)."""
        from rerank_plugins.constituency.fallback import in_pieces, warn
        from rerank_plugins.constituency.inside import sharing_order

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
                parses[place] = Parse(None, self.piece(tokens, flat))
        warn(logger, flat, long, self.longest)
        return parses
