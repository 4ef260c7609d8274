"""Many sentences through a parser: in order, in bounded memory, on several processes, each finished batch kept.

What an interrupted run has parsed is in the cache of parses, and is found there by the next one. The first batch is
parsed in this process; workers start for the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import count, islice

from rerank_adapters.workers import Workers, in_order
from rerank_plugins import Parse
from rerank_plugins.parsers.cached import CachedParser

BATCH = 1_000  # sentences a task

Words = tuple[str, ...]
Parsed = tuple[list[Parse], int]  # the parses of a batch, and how many of them were not known before


@dataclass
class ParseCounts:
    """How many sentences went by, how many were parsed anew, and how many distinct new ones have no parse."""

    sentences: int = 0
    parsed: int = 0
    without: int = 0

    def __str__(self) -> str:
        return f"{self.parsed} parsed now" + (f", {self.without} without a parse" if self.without else "")


def parse_in_order(
    parser: CachedParser, sentences: Iterable[Words], jobs: int, counts: ParseCounts
) -> Iterator[tuple[Words, Parse]]:
    """Each sentence with its parse, in order; at most 2 * jobs + 1 batches are held. `counts` grows as they go by."""
    parsing = _Parsing(parser)
    with Workers(parsing, jobs, "the parser") as workers:
        for batch, (parses, parsed) in in_order(_shared_out(parsing, sentences, workers, jobs), 2 * jobs):
            counts.parsed += parsed
            for words, parse in zip(batch, parses, strict=True):
                counts.sentences += 1
                counts.without += bool(words) and parse.is_empty
                yield words, parse


@dataclass(frozen=True)
class _Parsing:
    """What is done with a batch, here or in a worker."""

    parser: CachedParser

    def __call__(self, batch: list[Words]) -> Parsed:
        before = self.parser.parsed
        parses = self.parser.parse(batch)
        return parses, self.parser.parsed - before


def _shared_out(
    parsing: _Parsing, sentences: Iterable[Words], workers: Workers[list[Words], Parsed], jobs: int
) -> Iterator[tuple[list[Words], Parsed | Future[Parsed]]]:
    """Each batch with its parses, or with the promise of a worker."""
    source = iter(sentences)
    for number in count():
        batch = list(islice(source, BATCH))
        if not batch:
            return
        yield batch, parsing(batch) if number == 0 or jobs == 1 else workers.submit(batch)
