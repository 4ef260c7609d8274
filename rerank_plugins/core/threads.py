"""Runs functions that release the global interpreter lock in threads on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
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
