"""Extracts features from n-best lists, into a table or as a stream.

Extractors of scope "text" see each distinct text of a list once. Tables are the same byte for byte, whatever the number
of processes and the chunks, whether or not the extraction was interrupted, and whatever is taken from a cache.

Lists that arrive one by one, as from a decoder, are read by a thread. While lists come slowly each of them is a group
of its own; while they come faster than they are processed, as many as are there make a group, up to a size, so that a
fast stream is processed in batches. What is read ahead is bounded.

Chunks are extracted in this process or, where that is quicker, in worker processes, or on a cluster. Workers are
processes rather than threads, since KenLM and plain Python hold the interpreter's lock. Where they cannot be forks of
this process, each costs an interpreter and the loading of the models, so they start only when the expected gain is
larger. The first chunks, which are small, show how long a chunk and the loading take. A fork extracts the second one,
the last feature first, while this process extracts the first: where kernels are not compiled yet, each of the two
compiles about half of them and loads the others. Values that are known from an earlier run are not extracted.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from threading import Condition, Thread

import numpy as np

from rerank_adapters.chain.extraction.known_values import KnownValues, LookedUp, of_lists
from rerank_adapters.chain.extraction.plan import LARGEST, Extracted, Plan, Task, chunks, chunks_by_cost, extract_chunk
from rerank_adapters.chain.extraction.value_cache import ValueCache
from rerank_adapters.runtime.cluster import ClusterWorkers, cluster_workers, on_cluster
from rerank_adapters.runtime.workers import Workers, as_finished, in_order
from rerank_plugins import ConfigError, FeatureTable, FloatArray, NBestList, SparseBlock, __version__

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
        """Count a chunk; `seconds` is None where it is not known how long it takes."""
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

    def extract_here(looked_up: LookedUp) -> Extracted:
        started = time.perf_counter()
        extracted = extract_chunk(plan, looked_up.task)
        gauge.add(len(looked_up.values), time.perf_counter() - started)
        return extracted

    def one_process(looked_up: LookedUp) -> bool:
        return any(plan.extractors[label].one_process for label in looked_up.task.wanted)

    items = enumerate(map(known.look_up, groups))
    first = list(islice(items, 2)) if jobs > 1 and not workers.remote and workers.forks else []
    if len(first) == 2 and all(each.task.wanted and not one_process(each) for _, each in first):
        with Workers(partial(extract_chunk, plan, last_first=True), 1, "an extractor", fork=True) as fork:
            second = fork.submit(first[1][1].task)
            yield first[0], extract_here(first[0][1])
            yield first[1], second.result()
            gauge.add(len(first[1][1].values), sum(second.result().seconds.values()))
        first = []
    for number, looked_up in chain(first, items):
        item = number, looked_up
        if not looked_up.task.wanted:
            gauge.add(len(looked_up.values), None)
            yield item, Extracted({}, {})
        elif not one_process(looked_up) and (
            workers.remote or workers.started or (jobs > 1 and gauge.pays(jobs, forks=workers.forks))
        ):
            gauge.add(len(looked_up.values), None)
            yield item, workers.submit(looked_up.task)
        else:
            yield item, extract_here(looked_up)


Report = Callable[[int, Mapping[str, float]], None]  # (hypotheses done since the last call, CPU seconds by label)


def as_they_come(nbests: Iterable[NBestList], most: int = LARGEST) -> Iterator[list[NBestList]]:
    """Yield the lists in groups of one list, or of all that wait, up to about `most` hypotheses.

    An error of the reader is raised after the lists that came before it.
    """
    waiting: deque[NBestList] = deque()
    ended: list[BaseException | None] = []  # at the end, the error of the reader if there is one
    changed = Condition()

    def read() -> None:
        error: BaseException | None = None
        try:
            for nbest in nbests:
                with changed:
                    changed.wait_for(lambda: sum(map(len, waiting)) < most)
                    waiting.append(nbest)
                    changed.notify_all()
        except BaseException as problem:
            error = problem
        with changed:
            ended.append(error)
            changed.notify_all()

    Thread(target=read, name="lists", daemon=True).start()  # it may wait for input for ever
    while True:
        with changed:
            changed.wait_for(lambda: waiting or ended)
            group = list(waiting)
            waiting.clear()
            changed.notify_all()
        if group:
            yield group
        elif ended[0] is not None:
            raise ended[0]
        else:
            return


def extract_features(
    nbests: Sequence[NBestList],
    plan: Plan,
    *,
    decoder: FeatureTable | None = None,
    jobs: int = 2,
    progress: Report = lambda rows, seconds: None,
    cache: ValueCache | None = None,
    work: ValueCache | None = None,
) -> FeatureTable:
    """The decoder's table with a column per component of each extractor, named `label` or `label.component`.

    `decoder` is the table of the decoder's features of these lists; without it there are only new columns. Values are
    taken from `cache` and kept there; those that must not outlive the job (known_values.py) are kept in `work`,
    so that an interrupted extraction can be continued: clear it when the table has been saved.
    Raises ConfigError for names that collide, PluginError for an extractor that breaks its contract.
    """
    offsets = np.cumsum([0, *map(len, nbests)], dtype=np.int64)
    ids = tuple(nbest.segment_id for nbest in nbests)
    if decoder is None:
        rows = int(offsets[-1])
        decoder = FeatureTable((), np.empty((rows, 0)), offsets, ids, SparseBlock.empty(rows))
    if decoder.segment_ids != ids or not np.array_equal(decoder.offsets, offsets):
        raise ConfigError("the decoder's table is not that of these n-best lists: their segments or sizes differ")
    plan.check(decoder.all_names)
    described = plan.describe()
    known = KnownValues(plan, cache, work)
    numbers = list(chunks_by_cost(nbests, jobs))
    groups = ([nbests[number] for number in group] for group in numbers)
    values = np.empty((int(offsets[-1]), decoder.values.shape[1] + len(plan.names)))
    values[:, : decoder.values.shape[1]] = decoder.values
    for finished in extract_groups(plan, groups, known, jobs=jobs, rows=int(offsets[-1]), ordered=False):
        cuts = np.cumsum([len(nbest) for nbest in finished.nbests])[:-1]
        for number, part in zip(numbers[finished.number], np.split(finished.values, cuts), strict=True):
            values[offsets[number] : offsets[number + 1], decoder.values.shape[1] :] = part
        progress(len(finished.values), finished.seconds)
    provenance = {
        **decoder.provenance,
        "version": __version__,
        "lists": of_lists(nbests, around=False),
        "features": described,
    }
    return FeatureTable(decoder.names + plan.names, values, offsets, ids, decoder.sparse, provenance)


def stream_features(
    nbests: Iterable[NBestList],
    plan: Plan,
    *,
    jobs: int = 2,
    progress: Report = lambda rows, seconds: None,
    cache: ValueCache | None = None,
    at_once: bool = False,
) -> Iterator[tuple[NBestList, FloatArray]]:
    """Yield each list with its values (hypotheses, columns of `feature_names`); some thousand hypotheses are held.

    Values are taken from `cache` and kept there. With `at_once`, each list is yielded as soon as it has come, however
    long the next one takes; this process alone works then.
    """
    plan.check()
    groups = as_they_come(nbests) if at_once else chunks(nbests)
    for finished in extract_groups(plan, groups, KnownValues(plan, cache, None), jobs=1 if at_once else jobs):
        progress(len(finished.values), finished.seconds)
        cuts = np.cumsum([len(nbest) for nbest in finished.nbests])[:-1]
        yield from zip(finished.nbests, np.split(finished.values, cuts), strict=True)
