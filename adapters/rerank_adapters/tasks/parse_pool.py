"""Many sentences through a parser: in order, in bounded memory, on several processes, each finished batch kept.

What an interrupted run has parsed is in the cache of parses, and is found there by the next one. The first batch is
parsed in this process; workers start for the others, by `spawn`, which is safe beside threads.
"""

from __future__ import annotations

import pickle
import signal
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from rerank_plugins import Parse, Parser, PluginError, RerankError
from rerank_plugins.parsers.cached import CachedParser
from rerank_plugins.plugins import FILE_MODULE, import_file

BATCH = 1_000  # sentences a task

Words = tuple[str, ...]
_parser: CachedParser | None = None  # in a worker: what it parses with


@dataclass
class ParseCounts:
    """How many sentences went by, how many were parsed anew, and how many distinct new ones have no parse."""

    sentences: int = 0
    parsed: int = 0
    without: int = 0

    def __str__(self) -> str:
        return f"{self.parsed} parsed now" + (f", {self.without} without a parse" if self.without else "")


def parse_in_order(
    parser: CachedParser, sentences: Iterable[Words], jobs: int, counts: ParseCounts
) -> Iterator[tuple[Words, Parse]]:
    """Each sentence with its parse, in order; at most 2 * jobs + 1 batches are held. `counts` grows as they go by."""
    batches = _batches(sentences)
    waiting: deque[tuple[list[Words], Future[tuple[list[Parse], int]]]] = deque()
    for batch in islice(batches, 1):
        yield from _counted(batch, _parse(parser, batch), counts)
    try:
        with _workers(parser, jobs) as pool:
            for batch in batches:
                if pool is None:
                    yield from _counted(batch, _parse(parser, batch), counts)
                    continue
                waiting.append((batch, pool.submit(_in_worker, batch)))
                if len(waiting) > 2 * jobs:
                    done, result = waiting.popleft()
                    yield from _counted(done, result.result(), counts)
            while waiting:
                done, result = waiting.popleft()
                yield from _counted(done, result.result(), counts)
    except BrokenProcessPool:
        raise RerankError("a worker process ended early: out of memory? (--jobs 1 works without workers)") from None


def _batches(sentences: Iterable[Words]) -> Iterator[list[Words]]:
    source = iter(sentences)
    while batch := list(islice(source, BATCH)):
        yield batch


def _counted(
    batch: Sequence[Words], result: tuple[list[Parse], int], counts: ParseCounts
) -> Iterator[tuple[Words, Parse]]:
    parses, parsed = result
    counts.parsed += parsed
    for words, parse in zip(batch, parses, strict=True):
        counts.sentences += 1
        counts.without += bool(words) and parse.is_empty
        yield words, parse


def _parse(parser: CachedParser, batch: list[Words]) -> tuple[list[Parse], int]:
    before = parser.parsed
    parses = parser.parse(batch)
    return parses, parser.parsed - before


@contextmanager
def _workers(parser: Parser, jobs: int) -> Iterator[ProcessPoolExecutor | None]:
    if jobs < 2:
        yield None
        return
    try:
        pickled = pickle.dumps(parser)
    except Exception as error:  # whatever a stranger's object raises
        raise PluginError(f"the parser cannot be sent to a worker process ({error}); --jobs 1 works") from error
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(FILE_MODULE)]
    files = [Path(module.__file__) for module in modules if module.__file__ and Path(module.__file__).is_file()]
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _initialise, (pickled, files))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()  # nothing runs any more; left to the interpreter's end, its pipe may be closed twice


def _initialise(pickled: bytes, files: Sequence[Path]) -> None:
    """Make a process a worker: Ctrl-C ends it at once and silently."""
    global _parser  # noqa: PLW0603 -- a process pool has no other place for what all its tasks share
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for file in files:  # the modules of plugin files have names that only the loader can import
        import_file(file)
    _parser = pickle.loads(pickled)


def _in_worker(batch: list[Words]) -> tuple[list[Parse], int]:
    assert _parser is not None  # _initialise
    return _parse(_parser, batch)
