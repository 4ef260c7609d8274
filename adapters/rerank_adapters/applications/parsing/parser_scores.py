"""`rerank parse --evaluate`: compares a parser with gold trees of CoNLL-U or brackets, and prints the scores."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import click

from rerank_adapters.runtime.progress import CountingBar
from rerank_plugins import FormatError, Parse, Parser
from rerank_plugins.core.dependency_tree import read_conllu
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.trees.k_best_file import is_bracketed, read_scored
from rerank_plugins.kit.trees.parseval import Attachment, Parseval
from rerank_plugins.kit.trees.treebank_cleaning import remove_empty

BLOCK = 100  # sentences that are parsed between two steps of the bar

Gold = TypeVar("Gold")
AnyTree = TypeVar("AnyTree", contravariant=True)


class Scores(Protocol[AnyTree]):
    """What Attachment and Parseval have in common."""

    def add(self, gold: AnyTree, parsed: AnyTree | None) -> None:
        """Count a sentence; `parsed` is None where the parser has no tree."""
        ...

    def percent(self) -> dict[str, float]:
        """Scores in percent, by name."""
        ...


def evaluate_parser(parser: Parser, gold: str, longest: int | None = None) -> dict[str, str]:
    """A row of the table: file, sentences, words, scores in percent, and sentences per second of CPU time.

    In brackets, empty elements are not counted as words, and trees without words are skipped. Sentences of more than
    `longest` words are left out. The time excludes that for loading the model and compiling kernels, because the first
    sentence is parsed before. Raises FormatError where no trees are left.
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
        message = f"the file holds no trees of up to {longest} words" if trees else "the file holds no trees"
        raise FormatError(message, path=path)
    return fit


def _row(
    parser: Parser,
    path: str,
    gold: Sequence[tuple[tuple[str, ...], Gold]],
    scores: Scores[Gold],
    structure: Callable[[Parse], Gold | None],
) -> dict[str, str]:
    sentences = [words for words, _ in gold]
    parser.parse(sentences[:1])  # loads the model, and compiles kernels
    seconds = 0.0
    with CountingBar("sentences", len(gold)) as bar:
        for first in range(0, len(gold), BLOCK):
            started = time.process_time()
            parses = parser.parse(sentences[first : first + BLOCK])
            seconds += time.process_time() - started
            for (_, tree), parse in zip(gold[first : first + BLOCK], parses, strict=True):
                scores.add(tree, structure(parse))
            bar.add(len(parses))
    return {
        "gold": Path(path).name,
        "sentences": str(len(gold)),
        "words": str(sum(map(len, sentences))),
        **{name: f"{value:.2f}" for name, value in scores.percent().items()},
        "sentences/s": f"{len(gold) / max(seconds, 1e-9):.0f}",
    }


Row = dict[str, str]


def print_scores(rows: Iterable[Row]) -> None:
    """Print a row for each gold file as soon as it is known, or, on a terminal, all files side by side in a table."""
    if sys.stdout.isatty():
        from rerank_adapters.report.output import report_console
        from rerank_adapters.report.tables import Table
        from rerank_adapters.report.terminal import print_table

        for alike in _alike(list(rows)):
            first, *scores = list(alike[0])
            header = (first, *(row[first] for row in alike))
            cells = tuple((name, *(row[name] for row in alike)) for name in scores)
            print_table(Table("Scores in percent", header, cells), report_console())
        return
    header_row: list[str] = []
    for row in rows:
        if list(row) != header_row:
            header_row = list(row)
            click.echo("\t".join(header_row))
        click.echo("\t".join(row.values()))


def _alike(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The rows, grouped by the names of their columns."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row), []).append(row)
    yield from groups.values()
