"""Chunks through all extractors, in order: in this process while that is quicker, in worker processes when it pays.

Processes, since KenLM and plain Python hold the interpreter's lock.
Workers cost an interpreter and the loading of the models, so they start only when the gain is larger: the first chunks,
which are small, tell how long a chunk takes and how long loading took.
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

START = 2.0  # seconds that must be gained: interpreters start, and kernels load again

Chunk = list[NBestList]


@dataclass
class Gauge:
    """Whether workers would pay: what is left, at the pace so far, against their start and loading."""

    rows: int | None  # all hypotheses, None where unknown: then as many are expected as have been seen
    loading: float = 0.0
    seconds: float = 0.0
    measured: int = 0
    passed: int = 0

    def add(self, rows: int, seconds: float | None) -> None:
        """Count a chunk; `seconds` is None for one that was not computed here."""
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
    """Each chunk with its values, in the order they came; at most 2 * jobs + 1 are held.

    A chunk that `work` has is taken from there, and finished ones are kept there.
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
    """What is done with a chunk, here or in a worker: it is extracted, and kept in `work`."""

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
    """Each chunk with its values, or with the promise of a worker."""
    gauge, width, work = Gauge(rows), len(extraction.plan.names), extraction.work
    for group in groups:
        size = sum(map(len, group))
        file = work.file(group) if work else None
        known = work.load(file, (size, width)) if work and file else None
        if known is not None:
            gauge.add(size, None)
            yield group, Extracted(known)
        elif workers.started or (jobs > 1 and gauge.pays(jobs)):
            gauge.add(size, None)
            yield group, workers.submit((group, file))
        else:
            started = time.perf_counter()
            extracted = extraction((group, file))
            gauge.add(size, time.perf_counter() - started)
            yield group, extracted
