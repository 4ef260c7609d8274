"""Parses many sentences: in order, in bounded memory, in several processes or on a cluster.

This process looks sentences up in the parse cache, and keeps the parses of each finished batch there, where the next
run finds those of an interrupted one. It parses the first batch with new sentences too, which loads the models; workers
start for the others. Workers of a cluster parse all batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from rerank_adapters.features.unknown_words import warn_of_unparsed
from rerank_adapters.runtime.cluster import workers_for
from rerank_adapters.runtime.workers import collected, finished
from rerank_plugins import Parse
from rerank_plugins.kit.files.cached_parser import CachedParser

BATCH = 1_000  # sentences of one task

Words = tuple[str, ...]


class Batch(NamedTuple):
    """Some sentences, the parses of those that the cache has, and the others, each once."""

    sentences: list[Words]
    known: dict[Words, Parse]
    new: list[Words]


@dataclass
class ParseCounts:
    """How many sentences were read, how many were not in the cache and had to be parsed, and how many have no parse.

    `unknown` is the number of their words that the parser does not know, if it is counted.
    """

    sentences: int = 0
    parsed: int = 0
    without: int = 0
    unknown: int = 0

    def __str__(self) -> str:
        without = f", {self.without} without a parse" if self.without else ""
        return f"{self.parsed} parsed now{without}" + (f", {self.unknown} unknown words" if self.unknown else "")


def parse_in_order(
    parser: CachedParser, sentences: Iterable[Words], jobs: int, counts: ParseCounts
) -> Iterator[tuple[Words, Parse]]:
    """Yield each sentence with its parse, in order, and count it in `counts`.

    At most 2 * jobs + 1 batches are held, or twice as many as the cluster has workers. The log warns of text with words
    that the parser does not know.
    """
    source = iter(sentences)
    batches = iter(lambda: list(islice(source, BATCH)), [])
    first = list(islice(batches, 1))
    if first:
        warn_of_unparsed(parser, [" ".join(words) for words in first[0]])
    parse: Callable[[list[Words]], list[Parse]] = parser.parser.parse
    with workers_for(parse, jobs, "the parser") as workers:

        def submitted() -> Iterator[tuple[Batch, Future[list[Parse]]]]:
            here = not workers.started  # whether this process parses the next batch
            for batch in chain(first, batches):
                known, new = parser.known(batch)
                future = finished(parse(new) if new else []) if here or not new else workers.submit(new)
                here = here and (jobs == 1 or not new)
                yield Batch(batch, known, new), future

        for batch, parses in collected(submitted(), workers.most):
            if parses:
                parser.keep(batch.new, parses)
            known = batch.known | dict(zip(batch.new, parses, strict=True))
            counts.parsed += len(parses)
            for words in batch.sentences:
                counts.sentences += 1
                counts.without += bool(words) and known[words].is_empty
                yield words, known[words]
