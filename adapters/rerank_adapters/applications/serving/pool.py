"""Worker processes behind a bounded queue; one that exceeds its time or dies is replaced.

A worker reads the lists of a request, reranks them and writes the answer, so that a body of any form costs the process
that holds the connections nothing. The answer depends on the request alone, so a request whose worker died is given to
another one, once. Where the system can fork, workers and those that replace them share one copy of the models.
"""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from rerank_adapters.applications.serving.bodies import Limits, Request, answer, read_request
from rerank_adapters.applications.serving.log import say, write_without_fail
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.chain.reranker import Reranker
from rerank_adapters.runtime.fork_server import ForkServer
from rerank_adapters.runtime.workers import Workers, fork_server
from rerank_plugins import ConfigError, FormatError, RerankError
from rerank_plugins.core.loader import load_plugins

WRONG, FAULT = 422, 500
PAUSE = 1.0  # seconds between two attempts to start a worker


class Answer(NamedTuple):
    """The answer to a request: its HTTP status, media type and body, and how much was reranked."""

    status: int
    media_type: str
    body: bytes
    lists: int = 0
    hypotheses: int = 0


@dataclass(frozen=True)
class Serving:
    """The task of a worker; the weights and models are loaded once in each process, or before it is forked."""

    weights: Path
    files: tuple[Path, ...]
    limits: Limits

    @cached_property
    def reranker(self) -> Reranker:
        """The reranker, with all of its models loaded. What requests hold is never written to the cache of parses."""
        os.environ["RERANK_CACHE"] = ""
        reranker = Reranker.load(self.weights, load_plugins(BUILTIN, self.files))
        named = {**reranker.weights.provenance, "file": self.weights.name}  # answers do not show folders
        reranker = Reranker(replace(reranker.weights, provenance=named), reranker.job)
        reranker.warm_up()
        return reranker

    def load(self) -> Reranker:
        """Load the models now, so that errors come at once, and forks of this process share them."""
        return self.reranker

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "reranker"}

    def __call__(self, request: Request | None) -> Answer:
        """The answer to a request; a request None only loads the models."""
        write_without_fail()
        reranker = self.reranker
        if request is None:
            return Answer(200, "text/plain", b"")
        try:
            lists = read_request(request, reranker, self.limits)
            reranked = list(reranker.rerank_all(lists.nbests))
            return Answer(200, *answer(request, lists, reranked), len(lists.nbests), sum(map(len, lists.nbests)))
        except (FormatError, ConfigError) as error:
            return problem(WRONG, str(error))
        except RecursionError:
            return problem(WRONG, "the body is nested too deeply")
        except MemoryError:
            return problem(FAULT, "out of memory")
        except Exception as error:
            kind = "" if isinstance(error, RerankError) else f"a fault of the program: {type(error).__name__}: "
            say(f"rerank: {kind}{error}")
            return problem(FAULT, "the lists could not be reranked; the reason is in the server's log")


def problem(status: int, message: str) -> Answer:
    """The answer that reports an error in one line."""
    return Answer(status, "application/json", json.dumps({"error": message}, ensure_ascii=False).encode())


Worker = Workers[Request | None, Answer]


class Full(Exception):
    """The queue is full: as many requests wait as are allowed."""


class Died(Exception):
    """The process that worked on the request has ended."""


class Pool:
    """Processes that each work on one request at a time; at most `waiting` requests wait for one."""

    def __init__(self, serving: Serving, processes: int, waiting: int) -> None:
        """Prepare the pool: nothing starts yet."""
        self._serving, self.processes, self._most = serving, processes, waiting
        self._workers: set[Worker] = set()
        self._idle: asyncio.Queue[Worker] = asyncio.Queue()
        self._starting: set[asyncio.Task[None]] = set()
        self._fork_server: ForkServer | None = None
        self.waiting = 0
        self.replaced = 0
        self.retried = 0

    @property
    def busy(self) -> int:
        """The number of processes at work or being started."""
        return self.processes - self._idle.qsize()

    @property
    def alive(self) -> int:
        """The number of processes that have loaded their models and have not died."""
        self._replace_ended()
        return len(self._workers) - len(self._starting)

    def start(self) -> None:
        """Start the processes. Before any thread has started they are forks, which share the models of this process."""
        self._fork_server = fork_server(self._serving)
        for _ in range(self.processes):
            worker = self._new()
            worker.start()
            self._idle.put_nowait(worker)

    async def load(self) -> None:
        """Wait until every process has loaded its models. Raises what the loading does."""
        workers = [self._idle.get_nowait() for _ in range(self.processes)]
        await asyncio.gather(*(asyncio.wrap_future(worker.submit(None)) for worker in workers))
        for worker in workers:
            self._idle.put_nowait(worker)

    async def answer(self, request: Request, seconds: float) -> Answer:
        """The answer to a request, by a second process where the first one died.

        Raises Full, TimeoutError where it takes longer, and Died where both processes died.
        """
        until = asyncio.get_running_loop().time() + seconds
        self._replace_ended()
        if self._idle.empty() and self.waiting >= self._most:
            raise Full
        try:
            return await self._answer(request, until)
        except Died:
            self.retried += 1
            return await self._answer(request, until)

    async def _answer(self, request: Request, until: float) -> Answer:
        self.waiting += 1
        try:
            async with asyncio.timeout_at(until):
                worker = await self._idle.get()
        finally:
            self.waiting -= 1
        future = asyncio.wrap_future(worker.submit(request))
        whole = False
        try:
            async with asyncio.timeout_at(until):
                answered = await asyncio.shield(future)
            whole = True
            return answered
        except (TimeoutError, asyncio.CancelledError):
            raise
        except BaseException as error:  # the work answers for its own errors, so this is the end of a process
            raise Died from error
        finally:
            if whole:
                self._idle.put_nowait(worker)
            else:
                future.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody else asks for it
                self._replace(worker)

    def _replace_ended(self) -> None:
        """Replace the processes that have died while they had nothing to do."""
        for _ in range(self._idle.qsize()):
            worker = self._idle.get_nowait()
            if worker.ended:
                self._replace(worker)
            else:
                self._idle.put_nowait(worker)

    def stop(self) -> None:
        """End all processes at once."""
        for task in self._starting:
            task.cancel()
        for worker in self._workers:
            worker.stop()
        if self._fork_server is not None:
            self._fork_server.stop()

    def _new(self) -> Worker:
        worker = Worker(self._serving, 1, "the reranker", self._fork_server)
        self._workers.add(worker)
        return worker

    def _replace(self, worker: Worker) -> None:
        self.replaced += 1
        task = asyncio.get_running_loop().create_task(self._restart(worker))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _restart(self, old: Worker) -> None:
        """End a worker, and start another one in its place."""
        while True:
            await asyncio.to_thread(old.stop)
            self._workers.discard(old)
            worker = self._new()
            try:
                await asyncio.to_thread(worker.start)
                await asyncio.wrap_future(worker.submit(None))
            except Exception as error:  # perhaps there is no memory for it now
                say(f"rerank: a worker process cannot be started: {error}")
                if self._fork_server is not None and not self._fork_server.alive:
                    self._fork_server = None  # from now on workers load models of their own
                old = worker
                await asyncio.sleep(PAUSE)
            else:
                self._idle.put_nowait(worker)
                return
