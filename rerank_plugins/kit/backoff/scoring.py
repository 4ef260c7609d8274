"""Scores steps in known contexts, whole texts, and many tuples. Results are natural logs.

An event that the model does not have costs the back-off weight of its context, and is then looked up in the context
without its farthest symbol. The context of a tuple is looked up symbol by symbol, from the nearest one outwards; in a
text, the event of a word points to the context of the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.kit.backoff.events import BOS, EOS, NONE
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.kernels import filling_kernel, part

PREVIOUS = -1  # as a context: the one after the symbol before


@part
def find_symbol(records: NDArray[Any], low: int, high: int, symbol: int) -> int:
    """The place of the symbol in events or contexts `low` … `high`, which are sorted by symbol, or -1."""
    while high - low > 8:
        middle = (low + high) >> 1
        if records[middle]["symbol"] <= symbol:
            low = middle
        else:
            high = middle
    for i in range(low, high):
        if records[i]["symbol"] == symbol:
            return i
    return -1


@filling_kernel
def look_up(contexts: NDArray[Any], events: NDArray[Any], context: int, symbol: int) -> tuple[float, int]:
    """log10 score of a symbol in a known context, and the event that matches it after backing off."""
    score = 0.0
    while context > 0:
        i = find_symbol(events, contexts[context]["events"], contexts[context + 1]["events"], symbol)
        if i >= 0:
            return score + float(events[i]["log10"]), i
        score += float(contexts[context]["backoff"])
        context = contexts[context]["parent"]
    return score + float(events[symbol]["log10"]), symbol


@filling_kernel
def find_context(contexts: NDArray[Any], children: IntArray, context: int, symbol: int) -> int:
    """The context that is longer than `context` by this symbol, or -1 if the model does not have it."""
    return find_symbol(contexts, children[context], children[context + 1], symbol)


@part
def find_number(symbols: NDArray[np.integer], low: int, high: int, symbol: int) -> int:
    """The place of the symbol in `low` … `high` of the symbols, which are sorted there, or -1."""
    while high - low > 8:
        middle = (low + high) >> 1
        if symbols[middle] <= symbol:
            low = middle
        else:
            high = middle
    for i in range(low, high):
        if symbols[i] == symbol:
            return i
    return -1


@filling_kernel
def score_tuples(
    contexts: NDArray[Any], children: IntArray, events: NDArray[Any], nearest: IntArray,
    context_symbols: NDArray[np.integer], event_symbols: NDArray[np.integer], unseen: float,
    tuples: NDArray[np.integer], scores: FloatArray, matched: LongArray, known: LongArray,
) -> None:  # fmt: skip
    """Fill in the log10 score of each tuple (its context, farthest symbol first, then x) and the event that matches.

    `known` becomes the longest context that the model has.
    `nearest`, `context_symbols` and `event_symbols` are those of `BackoffTables.search`.

    It has many arguments because it takes the tables array by array, as they are stored.
    """
    order = tuples.shape[1]
    for i in range(len(tuples)):
        # Find the longest context that the model has, and count the symbols that it lacks.
        context: Any = np.int64(0)  # of the type that it has later on: kernels are compiled for each type of argument
        missing = 0
        for column in range(order - 2, -1, -1):
            symbol = tuples[i, column]
            if symbol == NONE:
                break
            longer: Any = np.int64(-1)
            if missing == 0 and context == 0:
                longer = np.int64(nearest[symbol] if symbol < len(nearest) else -1)
            elif missing == 0:
                longer = find_number(context_symbols, children[context], children[context + 1], symbol)
            if longer < 0:
                missing += 1
            else:
                context = longer
        known[i] = context
        # Back off from there until the symbol was seen; stupid backoff weighs the missing symbols as well.
        score = 0.0
        event: Any = np.int64(tuples[i, order - 1])
        while context > 0:
            seen = find_number(event_symbols, contexts[context]["events"], contexts[context + 1]["events"], event)
            if seen >= 0:
                event = seen
                break
            score += contexts[context]["backoff"]
            context = np.int64(contexts[context]["parent"])
        scores[i] = score + events[event]["log10"] + unseen * missing
        matched[i] = event


def score_events(tables: BackoffTables, events: NDArray[np.integer[Any]]) -> tuple[FloatArray, LongArray]:
    """(m, n) events, as `TupleEvents.add` takes them -> (m) ln p, (m) the event of the model that matches.

    An unknown context symbol may be any number but NONE; a predicted symbol must be in range. For models of tuples.
    Raises ValueError for another width or a predicted symbol out of range.
    """
    scores, matched, _ = _scored(tables, events)
    return scores, matched


def score_above(tables: BackoffTables, events: NDArray[np.integer[Any]], ln_lowest: FloatArray) -> FloatArray:
    """(m, n) events, (m) ln p of each in the empty context, by another model -> (m) ln p.

    The tables were estimated with p = 0 in the empty context, so they have the shares of longer contexts alone; the
    product of the back-off weights of its contexts is the weight of the other model. Raises ValueError as
    `score_events` does.
    """
    scores, matched, known = _scored(tables, events)
    scores[matched < tables.event_levels[1]] = -np.inf  # seen in no context
    above: FloatArray = np.logaddexp(scores, tables.weights[known] * LN10 + ln_lowest)
    return np.minimum(above, 0.0, out=above)  # the two shares may be rounded to more than one


def _scored(tables: BackoffTables, events: NDArray[np.integer[Any]]) -> tuple[FloatArray, LongArray, LongArray]:
    """(m) ln p, (m) the event that matches, (m) the longest known context of each event."""
    events = np.ascontiguousarray(events, np.int32)
    symbols = int(tables.event_levels[1])
    if events.ndim != 2 or events.shape[1] != tables.order:
        raise ValueError(f"events have shape {events.shape}, wanted (m, {tables.order})")
    if len(events) and not 0 <= events[:, -1].min() <= events[:, -1].max() < symbols:
        raise ValueError(f"predicted symbols go up to {events[:, -1].max()}, wanted 0 to {symbols - 1}")
    scores, (matched, known) = np.empty(len(events)), np.empty((2, len(events)), np.int64)
    score_tuples(
        tables.contexts, tables.children, tables.events, *tables.search, tables.unseen, events, scores, matched, known
    )
    return scores * LN10, matched, known


def matched_lengths(tables: BackoffTables, matched: LongArray) -> LongArray:
    """(n) the length, from 1 to the order, of the n-gram of each event."""
    return np.searchsorted(tables.event_levels, matched, side="right")


def context_after(tables: BackoffTables, symbol: int) -> int:
    """The longest known context after a symbol in the empty context."""
    _, _, after = score_steps(tables, np.zeros(1, np.int64), np.zeros(1, np.int64), np.array([symbol]))
    return int(after[0])


def score_text(tables: BackoffTables, tokens: IntArray) -> tuple[FloatArray, LongArray]:
    """(n) ids of sentences, each ended by EOS -> (n) ln p of each word in its sentence, (n) the matched event.

    `matched_lengths` gives the lengths of the n-grams of these events. For models of text.
    """
    begins = np.append(True, tokens == EOS)[:-1]
    places = np.arange(len(tokens))
    lengths = places + 1 - np.maximum.accumulate(np.where(begins, places, 0))
    ln_p, matched, _ = score_steps(tables, np.where(begins, context_after(tables, BOS), PREVIOUS), lengths, tokens)
    return ln_p, matched


def score_steps(
    tables: BackoffTables, contexts: LongArray, lengths: LongArray, symbols: IntArray | LongArray
) -> tuple[FloatArray, LongArray, LongArray]:
    """(n) longest known contexts, numbers of symbols before, next symbols -> (n) ln p, matched events, contexts after.

    A context may be PREVIOUS: the one after the symbol before. For models of text.
    """
    log10, matched, after = np.empty(len(symbols)), *np.empty((2, len(symbols)), np.int64)
    fill_steps(
        tables.contexts, tables.events, tables.context_levels, tables.unseen, contexts, lengths,
        np.asarray(symbols, np.int64), log10, matched, after,
    )  # fmt: skip
    return log10 * LN10, matched, after


@part
def unseen_symbols(levels: LongArray, context: int, length: int) -> int:
    """How many symbols of the whole context, of `length` symbols, are missing from the known context."""
    most = len(levels) - 2
    known = 0
    while levels[known + 1] <= context:
        known += 1
    return min(length, most) - known


@filling_kernel
def fill_steps(
    contexts: NDArray[Any], events: NDArray[Any], levels: LongArray, unseen: float, starts: LongArray,
    lengths: LongArray, symbols: LongArray, log10: FloatArray, matched: LongArray, after: LongArray,
) -> None:  # fmt: skip
    """Fill in the log10 score of each symbol, the event that matches it, and the context after it."""
    for i in range(len(symbols)):
        context = starts[i] if starts[i] >= 0 else after[i - 1]
        score, event = look_up(contexts, events, context, symbols[i])
        if unseen != 0.0:
            score += unseen * unseen_symbols(levels, context, lengths[i])
        log10[i], matched[i], after[i] = score, event, events[event]["next"]
