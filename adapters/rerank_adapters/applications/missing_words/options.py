"""The options that the commands of missing words share, and batches of sentences for several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, tee
from typing import TypeVar

import click

from rerank_adapters.cli.options import FILE
from rerank_adapters.features.processes import Processes

Item = TypeVar("Item")
Result = TypeVar("Result")
SENTENCES_OF_BATCH = 1_000  # sentences of one task


model_option = click.option(
    "-M", "--model", type=FILE, required=True, metavar="MODEL",
    help="Model of missing words (`rerank train missing-words`).",
)  # fmt: skip
method_option = click.option(
    "--method", type=click.Choice(["odds", "distance", "ngram"]), default="odds", show_default=True,
    help="Locate by the log-odds of all pairs of words around a gap, by their votes (word-distance statistics), or "
    "by the votes of the two words beside it (n-gram).",
)  # fmt: skip
ngram_option = click.option(
    "--ngram", type=FILE, metavar="LM",
    help="Fill with the exact best substitutes under this n-gram model or ARPA file (FASTSUBS), not with the five "
    "contexts of MODEL.",
)  # fmt: skip
candidates_option = click.option(
    "--max-candidates", "candidates", type=click.IntRange(1), metavar="N",
    help="Fill with the N most frequent words of MODEL only.",
    show_default="all its words",
)  # fmt: skip
accuracy_option = click.option(
    "--accuracy", is_flag=True,
    help="Print how often the right answer is among the first 1, 2, 3, 5 and 10 instead (as JSON with "
    "--as json); TEXT must be a file of `rerank words remove`.",
)  # fmt: skip
processes_option = click.option(
    "-j", "--jobs", type=click.IntRange(1), default=2, show_default=True, help="Work in this many processes.",
)  # fmt: skip


def in_batches(
    work: Callable[[list[Item]], list[Result]], items: Iterable[Item], jobs: int
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with its result, in order; processes work on a batch at a time, the first one in this process."""
    source = iter(items)
    batches, tasks = tee(iter(lambda: list(islice(source, SENTENCES_OF_BATCH)), []))
    for batch, results in zip(batches, Processes(jobs).results(work, tasks, ordered=True), strict=True):
        yield from zip(batch, results, strict=True)
