"""The work of a process that reranks: it loads the weights, and answers one request at a time.

It reads the lists of a request and writes the answer as well, so that a body of any form costs the process that holds
the connections nothing.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from rerank_adapters.applications.serving.bodies import Formats, Limits, Request, read_lists, write_answer
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.features.processes import ENDING
from rerank_adapters.job.job import Job
from rerank_adapters.reranker import Reranker
from rerank_plugins import ConfigError, FormatError, NBestFormat, RerankError
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.kit.files.standard_streams import send_stdout_to_stderr

NAMES = "RERANK_SERVED"  # the environment variable of the weights and the files of plugins, as a list in JSON
WRONG, FAULT = 422, 500


class Answer(NamedTuple):
    """The answer to a request: its HTTP status, media type and body, and how much was reranked."""

    status: int
    media_type: str
    body: bytes
    lists: int = 0
    hypotheses: int = 0


@dataclass(frozen=True)
class Served:
    """The file of weights by which a server reranks, the files of plugins that it may name, and the limits."""

    weights: Path
    files: tuple[Path, ...]
    limits: Limits


def ignore_signals() -> None:
    """Ignore the signals that end a server, which a terminal or a service manager may send to its processes as well."""
    for number in ENDING:  # unlike SIG_IGN, programs that the work starts do not inherit a handler
        signal.signal(number, lambda number, frame: None)


def begin() -> None:
    """Prepare this process for its work; it ends when the server does."""
    ignore_signals()
    send_stdout_to_stderr()
    Thread(target=_end_with_server, daemon=True).start()


def _end_with_server() -> None:
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os._exit(1)


@cache
def load(weights: Path, files: tuple[Path, ...]) -> tuple[Reranker, Formats]:
    """The reranker, with all of its models loaded, and the formats of lists.

    The content of requests is never written to the cache of parses.
    """
    os.environ["RERANK_CACHE"] = ""
    registry = load_plugins(BUILTIN, files)
    reranker = Reranker.load(weights, registry)
    job = Job.of_record(reranker.weights.provenance, weights, registry)

    def formats(name: str) -> NBestFormat | None:
        if name and name not in job.registry.entries["format"]:
            raise ConfigError(f"there is no format {name!r}")
        named = job.changed(nbest={"use": name}) if name else job
        return named.format if named.config.nbest else None

    named = {**reranker.weights.provenance, "file": weights.name}  # answers do not show folders
    reranker.weights = replace(reranker.weights, provenance=named)
    reranker.warm_up()
    return reranker, formats


def loaded(served: Served) -> int:
    """The number of this process, when it has loaded the models. Raises any error of the loading."""
    load(served.weights, served.files)
    return os.getpid()


def answer(served: Served, request: Request) -> Answer:
    """The answer to a request; one that is malformed or beyond the limits has the status 422, a fault 500."""
    try:
        reranker, formats = load(served.weights, served.files)
        nbests, form = read_lists(request, reranker.weights.dense, formats, served.limits)
        reranked = list(reranker.rerank_all(nbests))
        return Answer(200, *write_answer(request.output, form, reranked), len(nbests), sum(map(len, nbests)))
    except (FormatError, ConfigError) as error:
        return _problem(WRONG, str(error))
    except RecursionError:
        return _problem(WRONG, "the body is nested too deeply")
    except MemoryError:
        return _problem(FAULT, "out of memory")
    except Exception as error:
        kind = "" if isinstance(error, RerankError) else f"internal error: {type(error).__name__}: "
        say(f"rerank: {kind}{error}")
        return _problem(FAULT, "the lists could not be reranked; the reason is in the server's log")


def _problem(status: int, message: str) -> Answer:
    return Answer(status, "application/json", json.dumps({"error": message}, ensure_ascii=False).encode())


def say(line: str) -> None:
    """Write a line to stderr. A server goes on where nobody reads its log, or the disk that takes it is full."""
    with suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)
