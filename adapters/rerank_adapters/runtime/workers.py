"""Runs tasks in worker processes; all parallel work of this program goes through this module.

Workers are started by `spawn`, which is safe in a process with threads, or by `fork` where the caller allows it and
it is safe too (forking.py). Each worker has a pipe of its own, over which it gets one task at a time; workers share no
state, so that each can be killed at any moment. A thread of this process waits for each worker.

Workers live as long as this process needs them, and this process ends them. They ignore the signals that end a program,
because Ctrl-C in a terminal and the end of a batch job reach every process of it. If this process dies, even by
SIGKILL, a pipe closes: on Linux the kernel then kills the workers at once, even in native code; elsewhere a thread of
each worker does, as soon as native code lets it run.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Any, ClassVar, Generic, NamedTuple, NoReturn, Self, TypeVar

from rerank_adapters.runtime.forking import ENDING, may_fork, ready_to_fork, settle
from rerank_plugins import PluginError, RerankError
from rerank_plugins.core.intact_files import Identity, checked_files, trust
from rerank_plugins.core.loader import FILE_MODULE, import_file

PATIENCE = 5.0  # seconds within which a worker without work must end
LOOK = 1.0  # seconds between two checks of the parent process where the pipe cannot show its end

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Worker(NamedTuple):
    process: BaseProcess
    connection: Connection[Any, Any]


class Load(NamedTuple):
    """What another process needs to do some work.

    It is the pickle of the work, the files of plugins, and the model files whose checksums this process has verified.
    """

    pickled: bytes
    files: list[Path]
    checked: frozenset[Identity]

    @classmethod
    def of(cls, work: Callable[[Any], Any], name: str) -> Load:
        """What `work`, which messages call by `name`, needs. Raises PluginError where it cannot be pickled."""
        try:
            pickled = pickle.dumps(work)
        except Exception as error:  # the objects of plugins may raise anything
            raise PluginError(f"{name} cannot be sent to a worker process ({error}); jobs = 1 works") from error
        modules = [module for name, module in list(sys.modules.items()) if name.startswith(FILE_MODULE)]
        files = [Path(module.__file__) for module in modules if module.__file__ and Path(module.__file__).is_file()]
        return cls(pickled, files, checked_files())


class Workers(Generic[Item, Result]):
    """`jobs` processes that call `work` on items; they start when the first item is submitted.

    `work` is pickled once, and loaded once in each worker; with `fork`, workers have it as it is if that is safe, and
    start in no time. The `with` block ends the workers: at once if it is left by
    an exception (or, in a generator, by its closing), otherwise when all submitted items are done.
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
        return self._threads.submit(self._ask, item)

    def start(self) -> None:
        """Start the processes now rather than with the first item, as while this process may still fork.

        Raises PluginError where `work` cannot be pickled, and must be.
        """
        if not self._workers:
            self._start()

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

    def _start(self) -> None:
        if self.forks:
            self._start_forks()
        else:
            self._start_others()

    def _start_forks(self) -> None:
        context = multiprocessing.get_context("fork")
        with ready_to_fork():
            for _ in range(self._jobs):
                ours, theirs = context.Pipe()
                inherited = [ours, *(worker.connection for worker in self._workers)]
                process = context.Process(target=_serve_fork, args=(theirs, self._work, inherited, os.getpid()))
                process.start()
                theirs.close()
                self._workers.append(_Worker(process, ours))
                self._idle.put(self._workers[-1])

    def _start_others(self) -> None:
        parts = Load.of(self._work, self._name)
        context = multiprocessing.get_context("spawn")
        for _ in range(self._jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,))
            process.start()
            theirs.close()
            self._workers.append(_Worker(process, ours))
        for worker in self._workers:
            with suppress(OSError):  # it has ended already, which the first item will show
                _send(worker.connection, parts)
            self._idle.put(worker)

    def _ask(self, item: Item) -> Result:
        """In a thread of its own: send the item to the next idle worker, and wait for its answer."""
        worker = self._idle.get()
        try:
            _send(worker.connection, item)
            result, error = _received(worker.connection)
        except (EOFError, OSError):
            worker.process.join(LOOK)
            raise _lost(worker.process.exitcode) from None
        finally:
            self._idle.put(worker)
        if error is not None:
            raise error
        answer: Result = result
        return answer


