"""Scores text and single steps by packed tables, with the same results as scoring.py.

After an n-gram of the highest order, a word costs one search more, for the context that follows it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.kit.backoff.packed_tables import (
    BASE,
    BLOCK,
    FIRST,
    SYMBOL,
    PackedTables,
    events_at,
    find_symbol,
    level_of,
    next_at,
    parent_at,
    place_of,
    prefetch_bits,
    symbol_at,
    value_at,
)  # fmt: skip
from rerank_plugins.kit.backoff.tables import CONTEXT, EVENT, BackoffTables
from rerank_plugins.kit.kernels import filling_kernel, part, prefetch

NARROW = 16  # events: a range as small as this is searched linearly
AT_CONTEXT, SEARCHING, DONE = 0, 1, 2


def packed_arrays(tables: PackedTables) -> Any:
    """The arrays of the tables, in the order in which kernels take them."""
    return (
        tables.event_bits, tables.context_bits, tables.event_fields, tables.context_fields, tables.bases, tables.values,
    )  # fmt: skip


def score_packed_steps(
    tables: PackedTables, contexts: LongArray, lengths: LongArray, symbols: LongArray
) -> tuple[FloatArray, LongArray]:
    """The log10 scores and the following contexts of `score_steps` (ngram/model.py)."""
    log10, after = np.empty(len(symbols)), np.empty(len(symbols), np.int64)
    _score_packed_steps(*packed_arrays(tables), tables.unseen, contexts, lengths, symbols, log10, after)  # type: ignore[call-arg]
    return log10, after


@part
def missing_symbols(order: int, level: int, length: int) -> int:
    """How many symbols of the whole context, of `length` symbols, are missing from a known context of this level."""
    return min(length, order - 1) - level


@filling_kernel
def _score_packed_steps(
    event_bits: Any, context_bits: Any, event_fields: Any, context_fields: Any, bases: Any, values: Any, unseen: float,
    starts: Any, lengths: Any, symbols: Any, log10: Any, after: Any,
) -> None:  # fmt: skip
    """Fill in the log10 score of each symbol and the context after it."""
    order = len(event_fields)
    for i in range(len(symbols)):
        context, symbol = starts[i], symbols[i]
        level = level_of(context_fields, context)
        score = unseen * missing_symbols(order, level, lengths[i])
        scored = False
        while True:
            # Search the events of the context, of which the empty one has all; back off where there is none.
            event = symbol
            if level > 0:
                low = events_at(context_bits, context_fields, bases, level, context)
                high = events_at(context_bits, context_fields, bases, level, context + 1)
                event = find_symbol(event_bits, event_fields, level, low, high, symbol)
            if event >= 0:
                if not scored:
                    at = place_of(event_fields, level, event) + event_fields[level, SYMBOL]
                    score += value_at(event_bits, event_fields, values, level, at)
                    scored = True
                # The highest order has no following contexts: they are those of the next shorter n-gram.
                if level + 1 < order or level == 0:
                    break
            elif not scored:
                at = place_of(context_fields, level, context)
                score += value_at(context_bits, context_fields, values, level, at)
            context = parent_at(context_bits, context_fields, bases, level, context)
            level -= 1
        log10[i] = score
        after[i] = next_at(event_bits, event_fields, level, event)


@part
def begin_token(lanes: Any, lane: int, place: int, context: int, level: int, length: int) -> None:
    """Let the search of a lane begin at a token; assigning a tuple to the row would take 2 s to compile."""
    lanes[lane, 0], lanes[lane, 1], lanes[lane, 2], lanes[lane, 3] = place, context, level, length
    lanes[lane, 4], lanes[lane, 5], lanes[lane, 6], lanes[lane, 7] = AT_CONTEXT, 0, 0, -1


@filling_kernel
def score_packed_lanes(
    event_bits: Any, context_bits: Any, event_fields: Any, context_fields: Any, bases: Any, values: Any, unseen: float,
    tokens: Any, parts: Any, start: int, eos: int, lanes: Any, sums: Any, scores: Any, matched: Any,
) -> None:  # fmt: skip
    """Fill in the log10 score and the event of each token, as `score_lanes` of scoring.py does.

    `lanes` (n, 8) and `sums` (n) are for the state of each lane: its place in the text, its context, the length of that
    context, how many words precede the token, the stage of the search, the range of events left to search, and the
    event that has been matched (-1: none yet); and the score so far.
    """
    order = len(event_fields)
    start_level = level_of(context_fields, start)
    going = 0
    for lane in range(len(lanes)):
        begin_token(lanes, lane, parts[lane], start, start_level, 1)
        sums[lane] = unseen * missing_symbols(order, start_level, 1)
        if parts[lane] < parts[lane + 1]:
            going += 1
        else:
            lanes[lane, 4] = DONE
    while going > 0:
        for lane in range(len(lanes)):
            here, context, level, length, stage, low, high, hit = lanes[lane]
            if stage == DONE:
                continue
            symbol: Any = np.int64(tokens[here])
            event = -1
            if stage == AT_CONTEXT:
                # Step 1: begin to search the events of the context; the empty context needs no search.
                if level > 0:
                    low = events_at(context_bits, context_fields, bases, level, context)
                    high = events_at(context_bits, context_fields, bases, level, context + 1)
                    prefetch_bits(event_bits, place_of(event_fields, level, (low + high) >> 1))
                    lanes[lane, 4], lanes[lane, 5], lanes[lane, 6] = SEARCHING, low, high
                    continue
                event = symbol
            else:
                # Step 2: halve the range of events, one halving a turn.
                if high - low > NARROW:
                    middle = (low + high) >> 1
                    if symbol_at(event_bits, event_fields, level, middle) <= symbol:
                        low = middle
                    else:
                        high = middle
                    prefetch_bits(event_bits, place_of(event_fields, level, (low + high) >> 1))
                    lanes[lane, 5], lanes[lane, 6] = low, high
                    continue
                # Step 3: search the short range that is left.
                for i in range(low, high):
                    if symbol_at(event_bits, event_fields, level, i) == symbol:
                        event = i
                        break
                lanes[lane, 4] = AT_CONTEXT
            if event >= 0 and hit < 0:
                # Step 4: the symbol was seen: log10 p = the back-off weights on the way + log10 p of the event.
                hit = event
                at = place_of(event_fields, level, event) + event_fields[level, SYMBOL]
                scores[here] = sums[lane] + value_at(event_bits, event_fields, values, level, at)
                matched[here] = event
            if event < 0 or (level + 1 == order and level > 0 and symbol != eos):
                # Step 5: search the context without its farthest word, after adding its weight if the symbol was not
                # seen in it; or else for what follows, which n-grams of the highest order do not have.
                if hit < 0:
                    at = place_of(context_fields, level, context)
                    sums[lane] += value_at(context_bits, context_fields, values, level, at)
                context = parent_at(context_bits, context_fields, bases, level, context)
                level -= 1
                lanes[lane, 1], lanes[lane, 2], lanes[lane, 7] = context, level, hit
                if level > 0:
                    prefetch_bits(context_bits, place_of(context_fields, level, context))
                    block = (context - context_fields[level, FIRST]) >> context_fields[level, BLOCK]
                    prefetch(bases, context_fields[level, BASE] + block)
                else:
                    prefetch_bits(event_bits, place_of(event_fields, 0, symbol))
                continue
            # Step 6: the context of the next token, as in scoring.py.
            if symbol == eos:
                context, level, length = start, start_level, 1
            else:
                context = next_at(event_bits, event_fields, level, event)
                level, length = level_of(context_fields, context), length + 1
            prefetch_bits(context_bits, place_of(context_fields, level, context))
            block = (context - context_fields[level, FIRST]) >> context_fields[level, BLOCK]
            prefetch(bases, context_fields[level, BASE] + block)
            sums[lane] = unseen * missing_symbols(order, level, length)
            # Step 7: go on to the next token of the lane, if there is one.
            begin_token(lanes, lane, here + 1, context, level, length)
            if here + 1 == parts[lane + 1]:
                lanes[lane, 4] = DONE
                going -= 1


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
