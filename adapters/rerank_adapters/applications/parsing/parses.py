"""Parses many sentences: in order, in bounded memory, in several processes or on a cluster.

This process looks sentences up in the parse cache, and keeps the parses of each finished batch there, where the next
run finds those of an interrupted one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, tee
from typing import NamedTuple

from rerank_adapters.features.processes import Processes
from rerank_adapters.features.unknown_words import warn_if_unparsable
from rerank_plugins import Parse, Parser
from rerank_plugins.core.contracts import checked_parses
from rerank_plugins.kit.files.cached_parser import CachedParser

SENTENCES_OF_BATCH = 1_000  # sentences of one task

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
    parser: CachedParser, sentences: Iterable[Words], processes: Processes, counts: ParseCounts
) -> Iterator[tuple[Words, Parse]]:
    """Yield each sentence with its parse, in order, and count it in `counts`.

    Only some batches are held. The log warns of text with words that the parser does not know.
    """
    batches = _looked_up(parser, sentences)
    for batch in batches:
        if batch.new:  # this process parses it, which loads the models before others start
            batches = chain([batch], batches)
            break
        yield from _counted(batch, [], counts)
    batches, tasks = tee(batches)
    parsed = processes.results(partial(_parse, parser.parser), (batch.new for batch in tasks), ordered=True)
    for batch, parses in zip(batches, parsed, strict=True):
        if parses:
            parser.keep(batch.new, parses)
        yield from _counted(batch, parses, counts)


def _looked_up(parser: CachedParser, sentences: Iterable[Words]) -> Iterator[Batch]:
    """The sentences in batches, with the parses that are known."""
    source = iter(sentences)
    for number, batch in enumerate(iter(lambda: list(islice(source, SENTENCES_OF_BATCH)), [])):
        if not number:
            warn_if_unparsable(parser, [" ".join(words) for words in batch])
        yield Batch(batch, *parser.known(batch))


def _parse(parser: Parser, sentences: list[Words]) -> list[Parse]:
    return checked_parses(parser, sentences) if sentences else []


def _counted(batch: Batch, parses: list[Parse], counts: ParseCounts) -> Iterator[tuple[Words, Parse]]:
    """Yield each sentence of a batch with its parse; `parses` are those of the new sentences."""
    parsed = batch.known | dict(zip(batch.new, parses, strict=True))
    counts.parsed += len(parses)
    for words in batch.sentences:
        counts.sentences += 1
        counts.without += bool(words) and parsed[words].is_empty
        yield words, parsed[words]
