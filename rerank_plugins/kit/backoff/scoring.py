"""Scores one event in a known context, many tuples, or a whole text, many sentences at a time.

An event that the model does not have costs the back-off weight of its context, and is then looked up in the context
without its farthest symbol. The context of a tuple is looked up symbol by symbol, from the nearest one outwards; in a
text, the event of a word points to the context of the next. There several lanes, each with its own part of the text,
take turns: a lane asks for the record that it needs next (`prefetch`) and goes on when its turn comes again. Measured
on 19 million n-grams: 0.1 µs a word, against 0.3 µs with one lane. Results are natural logs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.kit.backoff.events import NONE
from rerank_plugins.kit.backoff.packed_tables import PackedTables
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.kernels import filling_kernel, part, prefetch

LN10 = math.log(10.0)
LANES = 32
NARROW = 16  # events: a range as small as this is searched linearly
AT_CONTEXT, SEARCHING, DONE = 0, 1, 2


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


def context_after(tables: BackoffTables | PackedTables, symbol: int) -> int:
    """The longest known context after a symbol in the empty context."""
    return tables.following(symbol) if isinstance(tables, PackedTables) else int(tables.events[symbol]["next"])


def score_text(
    tables: BackoffTables | PackedTables, tokens: IntArray, bos: int = 1, eos: int = 2
) -> tuple[FloatArray, LongArray]:
    """(n) ids of sentences, each ended by `eos` -> (n) ln p of each word in its sentence, (n) the matched event.

    `matched_lengths` gives the lengths of the n-grams of these events. For models of text.
    """
    scores, matched = np.empty(len(tokens)), np.empty(len(tokens), np.int64)
    ends = np.flatnonzero(tokens == eos) + 1
    places = np.linspace(0, len(ends), min(LANES, max(len(ends), 1)) + 1).astype(np.int64)
    parts = np.concatenate([[0], ends])[places]
    start = context_after(tables, bos)
    if isinstance(tables, PackedTables):
        from rerank_plugins.kit.backoff.packed_scoring import packed_arrays, score_packed_lanes

        lanes, sums = np.empty((len(parts) - 1, 8), np.int64), np.empty(len(parts) - 1)
        packed = packed_arrays(tables)
        score_packed_lanes(*packed, tables.unseen, tokens, parts, start, eos, lanes, sums, scores, matched)  # type: ignore[call-arg]
        return scores * LN10, matched
    arrays = tables.contexts, tables.events, tables.context_levels
    score_lanes(*arrays, tables.unseen, tokens, parts, start, eos, scores, matched)
    return scores * LN10, matched


@part
def unseen_symbols(levels: Any, context: int, length: int) -> int:
    """How many symbols of the whole context, of `length` symbols, are missing from the known context."""
    most = len(levels) - 2
    known = 0
    while levels[known + 1] <= context:
        known += 1
    return min(length, most) - known


@njit(cache=True, nogil=True)
def score_lanes(
    contexts: Any, events: Any, levels: Any, unseen: float, tokens: Any, parts: Any, start: int, eos: int,
    scores: Any, matched: Any,
) -> None:  # fmt: skip
    """Fill in the log10 score and the event of each token.

    Lane i scores the tokens from `parts[i]` to `parts[i + 1]`, which are whole sentences.
    """
    # The state of each lane: its place in the text, the context of the token there and how many words precede it in
    # the sentence, the score so far of the token (back-off weights), and the stage of its search with the range of
    # events that is left to search.
    lanes = len(parts) - 1
    place = parts[:-1].copy()
    context = np.full(lanes, start)
    length = np.ones(lanes, np.int64)
    score = np.full(lanes, unseen * unseen_symbols(levels, start, 1))
    stage = np.full(lanes, AT_CONTEXT)
    low = np.zeros(lanes, np.int64)
    high = np.zeros(lanes, np.int64)
    # A lane without any text is done before it starts.
    going = 0
    for lane in range(lanes):
        if place[lane] < parts[lane + 1]:
            going += 1
        else:
            stage[lane] = DONE
    while going > 0:
        for lane in range(lanes):
            if stage[lane] == DONE:
                continue
            here = place[lane]
            symbol = int(tokens[here])
            at = context[lane]
            event = -1
            if stage[lane] == AT_CONTEXT:
                # Step 1: begin to search the events of the context. The empty context needs no search: every symbol is
                # at its own place there.
                if at > 0:
                    low[lane] = contexts[at]["events"]
                    high[lane] = contexts[at + 1]["events"]
                    prefetch(events, (low[lane] + high[lane]) >> 1)
                    stage[lane] = SEARCHING
                    continue
                event = symbol
            else:
                # Step 2: halve the range of events, one halving a turn.
                first, end = low[lane], high[lane]
                if end - first > NARROW:
                    middle = (first + end) >> 1
                    if events[middle]["symbol"] <= symbol:
                        first = middle
                    else:
                        end = middle
                    low[lane], high[lane] = first, end
                    prefetch(events, (first + end) >> 1)
                    continue
                # Step 3: search the short range that is left.
                for i in range(first, end):
                    if events[i]["symbol"] == symbol:
                        event = i
                        break
                stage[lane] = AT_CONTEXT
                if event < 0:
                    # Step 4: back off. The symbol was not seen in this context: add the weight of the context, and
                    # search the context without its farthest word.
                    score[lane] += contexts[at]["backoff"]
                    context[lane] = contexts[at]["parent"]
                    prefetch(contexts, context[lane])
                    if context[lane] == 0:
                        prefetch(events, symbol)
                    continue
            # Step 5: the symbol was seen: log10 p = the back-off weights on the way + log10 p of the event.
            scores[here] = score[lane] + events[event]["log10"]
            matched[here] = event
            # Step 6: the context of the next token: `<s>` alone after the end of a sentence, else the context that the
            # event points to. Stupid backoff weighs the symbols by which the whole context is longer than that.
            if symbol == eos:
                context[lane], length[lane] = start, 1
            else:
                context[lane] = events[event]["next"]
                length[lane] += 1
            prefetch(contexts, context[lane])
            score[lane] = 0.0
            if unseen != 0.0:
                score[lane] = unseen * unseen_symbols(levels, context[lane], length[lane])
            # Step 7: go on to the next token of the lane, if there is one.
            place[lane] = here + 1
            if here + 1 == parts[lane + 1]:
                stage[lane] = DONE
                going -= 1
