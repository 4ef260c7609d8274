"""Extracts chunks in this process or, where that is quicker, in worker processes, or on a cluster.

Workers are processes rather than threads, since KenLM and plain Python hold the interpreter's lock. Where they cannot
be forks of this process, each costs an interpreter and the loading of the models, so they start only when the expected
gain is larger. The first chunks, which are small, show how long a chunk and the loading take. Values that are known
from an earlier run are not extracted.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial

from rerank_adapters.chain.extraction.known_values import KnownValues, LookedUp
from rerank_adapters.chain.extraction.plan import Extracted, Plan, Task, extract_chunk
from rerank_adapters.runtime.cluster import ClusterWorkers, cluster_workers, on_cluster
from rerank_adapters.runtime.workers import Workers, as_finished, in_order
from rerank_plugins import FloatArray, NBestList

START = 2.0  # seconds that workers must gain, in which interpreters start and kernels are loaded again
FORKED = 0.2  # seconds that forks must gain
LOADED = 1.0  # seconds that a first chunk takes only if it is costly or has loaded what forks should have

Chunk = list[NBestList]
AnyWorkers = Workers[Task, Extracted] | ClusterWorkers[Task, Extracted]


@dataclass(frozen=True)
class Finished:
    """The lists of a chunk, its values (rows, columns), and the CPU seconds that each extractor took, by label.

    `number` counts chunks as they were handed in, from 0. Extractors whose values were known are not among `seconds`.
    """

    number: int
    nbests: Chunk
    values: FloatArray
    seconds: Mapping[str, float] = field(default_factory=dict)


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

    def pays(self, jobs: int, *, forks: bool = False) -> bool:
        """Whether workers gain more than they cost; `forks` have everything loaded, so that they cost little."""
        if forks and not self.measured:
            return self.loading > LOADED
        left = self.passed if self.rows is None else self.rows - self.passed
        pace = self.seconds / max(1, self.measured)
        return left * pace * (1 - 1 / jobs) > (FORKED if forks else START + self.loading)


def extract_groups(
    plan: Plan, groups: Iterable[Chunk], known: KnownValues, *, jobs: int, rows: int | None = None, ordered: bool = True
) -> Iterator[Finished]:
    """Yield each chunk with its values, in order or, unless `ordered`, when it is ready.

    At most 2 * jobs + 1 chunks are held, or twice as many as the cluster has workers. `rows` is the number of all
    hypotheses, where that is known.
    """
    collect = in_order if ordered else as_finished
    try:
        with _workers(plan, jobs) as workers:
            results = _shared_out(plan, groups, known, workers, jobs, rows)
            for (number, looked_up), extracted in collect(results, workers.most):
                values = known.add(looked_up, extracted)
                yield Finished(number, list(looked_up.nbests), values, extracted.seconds)
    finally:
        known.close()


def _workers(plan: Plan, jobs: int) -> AnyWorkers:
    work, name = partial(extract_chunk, plan), "an extractor"
    return cluster_workers(work, name) if on_cluster() else Workers(work, jobs, name, fork=True)


def _shared_out(
    plan: Plan,
    groups: Iterable[Chunk],
    known: KnownValues,
    workers: AnyWorkers,
    jobs: int,
    rows: int | None,
) -> Iterator[tuple[tuple[int, LookedUp], Extracted | Future[Extracted]]]:
    """Yield each chunk with its new values, or with the future of a worker that extracts them."""
    gauge = Gauge(rows)
    for number, group in enumerate(groups):
        looked_up, size = known.look_up(group), sum(map(len, group))
        item = number, looked_up
        alone = any(plan.extractors[label].one_process for label in looked_up.task.wanted)
        if not looked_up.task.wanted:
            gauge.add(size, None)
            yield item, Extracted({}, {})
        elif not alone and (workers.remote or workers.started or (jobs > 1 and gauge.pays(jobs, forks=workers.forks))):
            gauge.add(size, None)
            yield item, workers.submit(looked_up.task)
        else:
            started = time.perf_counter()
            extracted = extract_chunk(plan, looked_up.task)
            gauge.add(size, time.perf_counter() - started)
            yield item, extracted
