"""`rerank parse --evaluate`: a parser against gold trees, CoNLL-U or brackets."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from rerank_adapters.formats.compressed import open_text
from rerank_plugins import FormatError, Parse, Parser
from rerank_plugins.trees.attachment import Attachment
from rerank_plugins.trees.cleaning import remove_empty
from rerank_plugins.trees.dependency import read_conllu
from rerank_plugins.trees.k_best import is_bracketed, read_scored
from rerank_plugins.trees.parseval import Parseval

Gold = TypeVar("Gold")
AnyTree = TypeVar("AnyTree", contravariant=True)


class Scores(Protocol[AnyTree]):
    """Attachment or Parseval."""

    def add(self, gold: AnyTree, found: AnyTree | None) -> None:
        """Count a sentence."""
        ...

    def percent(self) -> dict[str, float]:
        """Scores by name."""
        ...


def evaluate_parser(parser: Parser, gold: str, longest: int | None = None) -> dict[str, str]:
    """A row of the table: file, sentences, words, scores in percent, sentences a second of CPU (without loading).

    Of brackets, empty elements are no words, and a tree without words is passed over. `longest` leaves out sentences
    of more words. Raises FormatError where no trees are left.
    """
    with open_text(gold) as lines:
        bracketed, whole = is_bracketed(lines)
        if bracketed:
            trees = [tree for _, read, _ in read_scored(whole, gold) if (tree := remove_empty(read)) is not None]
            scored = [(tree.words(), tree) for tree in trees]
            return _row(parser, gold, _fit(scored, gold, longest), Parseval(), lambda parse: parse.tree)
        known = [(tree.words, tree) for tree in read_conllu(whole, gold)]
        return _row(parser, gold, _fit(known, gold, longest), Attachment(), lambda parse: parse.dependencies)


def _fit(
    trees: Sequence[tuple[tuple[str, ...], Gold]], path: str, longest: int | None
) -> list[tuple[tuple[str, ...], Gold]]:
    fit = [(words, tree) for words, tree in trees if longest is None or len(words) <= longest]
    if not fit:
        found = f"the file holds no trees of up to {longest} words" if trees else "the file holds no trees"
        raise FormatError(found, path=path)
    return fit


def _row(
    parser: Parser,
    path: str,
    gold: Sequence[tuple[tuple[str, ...], Gold]],
    scores: Scores[Gold],
    structure: Callable[[Parse], Gold | None],
) -> dict[str, str]:
    sentences = [words for words, _ in gold]
    parser.parse(sentences[:1])  # loads the model
    started = time.process_time()
    parses = parser.parse(sentences)
    seconds = time.process_time() - started
    for (_, tree), parse in zip(gold, parses, strict=True):
        scores.add(tree, structure(parse))
    return {
        "gold": Path(path).name,
        "sentences": str(len(gold)),
        "words": str(sum(map(len, sentences))),
        **{name: f"{value:.2f}" for name, value in scores.percent().items()},
        "sentences/s": f"{len(gold) / max(seconds, 1e-9):.0f}",
    }
