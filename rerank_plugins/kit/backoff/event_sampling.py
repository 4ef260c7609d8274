"""Draws random events from a finished back-off model, by p(· | h).

With the total probability of the events of h, one of these is drawn; otherwise a symbol is drawn from h' in the same
way, and rejected until it is one that was not seen in h. This is exact, and expected to take 1 / (1 - Σ_{x in h} p(x |
h')) trials, each a binary search in cumulative probabilities, which take 8 bytes an n-gram.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.kit.backoff.scoring import find_symbol
from rerank_plugins.kit.backoff.tables import LOG_ZERO, BackoffTables
from rerank_plugins.kit.kernels import filling_kernel, kernel, part

MAX_TRIALS = 1_000  # after so many a draw of an unseen symbol starts anew, as all symbols may have been seen


def cumulated(tables: BackoffTables) -> FloatArray:
    """(E) the cumulative probability of each event in its context: its own and those of the events before it."""
    sums = np.empty(len(tables.events))
    cumulate(tables.contexts, tables.events, sums)
    return sums


@filling_kernel
def cumulate(contexts: NDArray[Any], events: NDArray[Any], sums: Any) -> None:
    """Fill in the cumulative probabilities within each context."""
    for context in range(len(contexts) - 1):
        total = 0.0
        for i in range(contexts[context]["events"], contexts[context + 1]["events"]):
            log10 = events[i]["log10"]
            if log10 > LOG_ZERO:
                total += 10.0**log10
            sums[i] = total


@part
def first_above(sums: Any, low: int, high: int, value: float) -> int:
    """The first position in `sums[low:high]` with a value above `value`, or `high`."""
    while low < high:
        middle = (low + high) >> 1
        if sums[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def draw_down(contexts: NDArray[Any], sums: Any, path: Any, depth: int, rng: np.random.Generator) -> Any:
    """An event drawn from the context `path[depth]` or a shorter one (-1 from the empty one), and its depth in `path`.

    `path` receives the contexts on the way.
    """
    while path[depth] > 0:
        here = path[depth]
        high = contexts[here + 1]["events"]
        event = first_above(sums, contexts[here]["events"], high, rng.random())
        if event < high:
            return event, depth
        depth += 1
        path[depth] = contexts[here]["parent"]
    return -1, depth


@kernel
def seen_above(contexts: NDArray[Any], events: NDArray[Any], path: Any, depth: int, symbol: int) -> int:
    """The depth of the shortest context of the path before `depth` in which the symbol was seen, or -1."""
    for d in range(depth - 1, -1, -1):
        if find_symbol(events, contexts[path[d]]["events"], contexts[path[d] + 1]["events"], symbol) >= 0:
            return d
    return -1


@kernel
def draw_event(
    contexts: NDArray[Any], events: NDArray[Any], sums: Any, context: int, path: Any, rng: np.random.Generator,
) -> Any:  # fmt: skip
    """The number of an event drawn from p(· | context); `path` has room for order + 1 contexts."""
    path[0] = context
    symbols = contexts[1]["events"]  # in the empty context, whose events have the numbers of their symbols
    depth = 0
    trials = 0
    while True:
        # Draw from the events of the context, or back off and draw from a shorter one.
        event, depth = draw_down(contexts, sums, path, depth, rng)
        if event < 0:
            event = min(first_above(sums, 0, symbols, rng.random() * sums[symbols - 1]), symbols - 1)
        # Reject a symbol that one of the longer contexts has, and draw again from the context below that one.
        seen = seen_above(contexts, events, path, depth, events[event]["symbol"])
        if seen < 0:
            return event
        trials += 1
        depth = seen + 1 if trials % MAX_TRIALS > 0 else 0
