"""Parsing of many sentences: in order, in bounded memory, on several processes.

The parses of each finished batch are kept in the parse cache, where the next run finds those of an interrupted one. The
first batch is parsed in this process; workers start for the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import count, islice

from rerank_adapters.workers import Workers, in_order
from rerank_plugins import Parse
from rerank_plugins.parsers.cached import CachedParser

BATCH = 1_000  # sentences of one task

Words = tuple[str, ...]
Parsed = tuple[list[Parse], int]  # the parses of a batch, and how many of them were not in the cache


@dataclass
class ParseCounts:
    """How many sentences were read, how many were not in the cache and had to be parsed, and how many have no parse."""

    sentences: int = 0
    parsed: int = 0
    without: int = 0

    def __str__(self) -> str:
        return f"{self.parsed} parsed now" + (f", {self.without} without a parse" if self.without else "")


def parse_in_order(
    parser: CachedParser, sentences: Iterable[Words], jobs: int, counts: ParseCounts
) -> Iterator[tuple[Words, Parse]]:
    """Yield each sentence with its parse, in order, and count it in `counts`; at most 2 * jobs + 1 batches are held."""
    parsing = _Parsing(parser)
    with Workers(parsing, jobs, "the parser", fork=True) as workers:
        for batch, (parses, parsed) in in_order(_shared_out(parsing, sentences, workers, jobs), 2 * jobs):
            counts.parsed += parsed
            for words, parse in zip(batch, parses, strict=True):
                counts.sentences += 1
                counts.without += bool(words) and parse.is_empty
                yield words, parse


@dataclass(frozen=True)
class _Parsing:
    """The task for each batch, in this process or in a worker: to parse it."""

    parser: CachedParser

    def __call__(self, batch: list[Words]) -> Parsed:
        before = self.parser.parsed
        parses = self.parser.parse(batch)
        return parses, self.parser.parsed - before


def _shared_out(
    parsing: _Parsing, sentences: Iterable[Words], workers: Workers[list[Words], Parsed], jobs: int
) -> Iterator[tuple[list[Words], Parsed | Future[Parsed]]]:
    """Yield each batch with its parses, or with the future of a worker that parses it."""
    source = iter(sentences)
    for number in count():
        batch = list(islice(source, BATCH))
        if not batch:
            return
        yield batch, parsing(batch) if number == 0 or jobs == 1 else workers.submit(batch)
