"""Draws from a finished back-off model: an event from p(· | h).

A context h has its own events with their probabilities; what these leave of 1 belongs to the symbols not seen there, in
proportion to p(· | h'). So a symbol is drawn from the events of h with the probability that they have in all; else it
is drawn from h' in the same way, again and again until it is one that h has not. The result is exact, and cheap: such a
draw is expected to take 1 / (1 - Σ_{x in h} p(x | h')) trials, which times its probability is the back-off weight of h,
at most 1 in an interpolated model. Each trial searches cumulated probabilities: 8 bytes an n-gram are made at first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.arrays import FloatArray
from rerank_plugins.models.backoff.scoring import find_event
from rerank_plugins.models.backoff.tables import LOG_ZERO, BackoffTables

TRIALS = 1_000  # after which a draw of an unseen symbol starts anew: a context may have all symbols


def cumulated(tables: BackoffTables) -> FloatArray:
    """(E) p of each event and those before it in its context."""
    sums = np.empty(len(tables.events))
    cumulate(tables.contexts, tables.events, sums)
    return sums


@njit(cache=True, nogil=True)
def cumulate(contexts: Any, events: Any, sums: Any) -> None:
    """Cumulated probabilities within each context."""
    for context in range(len(contexts) - 1):
        total = 0.0
        for i in range(contexts[context]["events"], contexts[context + 1]["events"]):
            log10 = events[i]["log10"]
            if log10 > LOG_ZERO:
                total += 10.0**log10
            sums[i] = total


@njit(cache=True, nogil=True)
def find_share(sums: Any, low: int, high: int, share: float) -> int:
    """The first place in `sums[low:high]` whose value is above `share`, or `high`."""
    while low < high:
        middle = (low + high) >> 1
        if sums[middle] > share:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True, nogil=True)
def draw_down(contexts: Any, sums: Any, path: Any, depth: int, rng: Any) -> Any:
    """An event drawn from the context `path[depth]` or a shorter one, -1 for the empty one, and the depth of that.

    `path` gets the contexts that are gone through.
    """
    while path[depth] > 0:
        here = path[depth]
        high = contexts[here + 1]["events"]
        event = find_share(sums, contexts[here]["events"], high, rng.random())
        if event < high:
            return event, depth
        depth += 1
        path[depth] = contexts[here]["parent"]
    return -1, depth


@njit(cache=True, nogil=True)
def draw_symbol(sums: Any, symbols: int, rng: Any) -> Any:
    """A symbol drawn from the empty context, which is its event too."""
    return min(find_share(sums, 0, symbols, rng.random() * sums[symbols - 1]), symbols - 1)


@njit(cache=True, nogil=True)
def seen_above(contexts: Any, events: Any, path: Any, depth: int, symbol: int) -> int:
    """The nearest depth above `depth` in whose context the symbol was seen, or -1."""
    for d in range(depth - 1, -1, -1):
        if find_event(events, contexts[path[d]]["events"], contexts[path[d] + 1]["events"], symbol) >= 0:
            return d
    return -1


@njit(cache=True, nogil=True)
def draw_event(contexts: Any, events: Any, sums: Any, context: int, path: Any, rng: Any) -> Any:
    """The number of an event drawn from p(· | context); `path` is room for contexts, one more than the order."""
    path[0] = context
    depth = 0
    trials = 0
    while True:
        event, depth = draw_down(contexts, sums, path, depth, rng)
        if event < 0:
            event = draw_symbol(sums, contexts[1]["events"], rng)
        seen = seen_above(contexts, events, path, depth, events[event]["symbol"])
        if seen < 0:
            return event
        trials += 1
        depth = seen + 1 if trials % TRIALS > 0 else 0
