"""Pre-parsed sentences: trees from a CoNLL-U file, found again by their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rerank_plugins.errors import FormatError
from rerank_plugins.interfaces import Parse, Parser, Sentence, option
from rerank_plugins.trees.dependency import DependencyTree, read_conllu


@dataclass(frozen=True)
class TreebankParser(Parser):
    """Looks parses up in a CoNLL-U file by their tokens; a sentence that is not there has none."""

    path: Path = option(doc="CoNLL-U file with a tree for each distinct hypothesis")

    @cached_property
    def _trees(self) -> dict[tuple[str, ...], DependencyTree]:
        try:
            with open(self.path, encoding="utf-8") as lines:
                return {tree.words: tree for tree in read_conllu(lines, str(self.path))}
        except FileNotFoundError:
            raise FormatError("no such CoNLL-U file", path=str(self.path)) from None

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """The stored tree of each sentence, or `Parse()`."""
        return [Parse(self._trees.get(tuple(sentence))) for sentence in sentences]
