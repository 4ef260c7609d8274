"""Runs tasks in worker processes; all parallel work of this program goes through this module.

Each worker has a pipe of its own, over which it gets one task at a time; workers share no state, so that each can be
killed at any moment, which the queues of `concurrent.futures.ProcessPoolExecutor` would not allow. A thread of this
process waits for each worker. This process ends the workers, and they end with it (worker_process.py), or with the
thread that has started them.

Workers are started by `spawn` or, where the caller allows it, by `fork`: then they have the loaded models and compiled
kernels of this process in shared memory. A fork copies locks as they are, so it is safe only where no other thread can
hold one: on Linux, in the main thread of a program whose only other threads belong to displays of progress, which are
paused meanwhile, and without torch, whose threads do not survive.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from types import TracebackType
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from rerank_adapters.runtime.progress import paused
from rerank_adapters.runtime.worker_process import ENDING, Load, received, send, serve, serve_fork
from rerank_plugins import RerankError

PATIENCE = 5.0  # seconds within which a worker without work must end

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Worker(NamedTuple):
    process: BaseProcess
    connection: Connection[Any, Any]


class Workers(Generic[Item, Result]):
    """`jobs` processes that call `work` on items; they start when the first item is submitted.

    `work` is pickled once, and loaded once in each worker; with `fork`, workers have it as it is if that is safe, and
    start in no time. The `with` block ends the workers: at once if it is left by an exception (or, in a generator, by
    its closing), otherwise when all submitted items are done.
    """

    remote: ClassVar[bool] = False  # whether they are those of a cluster (cluster.py)

    def __init__(self, work: Callable[[Item], Result], jobs: int, name: str, *, fork: bool = False) -> None:
        """Prepare workers; messages call `work` by `name`, for instance "the parser"."""
        self._work, self._jobs, self._name, self._fork = work, jobs, name, fork
        self._workers: list[_Worker] = []
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._threads: ThreadPoolExecutor | None = None
        self._kill = weakref.finalize(self, _kill, self._workers, os.getpid())  # at the end of the program, too

    @property
    def started(self) -> bool:
        """Whether the processes have been started."""
        return bool(self._workers)

    @property
    def forks(self) -> bool:
        """Whether workers that start now are forks, to which nothing need be sent or loaded."""
        return self._fork and may_fork()

    def most(self) -> int:
        """How many tasks may wait for earlier ones while all workers are busy."""
        return 2 * self._jobs

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers that were started."""
        return [worker.process.pid for worker in self._workers if worker.process.pid is not None]

    def submit(self, item: Item) -> Future[Result]:
        """The future result of `work` on the item, or the exception that it raises.

        The exception is a RerankError where the worker has died. Raises PluginError where `work` cannot be pickled.
        """
        self.start()
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._jobs, "workers")
        return self._threads.submit(self._answer, item)

    def start(self) -> None:
        """Start the processes now rather than with the first item, as while this process may still fork.

        Raises PluginError where `work` cannot be pickled, and must be.
        """
        if not self._workers:
            self._start_forks() if self.forks else self._start_others()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            if kind is None and self._threads:
                self._threads.shutdown()
                for worker in self._workers:
                    worker.connection.close()  # the end of its work
                for worker in self._workers:
                    worker.process.join(PATIENCE)
        finally:
            self.stop()

    def stop(self) -> None:
        """End the workers at once, whatever they are doing."""
        self._kill()
        if self._threads:
            self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()

    def _start_forks(self) -> None:
        context = multiprocessing.get_context("fork")
        with _ready_to_fork():
            for _ in range(self._jobs):
                ours, theirs = context.Pipe()
                inherited = [ours, *(worker.connection for worker in self._workers)]
                process = context.Process(target=serve_fork, args=(theirs, self._work, inherited, os.getpid()))
                process.start()
                theirs.close()
                self._workers.append(_Worker(process, ours))
                self._idle.put(self._workers[-1])

    def _start_others(self) -> None:
        parts = Load.of(self._work, self._name)
        context = multiprocessing.get_context("spawn")
        for _ in range(self._jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(theirs, os.getpid()))
            process.start()
            theirs.close()
            self._workers.append(_Worker(process, ours))
        for worker in self._workers:
            with suppress(OSError):  # it has ended already, which the first item will show
                send(worker.connection, parts)
            self._idle.put(worker)

    def _answer(self, item: Item) -> Result:
        """In a thread of its own: send the item to the next idle worker, and wait for its answer."""
        worker = self._idle.get()
        try:
            send(worker.connection, item)
            result, error = received(worker.connection)
        except (EOFError, OSError):
            worker.process.join(PATIENCE)
            raise _lost(worker.process.exitcode) from None
        finally:
            self._idle.put(worker)
        if error is not None:
            raise error
        answer: Result = result
        return answer


