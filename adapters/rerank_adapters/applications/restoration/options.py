"""The options that the commands of restoration share, and batches of sentences for several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from itertools import count, islice
from pathlib import Path
from typing import TypeVar

import click

from rerank_adapters.runtime.workers import Workers, in_order

Item = TypeVar("Item")
Result = TypeVar("Result")
BATCH = 1_000  # sentences of one task


model_option = click.option(
    "-m", "--model", type=Path, required=True, metavar="MODEL",
    help="Model of missing words (`rerank train missing-words`).",
)  # fmt: skip
method_option = click.option(
    "--method", type=click.Choice(["odds", "distance", "ngram"]), default="odds", show_default=True,
    help="Locate by the log-odds of all pairs of words around a gap, by their votes (word-distance statistics), or "
    "by the votes of the two words beside it (n-gram).",
)  # fmt: skip
ngram_option = click.option(
    "--ngram", type=Path, metavar="LM",
    help="Fill with the exact best substitutes under this n-gram model or ARPA file (FASTSUBS), not with the five "
    "contexts of MODEL.",
)  # fmt: skip
candidates_option = click.option(
    "--candidates", type=click.IntRange(1), metavar="N",
    help="Fill with the N most frequent words of MODEL only. Default: all its words.",
)  # fmt: skip
accuracy_option = click.option(
    "--accuracy", is_flag=True,
    help="Print how often the right answer is among the first 1, 2, 3, 5 and 10 instead (as JSON with "
    "--layout json); TEXT must be a file of `rerank remove-word`.",
)  # fmt: skip
processes_option = click.option(
    "-j", "--jobs", type=click.IntRange(1), default=2, show_default=True, help="Work in this many processes.",
)  # fmt: skip


def in_batches(
    work: Callable[[list[Item]], list[Result]], items: Iterable[Item], jobs: int, name: str
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with its result. The first batch is done in this process; workers start for the others.

    `work` is pickled for the workers, and messages call it by `name`; at most 2 * jobs + 1 batches are held.
    """
    source = iter(items)

    def shared_out(
        workers: Workers[list[Item], list[Result]],
    ) -> Iterator[tuple[list[Item], list[Result] | Future[list[Result]]]]:
        for number in count():
            batch = list(islice(source, BATCH))
            if not batch:
                return
            yield batch, work(batch) if number == 0 or jobs == 1 else workers.submit(batch)

    with Workers(work, jobs, name) as workers:
        for batch, results in in_order(shared_out(workers), workers.most):
            yield from zip(batch, results, strict=True)
