"""Writes back-off models as ARPA text, which KenLM and SRILM read.

Numbers are the shortest decimals that are read back as the same 32-bit value. N-grams are grouped by context. A line
takes about a fifth of a microsecond and 30 to 50 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import ModelError
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.kernels import kernel

PIECE = 1 << 18  # n-grams formatted at a time
NUMBER = 24  # characters that a number and its tab take at most


def arpa_text(tables: BackoffTables, words: Sequence[str]) -> Iterator[bytes]:
    """The text of the file in pieces; `words` are in the order of their numbers. For models of text.

    Raises ModelError for stupid backoff: ARPA has no weights for contexts that were not seen.
    """
    if tables.unseen != 0.0:
        raise ModelError("stupid backoff cannot be written as ARPA, which has no weights for unseen contexts")
    yield b"\\data\\\n" + b"".join(b"ngram %d=%d\n" % (k, n) for k, n in enumerate(tables.sizes, 1))
    encoded = [word.encode() for word in words]
    letters = np.frombuffer(b"".join(encoded), np.uint8)
    ends = np.cumsum([0, *map(len, encoded)])
    longest = max(map(len, encoded))
    for order in range(1, tables.order + 1):
        yield b"\n\\%d-grams:\n" % order
        first, end = tables.context_levels[order - 1 : order + 1].tolist()
        deepest = tables.context_levels[order] if order < tables.order else len(tables.contexts)
        context, event = first, int(tables.event_levels[order - 1])
        last_event = int(tables.event_levels[order])
        while event < last_event:
            stop = min(event + PIECE, last_event)
            out = np.empty((stop - event) * (2 * NUMBER + order * (longest + 1)), np.uint8)
            size, context = format_ngrams(
                tables.contexts, tables.events, letters, ends, order, order < tables.order, deepest, context, end,
                event, stop, out,
            )  # fmt: skip
            yield out[:size].tobytes()
            event = stop
    yield b"\n\\end\\\n"


@kernel
def format_number(value: Any, out: Any, at: int) -> int:
    """Write the shortest decimal that is nearest to this float32, from `at` on; returns where it ends."""
    if value < 0:
        out[at] = 45  # -
        at += 1
    # Take more and more digits until the decimal is read back as the same float32.
    size = abs(np.float64(value))
    whole = 0
    while size >= 10.0**whole:
        whole += 1
    places = 0
    scaled = np.int64(0)
    for digits in range(1, 18):
        places = max(0, digits - whole)
        scaled = np.int64(np.round(size * 10.0**places))
        if np.float32(scaled / 10.0**places) == np.float32(size):
            break
    # How many digits there are to write, zeros after the point included.
    digits = 1
    while 10.0**digits <= scaled:
        digits += 1
    digits = max(digits, places + 1)
    # Write the digits from the last to the first, and the point on the way.
    point = 1 if places > 0 else 0
    for i in range(digits):
        column = digits - 1 - i
        if i == places and point and i > 0:
            out[at + column + 1] = 46  # .
        out[at + column + (point if i < places else 0)] = 48 + scaled % 10
        scaled //= 10
    return at + digits + point


@kernel
def format_ngrams(
    contexts: NDArray[Any], events: NDArray[Any], letters: Any, ends: Any, order: int, backoffs: bool, deepest: int,
    context: int, last: int, event: int, stop: int, out: Any,
) -> Any:  # fmt: skip
    """Write the lines of the events up to `stop`; returns how many bytes they are, and the context to go on with.

    An n-gram is itself a context if the longest context after it has all its words: its number is at least `deepest`.

    It has many arguments because it goes on where the block before ended, and creates no arrays.
    """
    words = np.empty(order, np.int64)
    at = 0
    while event < stop:
        # The context of the next event, and its words: from the farthest one on, each with the rest as its parent.
        while context < last - 1 and contexts[context + 1]["events"] <= event:
            context += 1
        above = context
        for column in range(order - 1):
            words[column] = contexts[above]["symbol"]
            above = contexts[above]["parent"]
        end = min(stop, contexts[context + 1]["events"])
        while event < end:
            # log10 p, tab, the words.
            words[order - 1] = events[event]["symbol"]
            at = format_number(events[event]["log10"], out, at)
            out[at] = 9
            at += 1
            for column in range(order):
                for i in range(ends[words[column]], ends[words[column] + 1]):
                    out[at] = letters[i]
                    at += 1
                out[at] = 32 if column < order - 1 else 10
                at += 1
            # Tab and the back-off weight of the n-gram as a context, 0 if it is none.
            if backoffs:
                out[at - 1] = 9
                node = events[event]["next"]
                if node >= deepest:
                    at = format_number(contexts[node]["backoff"], out, at)
                else:
                    out[at] = 48
                    at += 1
                out[at] = 10
                at += 1
            event += 1
    return at, context
