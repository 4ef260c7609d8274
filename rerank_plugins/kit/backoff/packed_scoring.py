"""Scores steps by packed tables, with the same results as scoring.py.

After an n-gram of the highest order, a word costs one search more, for the context that follows it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rerank_plugins.kit.backoff.packed_tables import (
    SYMBOL,
    PackedTables,
    events_at,
    find_symbol,
    level_of,
    next_at,
    parent_at,
    place_of,
    symbol_at,
    value_at,
)  # fmt: skip
from rerank_plugins.kit.backoff.tables import CONTEXT, EVENT, BackoffTables
from rerank_plugins.kit.kernels import filling_kernel


def packed_arrays(tables: PackedTables) -> Any:
    """The arrays of the tables, in the order in which kernels take them."""
    return (
        tables.event_bits, tables.context_bits, tables.event_fields, tables.context_fields, tables.bases, tables.values,
    )  # fmt: skip


@filling_kernel
def score_packed_steps(
    event_bits: Any, context_bits: Any, event_fields: Any, context_fields: Any, bases: Any, values: Any, unseen: float,
    starts: Any, lengths: Any, symbols: Any, log10: Any, matched: Any, after: Any,
) -> None:  # fmt: skip
    """Fill in the log10 score of each symbol, the event that matches it, and the context after it."""
    order = len(event_fields)
    for i in range(len(symbols)):
        context, symbol = starts[i] if starts[i] >= 0 else after[i - 1], symbols[i]
        level = level_of(context_fields, context)
        # Stupid backoff weighs the symbols that are missing from the longest known context.
        score = unseen * (min(lengths[i], order - 1) - level)
        hit = -1
        while True:
            # Search the events of the context, of which the empty one has all; back off where there is none.
            event = symbol
            if level > 0:
                low = events_at(context_bits, context_fields, bases, level, context)
                high = events_at(context_bits, context_fields, bases, level, context + 1)
                event = find_symbol(event_bits, event_fields, level, low, high, symbol)
            if event >= 0:
                if hit < 0:
                    at = place_of(event_fields, level, event) + event_fields[level, SYMBOL]
                    score += value_at(event_bits, event_fields, values, level, at)
                    hit = event
                # The highest order has no following contexts: they are those of the next shorter n-gram.
                if level + 1 < order or level == 0:
                    break
            elif hit < 0:
                at = place_of(context_fields, level, context)
                score += value_at(context_bits, context_fields, values, level, at)
            context = parent_at(context_bits, context_fields, bases, level, context)
            level -= 1
        log10[i], matched[i], after[i] = score, hit, next_at(event_bits, event_fields, level, event)


def unpack(tables: PackedTables) -> BackoffTables:
    """The tables as records, which take about twice the memory."""
    contexts = np.zeros(int(tables.context_levels[-1]) + 1, CONTEXT)
    events = np.zeros(int(tables.event_levels[-1]), EVENT)
    for level in range(tables.order):
        events["log10"][tables.event_levels[level] : tables.event_levels[level + 1]] = tables.event_values(level)
        span = slice(*tables.context_levels[level : level + 2].tolist())
        contexts["backoff"][span] = tables.context_values(level)
    _fill(*packed_arrays(tables), tables.context_levels, contexts, events)  # type: ignore[call-arg]
    contexts[-1] = (0.0, 0, len(events), 0)
    return BackoffTables(contexts, events, tables.context_levels, tables.event_levels, unseen=tables.unseen)


@filling_kernel
def _fill(
    event_bits: Any, context_bits: Any, event_fields: Any, context_fields: Any, bases: Any, values: Any,  # noqa: ARG001
    context_levels: Any, contexts: Any, events: Any,
) -> None:  # fmt: skip
    """Fill in all but the values."""
    order = len(event_fields)
    for level in range(order):
        longer = context_levels[level + 1]
        for context in range(context_levels[level], longer):
            low = events_at(context_bits, context_fields, bases, level, context)
            high = events_at(context_bits, context_fields, bases, level, context + 1)
            contexts[context]["events"] = low
            parent = 0
            if level > 0:
                parent = parent_at(context_bits, context_fields, bases, level, context)
                contexts[context]["parent"] = parent
            for event in range(low, high):
                symbol = event if level == 0 else symbol_at(event_bits, event_fields, level, event)
                events[event]["symbol"] = symbol
                if level + 1 < order or level == 0:
                    following = next_at(event_bits, event_fields, level, event)
                    # The symbol of a context that is one word longer is the farthest word of this n-gram.
                    if following >= longer:
                        contexts[following]["symbol"] = symbol if level == 0 else contexts[context]["symbol"]
                else:
                    # What follows an n-gram of the highest order follows the next shorter n-gram of the model.
                    above, shorter, below = parent, symbol, level - 1
                    while below > 0:
                        first = events_at(context_bits, context_fields, bases, below, above)
                        end = events_at(context_bits, context_fields, bases, below, above + 1)
                        shorter = find_symbol(event_bits, event_fields, below, first, end, symbol)
                        if shorter >= 0:
                            break
                        above = parent_at(context_bits, context_fields, bases, below, above)
                        below -= 1
                        shorter = symbol
                    following = next_at(event_bits, event_fields, below, shorter)
                events[event]["next"] = following
