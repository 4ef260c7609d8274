"""Parses many sentences: in order, in bounded memory, in several processes or on a cluster.

The parses of each finished batch are kept in the parse cache, where the next run finds those of an interrupted one. The
first batch is parsed in this process; workers start for the others. Workers of a cluster parse all batches; the cache
is that of this machine alone, so this process looks parses up and keeps them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice

from rerank_adapters.runtime.cluster import ClusterWorkers, cluster_workers, on_cluster
from rerank_adapters.runtime.workers import in_order, in_processes
from rerank_adapters.text import HIGH, vocabulary_warnings
from rerank_plugins import Parse
from rerank_plugins.kit.files.cached_parser import CachedParser

BATCH = 1_000  # sentences of one task

Words = tuple[str, ...]
Parsed = tuple[list[Parse], int]  # the parses of a batch, and how many of them were not in the cache

logger = logging.getLogger(__name__)


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
    batches = _batches(sentences)
    first = list(islice(batches, 1))
    if first and parser.vocabulary is not None:
        texts = [" ".join(words) for words in first[0]]
        for warning in vocabulary_warnings(parser.vocabulary.__contains__, texts, "the parser", HIGH):
            logger.warning(warning)
    batches, here = chain(first, batches), partial(_parsed, parser)
    pairs = _on_cluster(parser, batches) if on_cluster() else in_processes(here, batches, jobs, "the parser", fork=True)
    for batch, (parses, parsed) in pairs:
        counts.parsed += parsed
        for words, parse in zip(batch, parses, strict=True):
            counts.sentences += 1
            counts.without += bool(words) and parse.is_empty
            yield words, parse


def _batches(sentences: Iterable[Words]) -> Iterator[list[Words]]:
    source = iter(sentences)
    while batch := list(islice(source, BATCH)):
        yield batch


def _parsed(parser: CachedParser, batch: list[Words]) -> Parsed:
    """The parses of a batch, which a process of this machine looks up, makes and keeps."""
    before = parser.parsed
    parses = parser.parse(batch)
    return parses, parser.parsed - before


def _on_cluster(parser: CachedParser, batches: Iterable[list[Words]]) -> Iterator[tuple[list[Words], Parsed]]:
    """Each batch with its parses: this process looks them up and keeps them, and the cluster makes those not known."""

    def shared(
        workers: ClusterWorkers[list[Words], list[Parse]],
    ) -> Iterator[tuple[tuple[list[Words], dict[Words, Parse]], list[Parse] | Future[list[Parse]]]]:
        for batch in batches:
            known = parser.known(batch)
            new = [words for words in dict.fromkeys(batch) if words not in known]
            yield (batch, known), workers.submit(new) if new else []

    uncached: Callable[[list[Words]], list[Parse]] = parser.parser.parse
    with cluster_workers(uncached, "the parser") as workers:
        for (batch, known), parses in in_order(shared(workers), workers.most):
            new = [words for words in dict.fromkeys(batch) if words not in known]
            parser.keep(new, parses)
            known.update(zip(new, parses, strict=True))
            yield batch, ([known[words] for words in batch], len(new))
