"""The parser `treebank`: looks sentences that were parsed before up in files of trees, by their tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.core.dependency_tree import read_conllu
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.interfaces import Parse, Parser, Sentence, option
from rerank_plugins.core.scored_trees import ScoredTree
from rerank_plugins.kit.files.packed_parses import over_tokens
from rerank_plugins.kit.trees.k_best_file import is_bracketed, read_scored
from rerank_plugins.kit.trees.treebank_cleaning import remove_empty


@dataclass(frozen=True)
class TreebankParser(Parser):
    """Looks parses up in files by the tokens of the sentence, with brackets in any spelling.

    A sentence that is not in the files has no parse. Each file may be CoNLL-U, plain bracketed trees, or k-best lists
    as `rerank parse --k-best` writes them. Plain trees are certain (ln p = 0), and empty elements are removed. If
    CoNLL-U or plain trees have several trees for the same words, the last one is used.
    """

    general: ClassVar[bool] = False

    path: Path = option(doc="file with a tree for each distinct hypothesis: CoNLL-U or bracketed trees")
    second: Path | None = option(None, doc="a second file, with the other kind of trees")

    @cached_property
    def _parses(self) -> dict[tuple[str, ...], Parse]:
        known: dict[tuple[str, ...], Parse] = {}
        for path in filter(None, (self.path, self.second)):
            try:
                with open(path, encoding="utf-8") as lines:
                    _add(known, lines, str(path))
            except UnicodeDecodeError as error:
                raise FormatError(f"not UTF-8 text (byte {error.start})", path=str(path)) from None
            except FileNotFoundError:
                raise FormatError("there is no such file of trees", path=str(path)) from None
        return known

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """The stored trees of each sentence, or `Parse()`."""
        parses = (self._parses.get(_key(sentence), Parse()) for sentence in sentences)
        return [over_tokens(parse, tuple(sentence)) for parse, sentence in zip(parses, sentences, strict=True)]


def _key(words: Sentence) -> tuple[str, ...]:
    """The words in normal form (core/brackets_and_quotes.py), the key of a parse."""
    return tuple(map(normal_form, words))


def _add(known: dict[tuple[str, ...], Parse], lines: Iterable[str], path: str) -> None:
    """Add the trees of a file to the known ones."""
    bracketed, whole = is_bracketed(lines)
    if not bracketed:
        for tree in read_conllu(whole, path):
            key = _key(tree.words)
            known[key] = Parse(tree, known.get(key, Parse()).constituents)
        return
    lists: dict[tuple[str, ...], tuple[str, list[ScoredTree]]] = {}
    for name, read, score in read_scored(whole, path):
        tree_read = remove_empty(read)
        if tree_read is None:
            continue
        words = _key(tree_read.words())
        if words not in lists or lists[words][0] != name:
            lists[words] = name, []
        lists[words][1].append(ScoredTree(tree_read, score))
    for words, (_, trees) in lists.items():
        best_first = tuple(sorted(trees, key=lambda scored: -scored.log_probability))
        known[words] = Parse(known.get(words, Parse()).dependencies, best_first)