def in_order(
    results: Iterable[tuple[Item, Result | Future[Result]]], most: int | Callable[[], int]
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with its result, in order, as soon as possible; at most `most` + 1 wait for earlier ones."""
    waiting: deque[tuple[Item, Result | Future[Result]]] = deque()
    for pair in results:
        waiting.append(pair)
        while waiting and (len(waiting) > _now(most) or _ready(waiting[0][1])):
            yield _finished(*waiting.popleft())
    while waiting:
        yield _finished(*waiting.popleft())


def as_finished(
    results: Iterable[tuple[Item, Result | Future[Result]]], most: int | Callable[[], int]
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with its result, whichever is ready first; at most `most` + 1 are waited for at a time."""
    waiting: dict[Future[Result], Item] = {}
    for item, result in results:
        if not isinstance(result, Future):
            yield item, result
            continue
        waiting[result] = item
        if len(waiting) > _now(most):
            yield from _next_finished(waiting)
    while waiting:
        yield from _next_finished(waiting)


def _now(most: int | Callable[[], int]) -> int:
    return most() if callable(most) else most


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


# The functions below run in a worker.


def _serve(connection: Connection[Any, Any]) -> None:
    """The main function of a worker: load the work, and answer each item by (result, error) until the pipe closes."""
    _ignore_signals()
    parent = multiprocessing.parent_process()
    assert parent is not None
    sentinel = int(parent.sentinel)  # the end of a pipe that becomes readable when the parent ends
    Thread(target=_watch, args=(sentinel, os.getppid()), daemon=True).start()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        parts = _received(connection)
    except (EOFError, OSError):
        return
    _kill_with_parent(sentinel)
    work, failure = attempt(load, parts)
    _answer(connection, work, failure)


def _serve_fork(
    connection: Connection[Any, Any], work: Callable[[Any], Any], inherited: list[Connection[Any, Any]], parent: int
) -> None:
    """The main function of a worker that is a fork: answer each item as `_serve` does."""
    settle(inherited, parent, _ignore_signals)
    _answer(connection, work, None)


def _ignore_signals() -> None:
    for number in ENDING:  # unlike SIG_IGN, programs that the work starts do not inherit a handler
        signal.signal(number, lambda number, frame: None)


def _answer(connection: Connection[Any, Any], work: Callable[[Any], Any], failure: BaseException | None) -> None:
    with suppress(EOFError, OSError):
        while True:
            item = _received(connection)
            answer = (None, failure) if failure else attempt(work, item)
            _, unsent = attempt(_send, connection, answer)
            if unsent:  # the result cannot be pickled, or the pipe is closed
                _send(connection, (None, unsent))


def _send(connection: Connection[Any, Any], value: object) -> None:
    """Send a value as bytes: `Connection.send` has a view of a buffer, which an error's traceback may keep too long."""
    connection.send_bytes(pickle.dumps(value))


def _received(connection: Connection[Any, Any]) -> Any:
    return pickle.loads(connection.recv_bytes())


def attempt(function: Callable[..., Any], *arguments: Any) -> tuple[Any, BaseException | None]:
    """The function's result and None, or None and the error, even if it is a KeyboardInterrupt or SystemExit."""
    try:
        return function(*arguments), None
    except BaseException as error:
        return None, sendable(error)


def load(parts: Load) -> Callable[[Any], Any]:
    """The work, in the process that shall do it. Raises PluginError for a file of a plugin that is not there."""
    trust(parts.checked)
    for file in parts.files:  # only our loader can import the modules of plugin files
        import_file(file)
    work: Callable[[Any], Any] = pickle.loads(parts.pickled)
    return work


def sendable(error: BaseException) -> BaseException:
    """The error with its traceback as a note; a RuntimeError with its text if it cannot be pickled."""
    note = "in a worker process:\n" + "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(note)
    return error


def _kill_with_parent(sentinel: int) -> None:
    """Let the kernel kill this process when its parent ends, as a thread cannot while native code holds Python's lock.

    The signal is sent for any event on the pipe, so the parent must have finished writing to it.
    """
    if sys.platform == "linux":
        import fcntl

        fcntl.fcntl(sentinel, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(sentinel, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(sentinel, fcntl.F_SETFL, fcntl.fcntl(sentinel, fcntl.F_GETFL) | os.O_ASYNC)
        if wait([sentinel], 0):  # the parent ended before the signal was requested
            os._exit(1)


def _watch(sentinel: int, parent: int) -> NoReturn:
    # A process that the parent has forked may hold the pipe open, so the parent's process id is checked too.
    while not wait([sentinel], LOOK) and os.getppid() == parent:
        pass
    os._exit(1)
