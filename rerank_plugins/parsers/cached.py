"""A parser behind a cache: each distinct sentence is parsed once, whatever number of features ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rerank_plugins.interfaces import Parse, Parser, Sentence


@dataclass
class CachedParser(Parser):
    """Parses what it has not seen, and remembers it for the life of the object."""

    parser: Parser
    _known: dict[tuple[str, ...], Parse] = field(default_factory=dict, repr=False)

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; the wrapped parser sees each new sentence once."""
        keys = [tuple(sentence) for sentence in sentences]
        new = [key for key in dict.fromkeys(keys) if key not in self._known]
        if new:
            self._known.update(zip(new, self.parser.parse(new), strict=True))
        return [self._known[key] for key in keys]
