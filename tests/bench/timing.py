"""How long something takes, for ratios: CPU seconds without garbage collection, whose cost is that of other tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from timeit import repeat
from typing import TypeVar

from pytest_benchmark.fixture import BenchmarkFixture

Result = TypeVar("Result")


def seconds(action: Callable[[], object], times: int = 1) -> float:
    """CPU seconds of one call, the best of `times`."""
    return min(repeat(action, timer=time.process_time, repeat=times, number=1))


def in_turn(*actions: Callable[[], object], times: int) -> list[float]:
    """CPU seconds of one call of each action, the best of `times` rounds.

    Each round calls all of them, so that a processor that changes its frequency does so to all alike.
    """
    rounds = [[seconds(action) for action in actions] for _ in range(times)]
    return [min(column) for column in zip(*rounds, strict=True)]


def timed(function: Callable[..., Result], *arguments: object) -> tuple[Result, float]:
    """What a function returns, and its CPU seconds."""
    start = time.process_time()
    result = function(*arguments)
    return result, time.process_time() - start


def report(benchmark: BenchmarkFixture, other: str, other_seconds: float, items: int = 0, what: str = "") -> None:
    """Note how many times as fast as the other way the benchmark is, and how many items it does in a CPU second."""
    if benchmark.stats:
        median = benchmark.stats["median"]
        benchmark.extra_info[f"times as fast as {other}"] = round(other_seconds / median, 1)
        if items:
            benchmark.extra_info[f"{what} per CPU second"] = round(items / median)
