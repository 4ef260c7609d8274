"""Extraction of chunks in order, in this process or, where that is quicker, in worker processes.

Workers are processes rather than threads, since KenLM and plain Python hold the interpreter's lock. Each costs an
interpreter and the loading of the models, so they start only when the expected gain is larger. The first chunks, which
are small, show how long a chunk and the loading take.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.extraction.chunk import Extracted, extract_chunk
from rerank_adapters.extraction.plan import Plan
from rerank_adapters.extraction.work import WorkFolder
from rerank_adapters.workers import Workers, in_order
from rerank_plugins import NBestList

START = 2.0  # seconds that workers must gain, in which interpreters start and kernels are loaded again

Chunk = list[NBestList]


@dataclass
class Gauge:
    """Estimates whether workers would pay: the time for the remaining rows, against the time to start and load them."""

    rows: int | None  # all hypotheses; None where unknown: as many are expected as have been seen
    loading: float = 0.0
    seconds: float = 0.0
    measured: int = 0
    passed: int = 0

    def add(self, rows: int, seconds: float | None) -> None:
        """Count a chunk; `seconds` is None for one that was not extracted in this process."""
        self.passed += rows
        if seconds is None:
            return
        if not self.loading:  # the first chunk loads models and compiles kernels
            self.loading = seconds
        else:
            self.seconds += seconds
            self.measured += rows

    def pays(self, jobs: int) -> bool:
        """Whether workers gain more than they cost."""
        left = self.passed if self.rows is None else self.rows - self.passed
        pace = self.seconds / max(1, self.measured)
        return left * pace * (1 - 1 / jobs) > START + self.loading


def extract_in_order(
    plan: Plan, groups: Iterable[Chunk], *, jobs: int, rows: int | None = None, work: WorkFolder | None = None
) -> Iterator[tuple[Chunk, Extracted]]:
    """Yield each chunk with its values, in order; at most 2 * jobs + 1 chunks are held.

    With `work`, chunks that it has are taken from there, and finished chunks are kept there.
    """
    extraction = _Extraction(plan, work)
    workers = Workers(extraction, jobs, "an extractor")
    try:
        with workers:
            yield from in_order(_shared_out(extraction, groups, workers, jobs, rows), 2 * jobs)
    finally:
        if work:
            work.sweep(workers.pids)


@dataclass(frozen=True)
class _Extraction:
    """The task for each chunk, in this process or in a worker: to extract it, and to keep it in `work`."""

    plan: Plan
    work: WorkFolder | None

    def __call__(self, task: tuple[Chunk, Path | None]) -> Extracted:
        group, file = task
        extracted = extract_chunk(self.plan, group)
        if self.work and file:
            self.work.save(file, extracted.values)
        return extracted


def _shared_out(
    extraction: _Extraction,
    groups: Iterable[Chunk],
    workers: Workers[tuple[Chunk, Path | None], Extracted],
    jobs: int,
    rows: int | None,
) -> Iterator[tuple[Chunk, Extracted | Future[Extracted]]]:
    """Yield each chunk with its values, or with the future of a worker that extracts it."""
    gauge, width, work = Gauge(rows), len(extraction.plan.names), extraction.work
    for group in groups:
        size = sum(map(len, group))
        file = work.file(group) if work else None
        finished = work.load(file, (size, width)) if work and file else None
        if finished is not None:
            gauge.add(size, None)
            yield group, Extracted(finished)
        elif workers.started or (jobs > 1 and gauge.pays(jobs)):
            gauge.add(size, None)
            yield group, workers.submit((group, file))
        else:
            started = time.perf_counter()
            extracted = extraction((group, file))
            gauge.add(size, time.perf_counter() - started)
            yield group, extracted
