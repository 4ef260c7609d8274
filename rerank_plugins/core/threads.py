"""Runs functions that release the global interpreter lock in threads on all cores, and limits the threads of BLAS."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Result = TypeVar("Result")


def in_threads(function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], jobs: int) -> list[Result]:
    """The values of `function(*task)` for each task, in order, on `jobs` threads; `function` releases the lock."""
    if jobs == 1 or len(tasks) < 2:
        return [function(*task) for task in tasks]
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda task: function(*task), tasks))


def over_ranges(work: Callable[[int, int], None], costs: NDArray[np.number[Any]], least: float) -> None:
    """Call `work(start, end)` for consecutive ranges of jobs, on all cores; the ranges have about equal costs.

    `costs` has a value per job, in any unit. A range costs about `least` or more; below that, a thread does not pay.
    """
    total = float(costs.sum())
    workers = cores()
    if workers == 1 or total < 2 * least:
        work(0, len(costs))
        return
    parts = min(4 * workers, int(total / least))
    cuts = np.searchsorted(np.cumsum(costs), total * np.arange(1, parts) / parts)
    bounds = np.unique(np.concatenate([[0], cuts, [len(costs)]]))
    in_threads(work, list(pairwise(bounds.tolist())), workers)


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which products of matrices use one thread, so that no result depends on the number of cores.

    For small products this is faster too: a second thread that waits for a busy core costs ten times what it could
    gain.
    """
    limited: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limited


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
