"""Packs events into as few 64-bit integers as their ids need, so that events are sorted as integers.

An event is a predicted symbol x in a context c_1 … c_{n-1}, nearest symbol first; a context may be shorter. The columns
are laid out in that order, x first, from the highest bits of the first integer down; no column crosses the border of
two integers. Rows then compare by x, then by the nearest context symbol, and so on outwards: this is *suffix order*.
Context symbols are stored plus one: 0 marks the end of the context, and sorts before every longer context. Each column
has ids of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.kit.kernels import filling_kernel

BITS = 63  # of a non-negative int64
NONE = -1  # in an array of events: no symbol, as the context is shorter


@dataclass(frozen=True)
class EventLayout:
    """The layout of the columns of an event: x, then c_1 … c_{n-1}.

    `sizes[0]` is the number of symbols that can be predicted, `sizes[j]` the number of symbols in context place j.
    """

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.sizes) <= 6:
            raise ConfigError(f"order {len(self.sizes)}: orders 1 to 6 are supported")
        if min(self.sizes) < 1 or max(self.sizes) >= 1 << 31:
            raise ConfigError(f"a column of an event may have 1 to 2**31 - 1 symbols, found {self.sizes}")

    @property
    def order(self) -> int:
        """The length of the longest n-grams, x and its context."""
        return len(self.sizes)

    @property
    def places(self) -> LongArray:
        """(n, 3) for each column the integer (word) that holds it, its shift and its mask."""
        places, word, free = [], 0, BITS
        for column, size in enumerate(self.sizes):
            bits = size.bit_length() if column else max(1, (size - 1).bit_length())
            if bits > free:
                word, free = word + 1, BITS
            free -= bits
            places.append((word, free, (1 << bits) - 1))
        return np.array(places, np.int64)

    @property
    def words(self) -> int:
        """The number of integers in a row."""
        return int(self.places[-1, 0]) + 1

    def pack(self, events: NDArray[np.integer[Any]]) -> LongArray:
        """(m, n) events, farthest context symbol first, x last, NONE left of short contexts -> (m, words) rows.

        Raises ValueError for ids that are out of range, and for a context with a gap.
        """
        events = np.asarray(events)
        if events.ndim != 2 or events.shape[1] != self.order:
            raise ValueError(f"events have shape {events.shape}, wanted (m, {self.order})")
        rows = np.zeros((len(events), self.words), np.int64)
        for column, (size, (word, shift, _)) in enumerate(zip(self.sizes, self.places.tolist(), strict=True)):
            ids = events[:, self.order - 1 - column].astype(np.int64)
            low = NONE if column else 0
            if len(ids) and (ids.min() < low or ids.max() >= size):
                raise ValueError(
                    f"ids of column {column} go from {ids.min()} to {ids.max()}, wanted {low} to {size - 1}"
                )
            if column > 1 and ((ids != NONE) & (events[:, self.order - column] == NONE)).any():
                raise ValueError("a context has a gap: NONE may stand only to the left of all its symbols")
            rows[:, word] |= (ids + 1 if column else ids) << shift
        return rows


@filling_kernel
def pack_text(
    tokens: Any, start: int, end: int, bos: int, eos: int, places: Any, bins: Any, cursor: Any, rows: Any
) -> None:
    """Pack the words `start` … `end` of a text in which each sentence ends in `eos`, and put each row in its bucket.

    `bins[x]` is the bucket of x, `cursor[bucket]` the next free row in it.
    """
    order = len(places)
    for i in range(start, end):
        # The next free row of the bucket of x.
        x = tokens[i]
        row = cursor[bins[x]]
        cursor[bins[x]] += 1
        for word in range(rows.shape[1]):
            rows[row, word] = 0
        rows[row, 0] = np.int64(x) << places[0, 1]
        # The context: the words before x, back to `<s>`.
        for column in range(1, order):
            j = i - column
            begins = j < 0 or tokens[j] == eos
            symbol = np.int64(bos) if begins else np.int64(tokens[j])
            rows[row, places[column, 0]] |= (symbol + 1) << places[column, 1]
            if begins:
                break


@filling_kernel
def scatter_rows(packed: Any, start: int, end: int, shift: int, bins: Any, cursor: Any, rows: Any) -> None:
    """Copy packed rows into their buckets, as `pack_text` does."""
    for i in range(start, end):
        bucket = bins[packed[i, 0] >> shift]
        row = cursor[bucket]
        cursor[bucket] += 1
        for word in range(rows.shape[1]):
            rows[row, word] = packed[i, word]
