"""Processes a stream of sentences in batches: in order, in bounded memory, in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from itertools import count, islice
from typing import TypeVar

from rerank_adapters.runtime.workers import Workers, in_order

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
