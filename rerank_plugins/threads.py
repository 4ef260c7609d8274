"""Kernels that release the interpreter's lock, on all the cores we may use."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray


def in_threads(work: Callable[[int, int], None], costs: NDArray[np.number[Any]], least: float) -> None:
    """Call `work(start, end)` over consecutive ranges of the jobs, the ranges about equally dear.

    `costs` has a value per job, in any unit; below `least` in all, a second thread would not pay.
    """
    total = float(costs.sum())
    workers = cores()
    if workers == 1 or total < 2 * least:
        work(0, len(costs))
        return
    parts = min(4 * workers, int(total / least))
    cuts = np.searchsorted(np.cumsum(costs), total * np.arange(1, parts) / parts)
    bounds = np.unique(np.concatenate([[0], cuts, [len(costs)]]))
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, int(a), int(b)) for a, b in pairwise(bounds)]:
            done.result()


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
