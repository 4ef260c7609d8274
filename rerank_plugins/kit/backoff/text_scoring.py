"""Scores a whole text by a model of text, many sentences at a time.

The event of a word points to the context of the next word. So a word costs one search in each context in which it was
not seen, and one in the context in which it was; most of that time is spent waiting for memory. Therefore several
lanes, each with its own part of the text, take turns: a lane asks for the record that it needs next (`prefetch`) and
goes on when its turn comes again, by which time the record has arrived. Measured on 19 million n-grams: 0.1 µs a word,
against 0.3 µs with one lane.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.kit.backoff.packed_tables import PackedTables
from rerank_plugins.kit.backoff.prefetch import prefetch
from rerank_plugins.kit.backoff.scoring import LN10
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.kernels import part

LANES = 32
NARROW = 16  # events: a range as small as this is searched linearly
AT_CONTEXT, SEARCHING, DONE = 0, 1, 2


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
