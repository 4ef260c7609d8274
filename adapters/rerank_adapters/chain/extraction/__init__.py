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
from rerank_adapters.formats.decoder_features import with_spare_columns
from rerank_adapters.runtime.cluster import ClusterWorkers, workers_for
from rerank_adapters.runtime.workers import Workers, collected, finished
from rerank_plugins import ConfigError, FeatureTable, FloatArray, NBestList, SparseBlock, __version__

SECONDS_TO_START = 2.0  # seconds that workers must gain, in which interpreters start and kernels are loaded again
FORKED = 0.2  # seconds that forks must gain, which have everything loaded

Chunk = list[NBestList]
Report = Callable[[int, Mapping[str, float]], None]  # (hypotheses done since the last call, CPU seconds by label)
AnyWorkers = Workers[Task, Extracted] | ClusterWorkers[Task, Extracted]


@dataclass
class WorkerEstimate:
    """Estimates whether workers would pay: the time for the remaining rows, against the time to start and load them."""

    rows: int | None  # all hypotheses; None where unknown: as many are expected as have been seen
    passed: int = 0
    timed: list[tuple[int, float]] = field(default_factory=list)  # rows and seconds of chunks

    def add(self, rows: int, seconds: float | None = None) -> None:
        """Count a chunk, and the seconds that it took if they are known."""
        self.passed += rows
        if seconds is not None:
            self.timed.append((rows, seconds))

    def workers_worthwhile(self, jobs: int, *, forks: bool = False) -> bool:
        """Whether workers, which may be `forks`, gain more than they cost."""
        loading = sum(seconds for _, seconds in self.timed[:1])  # the first chunk loads models and compiles kernels
        pace = sum(seconds for _, seconds in self.timed[1:]) / max(1, sum(rows for rows, _ in self.timed[1:]))
        left = self.passed if self.rows is None else self.rows - self.passed
        return left * pace * (1 - 1 / jobs) > (FORKED if forks else SECONDS_TO_START + loading)


def extract_groups(
    plan: Plan,
    groups: Iterable[Chunk],
    known: KnownValues,
    *,
    jobs: int,
    progress: Report,
    rows: int | None = None,
    ordered: bool = True,
) -> Iterator[tuple[int, Iterable[tuple[NBestList, FloatArray]]]]:
    """Yield the number of each chunk, from 0, and its lists with their values; unless `ordered`, when they are ready.

    At most 2 * jobs + 1 chunks are held, or twice as many as the cluster has workers. `rows` is the number of all
    hypotheses, where that is known. What was known before takes no CPU seconds.
    """
    try:
        with workers_for(partial(extract_chunk, plan), jobs, "an extractor") as workers:
            submitted = _submitted(plan, groups, known, workers, jobs, rows)
            for (number, looked_up), extracted in collected(submitted, workers.most, ordered=ordered):
                values, nbests = known.add(looked_up, extracted), looked_up.task.nbests
                progress(len(values), extracted.seconds)
                cuts = np.cumsum([len(nbest) for nbest in nbests])[:-1]
                yield number, zip(nbests, np.split(values, cuts), strict=True)
    finally:
        known.close()


