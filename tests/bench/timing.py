"""How long something takes, for ratios: CPU seconds without garbage collection, whose cost is that of other tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from timeit import repeat


def seconds(action: Callable[[], object], times: int = 1) -> float:
    """CPU seconds of one call, the best of `times`."""
    return min(repeat(action, timer=time.process_time, repeat=times, number=1))


def in_turn(*actions: Callable[[], object], times: int) -> list[float]:
    """CPU seconds of one call of each action, the best of `times` rounds.

    Each round calls all of them, so that a processor that changes its frequency does so to all alike.
    """
    rounds = [[seconds(action) for action in actions] for _ in range(times)]
    return [min(column) for column in zip(*rounds, strict=True)]
