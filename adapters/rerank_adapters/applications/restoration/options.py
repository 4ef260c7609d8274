"""Options that the commands of restoration share.

Processes a stream of sentences in batches: in order, in bounded memory, in several processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from itertools import count, islice
from pathlib import Path
from typing import Any, TypeVar

import click

from rerank_adapters.runtime.workers import Workers, in_order

Command = TypeVar("Command", bound=Callable[..., Any])


def model_option(command: Command) -> Command:
    """`-m`: the model of missing words."""
    return click.option(
        "-m", "--model", type=Path, required=True, metavar="MODEL",
        help="Model of missing words (`rerank train missing-words`).",
    )(command)  # fmt: skip


def method_option(command: Command) -> Command:
    """`--method`: how words are located."""
    return click.option(
        "--method", type=click.Choice(["odds", "distance", "ngram"]), default="odds", show_default=True,
        help="Locate by the log-odds of all pairs of words around a gap, by their votes (word-distance statistics), or "
             "by the votes of the two words beside it (n-gram).",
    )(command)  # fmt: skip


def ngram_option(command: Command) -> Command:
    """`--ngram`: an n-gram model that fills gaps."""
    return click.option(
        "--ngram", type=Path, metavar="LM",
        help="Fill with the exact best substitutes under this n-gram model or ARPA file (FASTSUBS), not with the five "
             "contexts of MODEL.",
    )(command)  # fmt: skip


def candidates_option(command: Command) -> Command:
    """`--candidates`: the size of the candidate list."""
    return click.option(
        "--candidates", type=click.IntRange(1), metavar="N",
        help="Fill with the N most frequent words of MODEL only. Default: all its words.",
    )(command)  # fmt: skip


def accuracy_option(command: Command) -> Command:
    """`--accuracy`: accuracies instead of answers."""
    return click.option(
        "--accuracy", is_flag=True,
        help="Print how often the right answer is among the first 1, 2, 3, 5 and 10, instead of the answers; TEXT must "
             "be a file of `rerank remove-word`.",
    )(command)  # fmt: skip


def processes_option(command: Command) -> Command:
    """`-j`: the number of processes."""
    return click.option(
        "-j", "--jobs", type=click.IntRange(1), default=2, show_default=True,
        help="Work in this many processes.",
    )(command)  # fmt: skip


Item = TypeVar("Item")
Result = TypeVar("Result")
BATCH = 1_000  # sentences of one task


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
        for batch, results in in_order(shared_out(workers), 2 * jobs):
            yield from zip(batch, results, strict=True)
