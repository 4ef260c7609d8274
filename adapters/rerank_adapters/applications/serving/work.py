"""The task of a worker process: it reads the lists of a request, reranks them and writes the answer.

All of it happens in the worker, so that a body of any form costs the process that holds the connections nothing.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from rerank_adapters.applications.serving.bodies import Request, answer, read_request
from rerank_adapters.applications.serving.limits import Limits
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.chain.reranker import Reranker
from rerank_plugins import ConfigError, FormatError, RerankError
from rerank_plugins.core.loader import load_plugins

WRONG, FAULT = 422, 500


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

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "reranker"}

    def __call__(self, request: Request | None) -> Answer:
        """The answer to a request; a request None only loads the models."""
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
            print(f"rerank: {kind}{error}", file=sys.stderr, flush=True)
            return problem(FAULT, "the lists could not be reranked; the reason is in the server's log")


def problem(status: int, message: str) -> Answer:
    """The answer that reports an error in one line."""
    import json

    return Answer(status, "application/json", json.dumps({"error": message}, ensure_ascii=False).encode())
