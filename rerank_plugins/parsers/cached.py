"""A parser behind its caches: a distinct sentence is parsed once, whatever number of features and runs ask for it."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, is_dataclass
from functools import cached_property
from typing import Any

from rerank_plugins import __version__
from rerank_plugins.errors import PluginError
from rerank_plugins.identity import describe
from rerank_plugins.interfaces import Parse, Parser, Sentence
from rerank_plugins.parsers.parse_cache import ParseCache
from rerank_plugins.paths import cache_folder

REMEMBERED = 200_000  # trees kept in memory, about 2 kB each
BATCH = 2_000  # sentences parsed before they are kept: what an interrupted run loses at most

logger = logging.getLogger(__name__)


def default_cache() -> ParseCache | None:
    """The user's cache on disk; None where the user wants none."""
    folder = cache_folder()
    return ParseCache(folder) if folder else None


def identity(parser: Parser) -> str | None:
    """A JSON text of all that the parser's trees depend on: parsers with the same text use each other's cached parses.

    It is None for a parser whose options nobody can know: one that is no dataclass, or has an option that cannot be
    pickled. The identity of a parser of this project has the project's version in it.
    Raises ModelError where the parser's property `resources` does.
    """
    if not is_dataclass(parser):
        return None
    own = {"version": __version__} if type(parser).__module__.startswith("rerank_plugins.") else {}
    try:
        description = describe(parser, file_names=False)
    except PluginError:
        return None
    return json.dumps(own | description, ensure_ascii=False, sort_keys=True)


@dataclass
class CachedParser(Parser):
    """Looks in memory, then on disk, and parses what is in neither; sentences without a parse are counted in the log.

    `parsed` counts the sentences that the wrapped parser was given, `unparsed` those that it gave no tree.
    """

    parser: Parser
    _cache: ParseCache | None = field(default_factory=default_cache, repr=False, compare=False)
    _known: dict[tuple[str, ...], Parse] = field(default_factory=dict, repr=False, compare=False)
    _counts: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"parser": self.parser, "_cache": self._cache, "_known": {}, "_counts": {}}

    @property
    def parsed(self) -> int:
        """Sentences that the wrapped parser was given."""
        return self._counts.get("parsed", 0)

    @property
    def unparsed(self) -> int:
        """Distinct sentences with words for which there was no tree."""
        return self._counts.get("unparsed", 0)

    @cached_property
    def _identity(self) -> str | None:
        return identity(self.parser)

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; the wrapped parser sees each new sentence once."""
        keys = [tuple(sentence) for sentence in sentences]
        if self._counts.get("remembered", 0) > REMEMBERED:
            self._known.clear()
            self._counts["remembered"] = 0
        new = [key for key in dict.fromkeys(keys) if key not in self._known]
        if new and self._cache and self._identity:
            loaded = self._cache.load(self._identity, new)
            self._remember([(key, parse) for key, parse in zip(new, loaded, strict=True) if parse is not None])
            new = [key for key in new if key not in self._known]
        for start in range(0, len(new), BATCH):
            batch = new[start : start + BATCH]
            made = list(zip(batch, self.parser.parse(batch), strict=True))
            self._counts["parsed"] = self.parsed + len(batch)
            if self._cache and self._identity:
                self._cache.save(self._identity, [(words, parse) for words, parse in made if _over(words, parse)])
            self._remember(made)
        return [self._known[key] for key in keys]

    def _remember(self, parses: Sequence[tuple[tuple[str, ...], Parse]]) -> None:
        self._known.update(parses)
        trees = sum(1 + len(parse.constituents) for _, parse in parses)
        self._counts["remembered"] = self._counts.get("remembered", 0) + trees
        without = [words for words, parse in parses if words and parse.is_empty]
        if without:
            self._counts["unparsed"] = self.unparsed + len(without)
            text = " ".join(without[0])
            text = text if len(text) <= 60 else text[:57] + "..."
            logger.warning("no parse of %d sentences, %d in all (first: %r)", len(without), self.unparsed, text)


def _over(words: tuple[str, ...], parse: Parse) -> bool:
    """Whether the trees have the sentence's own words, as on disk; with tokens word/TAG they have not."""
    return not parse.constituents or parse.constituents[0].tree.words() == words
