"""Chunks through all extractors, in order: in this process while that is quicker, in worker processes when it pays.

Processes, since KenLM and plain Python hold the interpreter's lock; started by `spawn`, which is safe beside threads.
Workers cost an interpreter and the loading of the models, so they start only when the gain is larger: the first chunks,
which are small, tell how long a chunk takes and how long loading took.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from rerank_adapters.extraction.chunk import Extracted, extract_chunk
from rerank_adapters.extraction.plan import Plan
from rerank_adapters.extraction.work import WorkFolder
from rerank_plugins import NBestList, PluginError, RerankError
from rerank_plugins.plugins import FILE_MODULE, import_file

START = 2.0  # seconds that must be gained: interpreters start, and kernels load again

Chunk = list[NBestList]
_plan: Plan | None = None  # in a worker: what it extracts


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
    waiting: deque[tuple[Chunk, Extracted | Future[Extracted]]] = deque()
    executor: ProcessPoolExecutor | None = None
    gauge, width = Gauge(rows), len(plan.names)
    try:
        for group in groups:
            size = sum(map(len, group))
            file = work.file(group) if work else None
            known = work.load(file, (size, width)) if work and file else None
            if known is not None:
                waiting.append((group, Extracted(known)))
                gauge.add(size, None)
            elif executor or (jobs > 1 and gauge.pays(jobs)):
                executor = executor or _start(plan, jobs)
                waiting.append((group, executor.submit(_in_worker, group, work, file)))
                gauge.add(size, None)
            else:
                started = time.perf_counter()
                waiting.append((group, _extract(plan, group, work, file)))
                gauge.add(size, time.perf_counter() - started)
            while waiting and (len(waiting) > 2 * jobs or _ready(waiting[0][1])):
                yield _finished(*waiting.popleft())
        while waiting:
            yield _finished(*waiting.popleft())
        if executor:
            executor.shutdown()  # nothing runs any more; left to the interpreter's end, its pipe may be closed twice
    except BrokenProcessPool:
        raise RerankError(
            "a worker process ended early: out of memory, or called from a script that is not under"
            " `if __name__ == '__main__':` (jobs = 1 works without workers)"
        ) from None
    finally:
        if executor:
            executor.shutdown(wait=False, cancel_futures=True)


def _extract(plan: Plan, group: Chunk, work: WorkFolder | None, file: Path | None) -> Extracted:
    extracted = extract_chunk(plan, group)
    if work and file:
        work.save(file, extracted.values)
    return extracted


def _ready(result: Extracted | Future[Extracted]) -> bool:
    return isinstance(result, Extracted) or result.done()


def _finished(group: Chunk, result: Extracted | Future[Extracted]) -> tuple[Chunk, Extracted]:
    return group, result if isinstance(result, Extracted) else result.result()


def _start(plan: Plan, jobs: int) -> ProcessPoolExecutor:
    try:
        pickled = pickle.dumps(plan)
    except Exception as error:  # whatever a stranger's object raises
        raise PluginError(f"an extractor cannot be sent to a worker process ({error}); jobs = 1 works") from error
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(FILE_MODULE)]
    files = [Path(module.__file__) for module in modules if module.__file__ and Path(module.__file__).is_file()]
    return ProcessPoolExecutor(jobs, get_context("spawn"), _initialise, (pickled, files))


def _initialise(pickled: bytes, files: Sequence[Path]) -> None:
    """Make a process a worker: Ctrl-C ends it at once and silently, and models keep to one thread."""
    global _plan  # noqa: PLW0603 -- a process pool has no other place for what all its tasks share
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for file in files:  # the modules of plugin files have names that only the loader can import
        import_file(file)
    _plan = pickle.loads(pickled)


def _in_worker(group: Chunk, work: WorkFolder | None, file: Path | None) -> Extracted:
    assert _plan is not None  # _initialise
    return _extract(_plan, group, work, file)
