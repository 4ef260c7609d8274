"""Processes that rerank, behind a bounded queue; one that exceeds the time of its request or dies is replaced.

Each process has an executor of its own, so that the end of one concerns no request but that in its work. The answer
depends on the request alone: a request whose process died is given to another one, once.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from typing import NamedTuple

from rerank_adapters.applications.serving.bodies import Request
from rerank_adapters.applications.serving.worker import NAMES, Answer, Served, answer, begin, loaded, say

PRELOADED = "rerank_adapters.applications.serving.preloaded"
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has no other
MAX_DEATHS = 2  # of processes, after which a request has failed
SECONDS_TO_RESTART = 1.0  # seconds between two attempts to start a process


class Full(Exception):
    """As many requests wait as are allowed."""


class Died(Exception):
    """The processes that worked on the request have ended."""


class _Worker(NamedTuple):
    executor: ProcessPoolExecutor
    pid: int


class Pool:
    """Processes that each work on one request at a time; at most `queue` requests wait for one.

    Where models are `shared`, and the system can fork, they are loaded once, in a process that forks the others.
    """

    def __init__(self, served: Served, processes: int, queue: int, *, shared: bool) -> None:
        """Prepare the pool: nothing starts yet."""
        self._served, self.processes, self._places = served, processes, processes + queue
        shared = shared and "forkserver" in multiprocessing.get_all_start_methods()
        self._context = multiprocessing.get_context("forkserver" if shared else "spawn")
        self._workers = set[_Worker]()
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()
        self._restarts = set[asyncio.Task[None]]()
        self._admitted = self.waiting = self.replaced = 0

    @property
    def alive(self) -> int:
        """The number of processes that have loaded their models, as far as their ends are known."""
        return len(self._workers)

    @property
    def busy(self) -> int:
        """The number of processes at work or being started."""
        return self.processes - self._idle.qsize()

    async def start(self) -> None:
        """Start the processes, and wait until each has loaded its models. Raises any error of the loading."""
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # which the processes inherit
        if self._context.get_start_method() == "forkserver":
            os.environ[NAMES] = json.dumps([str(self._served.weights), *map(str, self._served.files)])
            self._context.set_forkserver_preload([PRELOADED])
        await asyncio.gather(*(self._add() for _ in range(self.processes)))

    @contextmanager
    def place(self) -> Iterator[None]:
        """In the block, a request is received, waits or is in work. Raises Full where there is no place for it."""
        if self._admitted >= self._places:
            raise Full
        self._admitted += 1
        try:
            yield
        finally:
            self._admitted -= 1

    async def answer(self, request: Request, until: float) -> Answer:
        """The answer to a request that has a place. Raises TimeoutError at `until`, in the loop's time, and Died."""
        deaths = 0
        async with asyncio.timeout_at(until):
            while deaths < MAX_DEATHS:
                self.waiting += 1
                try:
                    worker = await self._idle.get()
                finally:
                    self.waiting -= 1
                try:
                    future = worker.executor.submit(answer, self._served, request)
                except BrokenProcessPool:  # it ended while it had nothing to do
                    self._replace(worker)
                    continue
                try:
                    answered = await asyncio.wrap_future(future)
                except BrokenProcessPool:
                    deaths += 1
                    self._replace(worker)
                except BaseException:  # the time is over, or the server ends
                    self._replace(worker)
                    raise
                else:
                    self._idle.put_nowait(worker)
                    return answered
        raise Died

    def stop(self) -> None:
        """End all processes at once."""
        for task in self._restarts:
            task.cancel()
        for worker in list(self._workers):
            self._end(worker)

    def _end(self, worker: _Worker) -> None:
        self._workers.discard(worker)
        with suppress(ProcessLookupError):
            os.kill(worker.pid, KILL)
        worker.executor.shutdown(wait=False, cancel_futures=True)

    def _replace(self, worker: _Worker) -> None:
        self.replaced += 1
        self._end(worker)
        task = asyncio.get_running_loop().create_task(self._restart())
        self._restarts.add(task)
        task.add_done_callback(self._restarts.discard)

    async def _restart(self) -> None:
        while True:
            try:
                await self._add()
                return
            except Exception as error:  # perhaps there is no memory for it now
                say(f"rerank: a process cannot be started: {error}")
                await asyncio.sleep(SECONDS_TO_RESTART)

    async def _add(self) -> None:
        """Start a process, which has nothing to do at first."""
        executor = ProcessPoolExecutor(1, self._context, begin)
        try:
            future = await asyncio.to_thread(executor.submit, loaded, self._served)
            worker = _Worker(executor, await asyncio.wrap_future(future))
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise
        self._workers.add(worker)
        self._idle.put_nowait(worker)
