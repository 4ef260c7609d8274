"""Compiles kernels in two processes at once during the first extraction in a new environment.

numba holds Python's lock while it compiles, so threads would gain nothing. When this process is about to compile a
kernel during its first chunk, a helper begins to extract the features of one list of the chunk in the opposite order,
for the sake of their kernels alone; each kernel is compiled by whichever process needs it first
(`rerank_plugins.kit.kernel_compilation`), and the other reads it from the cache. The helper ends with the chunk.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rerank_adapters.chain.extraction.plan import Plan
from rerank_adapters.runtime.workers import Workers
from rerank_plugins import NBestList, RerankError
from rerank_plugins.kit.kernel_compilation import told

PROGRAM = "rerank"


@contextmanager
def compiled_in_two(
    extract: Callable[[Plan, Sequence[NBestList]], Any], plan: Plan, group: Sequence[NBestList], jobs: int
) -> Iterator[None]:
    """Let a helper compile kernels while the block extracts the features of the group."""
    if jobs < 2 or len(plan.extractors) < 2 or not group or not _starts_again():
        yield
        return
    backwards = Plan(dict(list(plan.extractors.items())[::-1]), plan.texts, plan.sources)
    helper = Workers(_Extracting(extract, backwards), 1, "an extractor")

    def help_once(_: str) -> None:
        if not helper.started:
            try:
                helper.submit(group[:1])
            except RerankError:  # an extractor that cannot be sent to another process
                return

    try:
        with told(help_once):
            yield
    finally:
        helper.stop()


class _Extracting:
    """The task of the helper; its values are not used."""

    def __init__(self, extract: Callable[[Plan, Sequence[NBestList]], Any], plan: Plan) -> None:
        self._extract, self._plan = extract, plan

    def __call__(self, group: Sequence[NBestList]) -> None:
        self._extract(self._plan, group)


def _starts_again() -> bool:
    """Whether the main module may be imported by another process: a script without a guard would start all over."""
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    return file is None or getattr(main, "__spec__", None) is not None or Path(file).stem == PROGRAM
