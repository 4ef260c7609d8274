"""Runs tasks in worker processes; all parallel work of this program goes through this module.

Each worker has a pipe of its own, over which it gets one task at a time; workers share no state, so that each can be
killed at any moment, which the queues of `concurrent.futures.ProcessPoolExecutor` would not allow. A thread of this
process waits for each worker. This process ends the workers, and they end with it (worker_process.py), or with the
thread that has started them.

Workers are started by `fork` where that is safe: then they have the loaded models and compiled kernels of this process
in shared memory; elsewhere by `spawn`. A fork copies locks as they are, so it is safe only where no other thread can
hold one: on Linux, in the main thread of a program without other threads, and without torch, whose threads do not
survive.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, nullcontext, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Generic, NamedTuple, Self, TypeVar

from rerank_adapters.runtime.worker_process import ENDING, packed, serve, serve_fork
from rerank_plugins import RerankError

PATIENCE = 5.0  # seconds within which a worker without work must end

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Worker(NamedTuple):
    process: BaseProcess
    connection: Connection[Any, Any]


class Workers(Generic[Item, Result]):
    """`jobs` processes that call `work` on items; they start when the first item is submitted.

    Forks have `work` as it is, and start in no time; for other workers it is pickled once, and loaded once in each. The
    `with` block ends the workers: at once if it is left by an exception (or, in a generator, by its closing), otherwise
    when all submitted items are done.
    """

    def __init__(self, work: Callable[[Item], Result], jobs: int, name: str) -> None:
        """Prepare workers; messages call `work` by `name`, for instance "the parser"."""
        self._work, self._jobs, self._name = work, jobs, name
        self._workers: list[_Worker] = []
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._threads = ThreadPoolExecutor(jobs, "workers")  # none has started
        self._kill = weakref.finalize(self, _kill, self._workers, os.getpid())  # at the end of the program, too

    @property
    def started(self) -> bool:
        """Whether the processes have been started."""
        return bool(self._workers)

    @property
    def forks(self) -> bool:
        """Whether workers that start now are forks, to which nothing need be sent or loaded."""
        return may_fork()

    def most(self) -> int:
        """How many tasks may wait for earlier ones while all workers are busy."""
        return 2 * self._jobs

    def submit(self, item: Item) -> Future[Result]:
        """The future result of `work` on the item, or the exception that it raises.

        The exception is a RerankError where the worker has died. Raises PluginError where `work` cannot be pickled.
        """
        self.start()
        return self._threads.submit(self._answer, item)

    def start(self) -> None:
        """Start the processes now rather than with the first item, as while this process may still fork.

        Raises PluginError where `work` cannot be pickled, and must be.
        """
        if self._workers:
            return
        forks = self.forks
        parts = b"" if forks else packed(self._work, self._name)
        context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        with _ready_to_fork() if forks else nullcontext():
            for _ in range(self._jobs):
                ours, theirs = context.Pipe()
                inherited = [ours, *(worker.connection for worker in self._workers)]
                more = (self._work, inherited) if forks else ()
                process = context.Process(target=serve_fork if forks else serve, args=(theirs, os.getpid(), *more))
                process.start()
                theirs.close()
                self._workers.append(_Worker(process, ours))
        for worker in self._workers:
            if parts:
                with suppress(OSError):  # it has ended already, which the first item will show
                    worker.connection.send_bytes(parts)
            self._idle.put(worker)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            if kind is None:
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
        self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()

    def _answer(self, item: Item) -> Result:
        """In a thread of its own: send the item to the next idle worker, and wait for its answer."""
        worker = self._idle.get()
        try:
            worker.connection.send_bytes(pickle.dumps(item))  # an error may keep the buffer of `send` for too long
            result, error = pickle.loads(worker.connection.recv_bytes())
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
    alone = threading.current_thread() is threading.main_thread() and threading.active_count() == 1
    return sys.platform == "linux" and alone and "torch" not in sys.modules


@contextmanager
def _ready_to_fork() -> Iterator[None]:
    """In the block, signals that end a program wait."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def collected(
    results: Iterable[tuple[Item, Future[Result]]], most: Callable[[], int], *, ordered: bool = True
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with its result as soon as possible, in order or, unless `ordered`, whichever is ready first.

    At most `most()` + 1 items are held.
    """
    waiting: list[tuple[Item, Future[Result]]] = []

    def ready(limit: int) -> Iterator[tuple[Item, Result]]:
        while waiting:
            futures = [future for _, future in waiting[: 1 if ordered else None]]
            if len(waiting) > limit:
                wait_for(futures, return_when=FIRST_COMPLETED)
            number = next((number for number, future in enumerate(futures) if future.done()), None)
            if number is None:
                return
            item, future = waiting.pop(number)
            yield item, future.result()

    for pair in results:
        waiting.append(pair)
        yield from ready(most())
    yield from ready(0)


def finished(result: Result) -> Future[Result]:
    """A future that has its result."""
    future: Future[Result] = Future()
    future.set_result(result)
    return future


def shared_out(work: Callable[[Item], Result], items: Sequence[Item], jobs: int, name: str) -> Iterator[Result]:
    """Yield the result of each item, in order: from forks, or, where these are not safe, from threads.

    This is for work on much data in memory, most of which is done by kernels that release the interpreter's lock.
    """
    if jobs == 1:
        yield from map(work, items)
        return
    with Workers(work, max(1, min(jobs, len(items))), name) as workers, ThreadPoolExecutor(jobs) as threads:
        if workers.forks:
            for future in [workers.submit(item) for item in items]:
                yield future.result()
        else:
            yield from threads.map(work, items)


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
