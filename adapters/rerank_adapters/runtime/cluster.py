"""Runs the tasks of worker processes on a Dask cluster instead, whose scheduler the user names.

In the block of `using_cluster`, `workers_for` returns workers of the cluster, not processes of this machine. Users
start the cluster, as they always do; this program only connects to its scheduler. A task whose worker dies runs again
on another one. What a task needs to load (`work`) is a task of the cluster itself, so that it too outlives a worker.

A worker of Dask may have several threads, but runs one of these tasks at a time, since they share models and memory.
Pickles travel both ways, so that anyone who can reach the scheduler can run any program on the cluster: Dask's TLS
(`tls://`) or a network of its own must protect it. Not supported: workers with another version of Python or of this
program, and files that have different paths on different machines.
"""

from __future__ import annotations

import logging
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import chdir, contextmanager, nullcontext, suppress
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, Self, TypeVar

from rerank_adapters.runtime.worker_process import answer, packed, unpacked
from rerank_adapters.runtime.workers import Workers
from rerank_plugins import ConfigError, PluginError, RerankError, __version__

logger = logging.getLogger(__name__)

PATIENCE = 10.0  # seconds within which the scheduler must answer
COUNTED = 5.0  # seconds between two counts of the workers
LOADED = 2  # the latest works that a worker keeps
SLACK = 2  # tasks for each worker that are under way or wait for earlier ones

Item = TypeVar("Item")
Result = TypeVar("Result")
Client = Any  # distributed.Client, whose methods have no types

_schedulers: list[str] = []
_clients: dict[str, Client] = {}
_one_at_a_time = threading.Lock()


@contextmanager
def using_cluster(scheduler: str) -> Iterator[None]:
    """In the block, work is shared out over the cluster of the scheduler at this address (`tcp://host:8786`)."""
    _schedulers.append(scheduler)
    try:
        yield
    finally:
        _schedulers.pop()


def scheduler_in_use() -> str:
    """The address of the scheduler whose cluster is in use; empty without one."""
    return _schedulers[-1] if _schedulers else ""


def workers_for(
    work: Callable[[Item], Result], jobs: int, name: str
) -> Workers[Item, Result] | ClusterWorkers[Item, Result]:
    """The workers of the cluster in use or, without one, `jobs` processes; messages call `work` by `name`."""
    return ClusterWorkers(work, _schedulers[-1], name) if _schedulers else Workers(work, jobs, name)


