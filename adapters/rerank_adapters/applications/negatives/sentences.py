"""Reads the sentences of pairs with their trees, and writes the pairs while a bar counts the sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path

from rerank_adapters.chain.job import Job
from rerank_adapters.chain.parse_pool import ParseCounts, parse_in_order
from rerank_adapters.formats.pairs import Pair, pair_lines
from rerank_adapters.runtime.progress import CountingBar
from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.kit.files.text import open_atomic


def with_trees(
    sentences: Sequence[Sequence[str]], job: Job, parser: str
) -> Iterator[tuple[Sequence[str], DependencyTree | None]]:
    """The sentences with the dependency trees by a parser; with the parser `none`, without trees."""
    if parser == "none":
        yield from zip(sentences, repeat(None))
        return
    for words, parse in parse_in_order(job.parser(parser), map(tuple, sentences), job.config.jobs, ParseCounts()):
        yield words, parse.dependencies


def write_pairs(pairs: Iterator[Pair], sentences: int, columns: Sequence[str], output: Path) -> int:
    """Write pairs with these columns of groups, whose lines count the `sentences`; return the number of pairs."""
    written = 0

    def counted() -> Iterator[Pair]:
        nonlocal written
        with CountingBar("sentences", sentences) as bar:
            line = 0
            for pair in pairs:
                bar.add(pair.line - line)
                line = pair.line
                written += 1
                yield pair

    with open_atomic(output) as out:
        out.writelines(pair_lines(counted(), columns))
    return written
