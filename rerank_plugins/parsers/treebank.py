"""Pre-parsed sentences: trees from a CoNLL-U file or from brackets, found again by their tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rerank_plugins.errors import FormatError
from rerank_plugins.interfaces import Parse, Parser, ScoredTree, Sentence, option
from rerank_plugins.parsers.packed import over_tokens
from rerank_plugins.trees.cleaning import remove_empty
from rerank_plugins.trees.dependency import read_conllu
from rerank_plugins.trees.k_best import is_bracketed, read_scored
from rerank_plugins.trees.penn import normal_form


@dataclass(frozen=True)
class TreebankParser(Parser):
    """Looks parses up in files by their tokens, brackets in any spelling; a sentence that is not there has none.

    Either file may be CoNLL-U, plain brackets, or k-best lists as `rerank parse --k-best` writes them. Plain brackets
    are certain (ln p = 0), and empty elements are left out. Of several trees for the same words in CoNLL-U or plain
    brackets the last one counts.
    """

    path: Path = option(doc="file with a tree for each distinct hypothesis: CoNLL-U or brackets")
    second: Path | None = option(None, doc="a file beside it, with the other kind of trees")

    @cached_property
    def _parses(self) -> dict[tuple[str, ...], Parse]:
        known: dict[tuple[str, ...], Parse] = {}
        for path in filter(None, (self.path, self.second)):
            try:
                with open(path, encoding="utf-8") as lines:
                    _add(known, lines, str(path))
            except FileNotFoundError:
                raise FormatError("no such file of trees", path=str(path)) from None
        return known

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """The stored trees of each sentence, or `Parse()`."""
        found = (self._parses.get(_key(sentence), Parse()) for sentence in sentences)
        return [over_tokens(parse, tuple(sentence)) for parse, sentence in zip(found, sentences, strict=True)]


def _key(words: Sentence) -> tuple[str, ...]:
    """The words in normal form (trees/penn.py), under which a parse is found."""
    return tuple(map(normal_form, words))


def _add(known: dict[tuple[str, ...], Parse], lines: Iterable[str], path: str) -> None:
    """Add the trees of a file to those that are known."""
    bracketed, whole = is_bracketed(lines)
    if not bracketed:
        for tree in read_conllu(whole, path):
            key = _key(tree.words)
            known[key] = Parse(tree, known.get(key, Parse()).constituents)
        return
    lists: dict[tuple[str, ...], tuple[str, list[ScoredTree]]] = {}
    for name, read, score in read_scored(whole, path):
        found = remove_empty(read)
        if found is None:
            continue
        words = _key(found.words())
        if lists.get(words, ("", []))[0] != name:
            lists[words] = name, []
        lists[words][1].append(ScoredTree(found, score))
    for words, (_, trees) in lists.items():
        best_first = tuple(sorted(trees, key=lambda scored: -scored.log_probability))
        known[words] = Parse(known.get(words, Parse()).dependencies, best_first)