class ClusterWorkers(Generic[Item, Result]):
    """The workers of a cluster, which call `work` on items; the interface is that of Workers.

    The `with` block cancels what has not been done if it is left by an exception, and waits for it otherwise.
    """

    started: ClassVar[bool] = True  # they run whether there is work or not
    forks: ClassVar[bool] = False

    def __init__(self, work: Callable[[Item], Result], scheduler: str, name: str) -> None:
        """Prepare to call `work`; messages call it by `name`, for instance "the parser"."""
        self._work, self._scheduler, self._name = work, scheduler, name
        self._client: Client | None = None
        self._payload: Any = None  # the future of the pickle that each task needs
        self._tasks: dict[Any, Future[Result]] = {}  # by future of Dask, what has not been done
        self._counted, self._workers = float("-inf"), 1  # when the workers were counted, and how many there were

    def most(self) -> int:
        """How many tasks may wait for earlier ones while all present workers are busy; workers may become more."""
        if self._client is not None and time.monotonic() - self._counted > COUNTED:
            self._workers = max(1, len(_workers_of(self._client)))
            self._counted = time.monotonic()
        return SLACK * self._workers

    def start(self) -> Client:
        """Connect to the scheduler, and send it the work.

        Raises ConfigError where none answers, and PluginError where Dask is missing or `work` cannot be pickled.
        """
        if self._client is None:
            payload = pickle.dumps((__version__, Path.cwd(), packed(self._work, self._name)))
            client = _client(self._scheduler)
            self._payload = client.submit(bytes, payload, pure=False)
            self._client = client
        return self._client

    def submit(self, item: Item) -> Future[Result]:
        """The future result of `work` on the item, or the exception that it raises.

        The exception is a RerankError where the task has killed its workers or the cluster has ended. Raises as `start`
        does.
        """
        client = self.start()
        future: Future[Result] = Future()
        future.set_running_or_notify_cancel()
        task = client.submit(_perform, self._payload, pickle.dumps(item), pure=False)
        self._tasks[task] = future
        task.add_done_callback(self._collect)
        return future

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is None:
            wait_for(list(self._tasks.values()))
        self.stop()

    def stop(self) -> None:
        """Cancel what has not been done."""
        tasks, self._tasks = self._tasks, {}
        if self._client is not None and tasks:
            with suppress(Exception):  # the cluster may have ended
                self._client.cancel(list(tasks), force=True)
        self._client = self._payload = None

    def _collect(self, task: Any) -> None:
        """In a thread of the client: pass on what has become of a task."""
        future = self._tasks.pop(task, None)
        if future is None:  # stopped
            return
        try:
            result, error = pickle.loads(task.result())
        except BaseException as failure:
            result, error = None, self._explained(failure)
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def _explained(self, failure: BaseException) -> RerankError:
        """The error for a task that has no result."""
        from distributed import KilledWorker

        where, kind = f"the cluster at {self._scheduler}", type(failure).__name__
        if isinstance(failure, KilledWorker):
            times = failure.allowed_failures + 1
            return RerankError(f"{where}: {times} workers ended during one task of {self._name}: out of memory?")
        if "Cancelled" in kind or isinstance(failure, OSError):  # a lost connection, too, is an OSError
            return RerankError(f"{where} has ended, or its scheduler was started again")
        return RerankError(
            f"{where}: a worker cannot run {self._name} ({kind}: {failure}): its Python and its packages must be those"
            " of this machine"
        )


def _client(scheduler: str) -> Client:
    """The connection to a scheduler, which lasts as long as this process. Raises ConfigError, PluginError."""
    client = _clients.get(scheduler)
    if client is not None and client.status == "running":
        return client
    try:
        import distributed
    except ImportError:
        raise PluginError(f"scheduler {scheduler}: Dask is not installed: pip install 'rerank-plugins[dask]'") from None
    try:
        client = distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False)  # type: ignore[no-untyped-call, unused-ignore]
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"scheduler {scheduler}: no Dask scheduler answers at this address ({error})") from None
    for name in ("distributed", "distributed.client"):  # an error that ends a command has one line
        logging.getLogger(name).setLevel(logging.CRITICAL)
    _clients[scheduler] = client
    workers = _workers_of(client)
    if not workers:
        logger.info("the cluster at %s has no workers yet: tasks wait for them", scheduler)
    if several := sum(worker["nthreads"] > 1 for worker in workers):
        threads = "have several threads, of which one is used: start them with --nthreads 1"
        logger.info("%d of %d workers of the cluster %s", several, len(workers), threads)
    return client


def _workers_of(client: Client) -> list[dict[str, Any]]:
    try:
        return list(client.scheduler_info(n_workers=-1)["workers"].values())
    except OSError as error:
        raise RerankError(f"the cluster has ended ({error})") from None


# The functions below run in a worker of the cluster.

_loaded = lru_cache(LOADED)(unpacked)


def _perform(payload: bytes, item: bytes) -> bytes:
    """The pickle of (result, error) of a task, done in the folder of the command, to which paths are relative."""
    version, folder, parts = pickle.loads(payload)

    def work() -> Callable[[Any], Any]:
        if version != __version__:
            raise PluginError(f"a worker of the cluster has rerank-plugins {__version__}, wanted {version}")
        if not folder.is_dir():
            raise PluginError(
                f"a worker of the cluster has no folder {folder}: it must be on storage that machines share"
            )
        return _loaded(parts)

    with _one_at_a_time, chdir(folder) if folder.is_dir() else nullcontext():
        return answer(work, item)
