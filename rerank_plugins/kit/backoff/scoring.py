"""Scores one event in a known context, or many tuples in one call (text_scoring.py scores a text).

An event that the model does not have costs the back-off weight of its context, and is then looked up in the context
without its farthest symbol. The context of a tuple is looked up symbol by symbol, from the nearest one outwards.
Results are natural logs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.kit.backoff.layout import NONE
from rerank_plugins.kit.backoff.packed_tables import PackedTables
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.kernels import filling_kernel, part

LN10 = math.log(10.0)


@part
def find_event(events: Any, low: int, high: int, symbol: int) -> int:
    """The place of the symbol in `events[low:high]`, which are sorted by symbol, or -1."""
    while high - low > 8:
        middle = (low + high) >> 1
        if events[middle]["symbol"] <= symbol:
            low = middle
        else:
            high = middle
    for i in range(low, high):
        if events[i]["symbol"] == symbol:
            return i
    return -1


@filling_kernel
def look_up(contexts: Any, events: Any, context: int, symbol: int) -> tuple[float, int]:
    """log10 score of a symbol in a known context, and the event that matches it after backing off."""
    score = 0.0
    while context > 0:
        i = find_event(events, contexts[context]["events"], contexts[context + 1]["events"], symbol)
        if i >= 0:
            return score + events[i]["log10"], i
        score += contexts[context]["backoff"]
        context = contexts[context]["parent"]
    return score + events[symbol]["log10"], symbol


@filling_kernel
def find_context(contexts: Any, children: Any, context: int, symbol: int) -> int:
    """The context that is longer than `context` by this symbol, or -1 if the model does not have it."""
    low, high = children[context], children[context + 1]
    while low < high:
        middle = (low + high) >> 1
        if contexts[middle]["symbol"] < symbol:
            low = middle + 1
        else:
            high = middle
    return low if low < children[context + 1] and contexts[low]["symbol"] == symbol else -1


@filling_kernel
def score_tuples(
    contexts: Any, children: Any, events: Any, unseen: float, tuples: Any, scores: Any, matched: Any
) -> None:
    """Fill in the log10 score of each tuple (its context, farthest symbol first, then x) and the event that matches."""
    order = tuples.shape[1]
    for i in range(len(tuples)):
        # Find the longest context that the model has, and count the symbols that it lacks.
        context = 0
        missing = 0
        for column in range(order - 2, -1, -1):
            symbol = tuples[i, column]
            if symbol == NONE:
                break
            longer = find_context(contexts, children, context, symbol) if missing == 0 else -1
            if longer < 0:
                missing += 1
            else:
                context = longer
        # Back off from there until the symbol was seen; stupid backoff weighs the missing symbols as well.
        score, event = look_up(contexts, events, context, tuples[i, order - 1])
        scores[i] = score + unseen * missing
        matched[i] = event


def score_step(tables: BackoffTables, context: int, length: int, symbol: int) -> tuple[float, int]:
    """Ln p of a symbol that `length` symbols precede, in its longest known context; and the context after it."""
    score, event = look_up(tables.contexts, tables.events, context, symbol)
    if tables.unseen != 0.0:
        known = int(np.searchsorted(tables.context_levels, context, side="right")) - 1
        score += tables.unseen * (min(length, tables.order - 1) - known)
    return float(score) * LN10, int(tables.events[event]["next"])


def score_events(tables: BackoffTables, events: NDArray[np.integer[Any]]) -> tuple[FloatArray, LongArray]:
    """(m, n) events, as `TupleEvents.add` takes them -> (m) ln p, (m) the event of the model that matches.

    An unknown context symbol may be any number but NONE; a predicted symbol must be in range. For models of tuples.
    Raises ValueError for another width or a predicted symbol out of range.
    """
    events = np.ascontiguousarray(events, np.int32)
    symbols = int(tables.event_levels[1])
    if events.ndim != 2 or events.shape[1] != tables.order:
        raise ValueError(f"events have shape {events.shape}, wanted (m, {tables.order})")
    if len(events) and not 0 <= events[:, -1].min() <= events[:, -1].max() < symbols:
        raise ValueError(f"predicted symbols go up to {events[:, -1].max()}, wanted 0 to {symbols - 1}")
    scores, matched = np.empty(len(events)), np.empty(len(events), np.int64)
    score_tuples(tables.contexts, tables.children, tables.events, tables.unseen, events, scores, matched)
    return scores * LN10, matched


def matched_lengths(tables: BackoffTables | PackedTables, matched: LongArray) -> LongArray:
    """(n) the length, from 1 to the order, of the n-gram of each event."""
    return np.searchsorted(tables.event_levels, matched, side="right")
