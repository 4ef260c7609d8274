"""One way to run work elsewhere: an executor of forks, of new processes, or of a Dask cluster.

The first task is done by this process, which loads the models: forks share them and the compiled kernels. A fork copies
locks as they are, so that it is safe on Linux alone, in the main thread of a program without other threads, and without
torch, whose threads do not survive; elsewhere processes are spawned, and load the work again. Workers leave the signals
that end a program to it, and end with it: by the kernel, even if the program is killed.

On a cluster, whose scheduler the user has started, all tasks are done by its workers; a task whose worker dies runs
again on another one. Pickles travel both ways, so that anyone who can reach the scheduler can run any program there:
Dask's TLS (`tls://`) or a network of its own must protect it.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from rerank_plugins import ConfigError, PluginError, RerankError, __version__
from rerank_plugins.core.files import FILE_MODULE, without_cache
from rerank_plugins.core.loader import import_file
from rerank_plugins.kit.files.standard_streams import send_stdout_to_stderr

ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
PR_SET_PDEATHSIG = 1
SECONDS_TO_ANSWER = 10.0  # within which the scheduler of a cluster must answer
SECONDS_TO_LOOK = 1.0  # between two looks at the parent process
TASKS_OF_WORKER = 2  # that are under way or wait for earlier ones

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Processes:
    """Where work is done: by `jobs` processes of this machine, or by the Dask cluster of a scheduler."""

    jobs: int = 1
    scheduler: str = ""

    def results(
        self, work: Callable[[Item], Result], tasks: Iterable[Item], *, ordered: bool = False
    ) -> Iterator[Result]:
        """Yield the result of each task, in the order of tasks or whichever is ready first; only some tasks are held.

        Raises what `work` raises, RerankError where a worker has died or the cluster has ended, ConfigError where no
        scheduler answers, and PluginError where the work cannot be sent to another process.
        """
        rest = iter(tasks)
        if not self.scheduler:
            for task in rest if self.jobs == 1 else islice(rest, 1):
                yield work(task)
        if not (second := list(islice(rest, 1))):
            return
        waiting: list[Future[Result]] = []
        with self._workers(work) as (submit, most):
            for task in chain(second, rest):
                waiting.append(submit(task))
                if len(waiting) > most:
                    yield _next(waiting, ordered)
            while waiting:
                yield _next(waiting, ordered)

    def shared_results(
        self,
        work: Callable[[Item], Result],
        tasks: Iterable[Item],
        done: Callable[[Item], None] = lambda task: None,
    ) -> list[Result]:
        """The results of a few tasks on much data in memory, in the order of the tasks.

        All are done on this machine, by forks of this process, which share the data. Where forks are not safe, threads
        take their place: most of such work is done by kernels that release the interpreter's lock. `done` is called
        with each task that has been done, whichever is ready first. Raises what `work` raises, and RerankError where a
        worker has died.
        """
        given, results = list(tasks), []
        workers = min(self.jobs, len(given))
        if workers < 2:
            for task in given:
                results.append(work(task))
                done(task)
            return results
        executor: Executor = ThreadPoolExecutor(workers)  # which starts no thread before the first task
        do: Callable[[Item], Result] = work
        if may_fork():
            executor, do = ProcessPoolExecutor(workers, get_context("fork"), _begin, (os.getpid(), work)), _do
        with _ended_at_once(executor):
            futures = {executor.submit(do, task): task for task in given}
            for future in as_completed(futures):
                _next([future], ordered=True)  # raises what the task has raised
                done(futures[future])
        return [future.result() for future in futures]

    @contextmanager
    def _workers(self, work: Callable[[Item], Result]) -> Iterator[tuple[Callable[[Item], Future[Result]], int]]:
        """A function that submits a task, and how many tasks may be submitted before one must be done."""
        if self.scheduler:
            client = _client(self.scheduler)
            parts = client.submit(bytes, _packed(work), pure=False)  # a task itself, so that it outlives a worker
            workers = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
            with _ended_at_once(client.get_executor(pure=False)) as executor:
                yield lambda task: executor.submit(_on_cluster, parts, pickle.dumps(task)), TASKS_OF_WORKER * workers
            return
        forks = may_fork()
        context = get_context("fork" if forks else "spawn")
        given: tuple[Any, ...] = (os.getpid(), work if forks else _packed(work))
        with _ended_at_once(ProcessPoolExecutor(self.jobs, context, _begin, given)) as executor:
            yield lambda task: executor.submit(_do, task), TASKS_OF_WORKER * self.jobs


HERE = Processes()


def may_fork() -> bool:
    """Whether a fork of this process is safe."""
    alone = threading.current_thread() is threading.main_thread() and threading.active_count() == 1
    return sys.platform == "linux" and alone and "torch" not in sys.modules


def _next(waiting: list[Future[Result]], ordered: bool) -> Result:
    """Take the result of the first task, or of one that is ready. Raises what the task raises, and RerankError."""
    wait(waiting[:1] if ordered else waiting, return_when=FIRST_COMPLETED)
    future = waiting.pop(next(place for place, future in enumerate(waiting) if future.done()))
    try:
        return future.result()
    except BrokenProcessPool:
        raise RerankError(
            "a worker process ended early: out of memory, or called from a script that is not under"
            " `if __name__ == '__main__':` (jobs = 1 works without workers)"
        ) from None
    except CancelledError:
        raise RerankError("the cluster has ended, or its scheduler was started again") from None
    except Exception as error:
        if type(error).__module__.startswith("distributed."):
            raise RerankError(f"the cluster cannot do a task ({type(error).__name__}: {error})") from None
        raise


@contextmanager
def _ended_at_once(executor: Executor) -> Iterator[Executor]:
    """The executor, which drops its tasks where the block is left by an exception or a closed generator."""
    with executor:
        try:
            yield executor
        except BaseException:
            if isinstance(executor, ProcessPoolExecutor):
                for process in list((executor._processes or {}).values()):  # `kill_workers` of Python 3.14
                    process.kill()
            elif isinstance(executor, ThreadPoolExecutor):
                executor.shutdown(cancel_futures=True)
            else:
                executor.shutdown(wait=False)
            raise


def _begin(parent: int, work: Callable[[Any], Any] | bytes) -> None:
    """In a worker: keep the work, leave the signals that end a program to the parent, and end with it."""
    global _work  # noqa: PLW0603
    send_stdout_to_stderr()
    gc.freeze()  # a fork does not touch what it shares
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for number in ENDING:  # unlike SIG_IGN, programs that the work starts do not inherit a handler
        signal.signal(number, lambda number, frame: None)
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    else:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    if os.getppid() != parent:  # it ended before
        os._exit(1)
    from threadpoolctl import ThreadpoolController

    ThreadpoolController().limit(limits=1)
    try:
        _work = _unpacked(work) if isinstance(work, bytes) else work
    except Exception as error:  # is raised by the first task
        _work = partial(_fail, error)


def _watch(parent: int) -> None:
    """End this process with its parent, as soon as native code lets the thread run."""
    while os.getppid() == parent:
        time.sleep(SECONDS_TO_LOOK)
    os._exit(1)


def _do(task: Any) -> Any:
    return _work(task)


def _fail(error: Exception, task: Any) -> None:  # noqa: ARG001
    raise error


_work: Callable[[Any], Any]


def _packed(work: Callable[[Any], Any]) -> bytes:
    """The work and the files of plugins that it names, for another process.

    Raises PluginError where it cannot be pickled.
    """
    try:
        pickled = pickle.dumps(work)
    except Exception as error:  # the objects of plugins may raise anything
        raise PluginError(f"an object cannot be sent to a worker process ({error}); jobs = 1 works") from error
    named = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith(FILE_MODULE) and name.encode() in pickled
    ]
    files = [Path(module.__file__) for module in named if module.__file__ and Path(module.__file__).is_file()]
    return pickle.dumps((__version__, Path.cwd(), files, pickled))


@lru_cache(2)
def _unpacked(parts: bytes) -> Callable[[Any], Any]:
    """The work. Raises PluginError on a machine with another version of this program or without the folder."""
    version, folder, files, pickled = pickle.loads(parts)
    if version != __version__:
        raise PluginError(f"a worker has rerank-plugins {__version__}, expected {version}")
    if not folder.is_dir():
        raise PluginError(f"a worker has no folder {folder}: it must be on storage that machines share")
    os.chdir(folder)
    for file in files:  # only our loader can import the modules of plugin files
        import_file(file)
    work: Callable[[Any], Any] = pickle.loads(pickled)
    return work


_one_at_a_time = threading.Lock()


def _on_cluster(parts: bytes, task: bytes) -> Any:
    """In a worker of a cluster, which may have several threads: one task at a time, in the folder of the command."""
    with _one_at_a_time, chdir(Path.cwd()), without_cache():  # SQLite's locks do not hold on a shared file system
        return _unpacked(parts)(pickle.loads(task))


@lru_cache
def _client(scheduler: str) -> Any:
    """The connection to a scheduler. Raises ConfigError where none answers, PluginError where Dask is missing."""
    try:
        import distributed
    except ImportError:
        raise PluginError(f"scheduler {scheduler}: Dask is not installed: pip install 'rerank-plugins[dask]'") from None
    for name in ("distributed", "distributed.client"):  # an error that ends a command has one line
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return distributed.Client(scheduler, timeout=SECONDS_TO_ANSWER, set_as_default=False)  # type: ignore[no-untyped-call, unused-ignore]
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"scheduler {scheduler}: no Dask scheduler answers at this address ({error})") from None