def may_fork() -> bool:
    """Whether a fork of this process is safe."""
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    return (
        sys.platform == "linux"
        and threading.current_thread() is threading.main_thread()
        and "torch" not in sys.modules
        and all(isinstance(t, threading.Timer) or type(t).__module__.startswith("rich.") for t in others)
    )


@contextmanager
def _ready_to_fork() -> Iterator[None]:
    """In the block, displays of progress are paused, and signals that end a program wait."""
    with paused():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def in_order(
    results: Iterable[tuple[Item, Result | Future[Result]]], most: Callable[[], int]
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with its result, in order, as soon as possible; at most `most()` + 1 wait for earlier ones."""
    waiting: deque[tuple[Item, Result | Future[Result]]] = deque()
    for pair in results:
        waiting.append(pair)
        while waiting and (len(waiting) > most() or _ready(waiting[0][1])):
            yield _finished(*waiting.popleft())
    while waiting:
        yield _finished(*waiting.popleft())


def in_processes(
    work: Callable[[Item], Result], items: Iterable[Item], jobs: int, name: str, *, fork: bool = False
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with its result, in order. This process does the first one, and workers start for the others.

    `name` and `fork` are those of Workers; at most 2 * jobs + 1 items are held.
    """

    def shared_out() -> Iterator[tuple[Item, Result | Future[Result]]]:
        for number, item in enumerate(items):
            yield item, work(item) if number == 0 or jobs == 1 else workers.submit(item)

    with Workers(work, jobs, name, fork=fork) as workers:
        yield from in_order(shared_out(), workers.most)


def shared_out(work: Callable[[Item], Result], items: Sequence[Item], jobs: int, name: str) -> Iterator[Result]:
    """Yield the result of each item, in order: from forks, or, where these are not safe, from threads.

    This is for work on much data in memory, most of which is done by kernels that release the interpreter's lock.
    """
    if jobs == 1:
        yield from map(work, items)
        return
    with Workers(work, min(jobs, len(items)), name, fork=True) as workers, ThreadPoolExecutor(jobs) as threads:
        if workers.forks:
            for future in [workers.submit(item) for item in items]:
                yield future.result()
        else:
            yield from threads.map(work, items)


def as_finished(
    results: Iterable[tuple[Item, Result | Future[Result]]], most: Callable[[], int]
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with its result, whichever is ready first; at most `most()` + 1 are waited for at once."""
    waiting: dict[Future[Result], Item] = {}
    for item, result in results:
        if not isinstance(result, Future):
            yield item, result
            continue
        waiting[result] = item
        if len(waiting) > most():
            yield from _next_finished(waiting)
    while waiting:
        yield from _next_finished(waiting)


def _next_finished(waiting: dict[Future[Result], Item]) -> Iterator[tuple[Item, Result]]:
    """Wait for one or more results, and take them out of `waiting`."""
    for future in wait_for(waiting, return_when=FIRST_COMPLETED).done:
        yield waiting.pop(future), future.result()


def _ready(result: Result | Future[Result]) -> bool:
    return not isinstance(result, Future) or result.done()


def _finished(item: Item, result: Result | Future[Result]) -> tuple[Item, Result]:
    return item, result.result() if isinstance(result, Future) else result


def _lost(code: int | None) -> RerankError:
    how = "" if code is None else f" (signal {-code})" if code < 0 else f" (exit code {code})"
    return RerankError(
        f"a worker process ended early{how}: out of memory, or called from a script that is not under"
        " `if __name__ == '__main__':` (jobs = 1 works without workers)"
    )


def _kill(workers: list[_Worker], owner: int) -> None:
    """Kill the processes; in a fork of the process that owns them, do nothing."""
    if os.getpid() == owner:
        for worker in workers:
            worker.process.kill()