def _submitted(
    plan: Plan, groups: Iterable[Chunk], known: KnownValues, workers: AnyWorkers, jobs: int, rows: int | None
) -> Iterator[tuple[tuple[int, LookedUp], Future[Extracted]]]:
    """Yield each chunk with its new values, which a worker may be extracting."""
    estimate = WorkerEstimate(rows)

    def extract_here(looked_up: LookedUp) -> Future[Extracted]:
        started = time.perf_counter()
        extracted = extract_chunk(plan, looked_up.task)
        estimate.add(len(looked_up.values), time.perf_counter() - started if looked_up.task.wanted else None)
        return finished(extracted)

    def may_be_shared(looked_up: LookedUp) -> bool:
        wanted = looked_up.task.wanted
        return bool(wanted) and not any(plan.extractors[label].one_process for label in wanted)

    items = enumerate(map(known.look_up, groups))
    first = list(islice(items, 2)) if jobs > 1 and workers.forks else []
    if len(first) == 2 and all(may_be_shared(looked_up) for _, looked_up in first):
        with Workers(partial(extract_chunk, plan, last_first=True), 1, "an extractor") as fork:
            second = fork.submit(first[1][1].task)
            yield first[0], extract_here(first[0][1])
            yield first[1], second
            estimate.add(len(first[1][1].values), sum(second.result().seconds.values()))
        first = []
    for number, looked_up in chain(first, items):
        if may_be_shared(looked_up) and (
            workers.started or (jobs > 1 and estimate.workers_worthwhile(jobs, forks=workers.forks))
        ):
            estimate.add(len(looked_up.values))
            yield (number, looked_up), workers.submit(looked_up.task)
        else:
            yield (number, looked_up), extract_here(looked_up)


def as_they_come(nbests: Iterable[NBestList], most: int = LARGEST) -> Iterator[list[NBestList]]:
    """Yield the lists in groups of one list, or of all that wait, up to about `most` hypotheses.

    An error of the reader is raised after the lists that came before it.
    """
    waiting: list[NBestList] = []
    end: Future[None] = Future()  # has the error of the reader if there is one
    changed = Condition()

    def read() -> None:
        try:
            for nbest in nbests:
                with changed:
                    changed.wait_for(lambda: sum(map(len, waiting)) < most)
                    waiting.append(nbest)
                    changed.notify_all()
            end.set_result(None)
        except BaseException as error:
            end.set_exception(error)
        with changed:
            changed.notify_all()

    Thread(target=read, name="lists", daemon=True).start()  # it may wait for input for ever
    while True:
        with changed:
            changed.wait_for(lambda: waiting or end.done())
            group = waiting.copy()
            waiting.clear()
            changed.notify_all()
        if not group:
            return end.result()
        yield group


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

    `decoder` is the table of the decoder's features of these lists; without it there are only new columns, and with
    room for these, they are written into its array. Values are
    taken from `cache` and kept there; those that must not outlive the job (known_values.py) are kept in `work`,
    so that an interrupted extraction can be continued: clear it when the table has been saved.
    Raises ConfigError for names that collide, PluginError for an extractor that breaks its contract.
    """
    offsets = np.cumsum([0, *map(len, nbests)], dtype=np.int64)
    ids, rows = tuple(nbest.segment_id for nbest in nbests), int(offsets[-1])
    if decoder is None:
        decoder = FeatureTable((), np.empty((rows, 0)), offsets, ids, SparseBlock.empty(rows))
    if decoder.segment_ids != ids or not np.array_equal(decoder.offsets, offsets):
        raise ConfigError("the decoder's table is not that of these n-best lists: their segments or sizes differ")
    plan.check(decoder.all_names)
    described = plan.describe()
    known = KnownValues(plan, cache, work)
    numbers = list(chunks_by_cost(nbests, jobs))
    groups = ([nbests[number] for number in group] for group in numbers)
    values = with_spare_columns(decoder.values, len(plan.names))
    for chunk, parts in extract_groups(plan, groups, known, jobs=jobs, progress=progress, rows=rows, ordered=False):
        for number, (_, part) in zip(numbers[chunk], parts, strict=True):
            values[offsets[number] : offsets[number + 1], decoder.values.shape[1] :] = part
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
    """Yield each list with its values (hypotheses, columns of the plan); some thousand hypotheses are held.

    Values are taken from `cache` and kept there. With `at_once`, each list is yielded as soon as it has come, however
    long the next one takes; this process alone works then.
    """
    plan.check()
    groups = as_they_come(nbests) if at_once else chunks(nbests)
    known = KnownValues(plan, cache, None)
    for _, lists in extract_groups(plan, groups, known, jobs=1 if at_once else jobs, progress=progress):
        yield from lists
