"""The packed tables of a finished model of text: records of bits, in about half the memory of tables.py.

The records of a level have the widths that it needs. Three things are not stored. The symbol of a context is that of
the n-gram that it is. The first event of a context and its parent ascend with the number of the context, so that a
record holds only the differences from those of the first record of its block. The context that follows an n-gram h x
of the highest order is the one that follows h' x, where h' is h without its farthest word: no context is longer.

KenLM's trie (Heafield 2011) packs words, probabilities and pointers in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.errors import ModelError

BitArray = NDArray[np.uint64]

# The columns of `event_fields` and of `context_fields`, one row for each level.
FIRST, BIT, WIDTH, VALUE, SMALLEST, BOOK = range(6)
SYMBOL, NEXT = 6, 7  # of events
PARENT, EVENTS, BLOCK, BASE = 6, 7, 8, 9  # of contexts
EVENT_COLUMNS, CONTEXT_COLUMNS = 8, 10
EXACT = -1  # in column BOOK


@dataclass(frozen=True)
class PackedTables:
    """The arrays of a model of text of order n.

    `event_bits`, `context_bits`: the records. That of an event has the predicted symbol (not for the empty context,
    where it is the place of the event), its value, and the longest known context after it (not at the highest order);
    that of a context has its value, and how far its parent and its first event are from those of its block. Each level
    of contexts ends with one more record for the end of its events.
    `event_fields` (n, 8), `context_fields` (n, 10): for each level its first number and its first bit; the width of a
    record and of the value in it; the bit pattern of the smallest value; the place of its codebook in `values`, or
    EXACT; then the widths of the symbol and of the following context, or of the parent and of the events, log2 of the
    size of a block, and the first of its blocks.
    `bases` (blocks, 2): the parent and the first event of the first context of each block.
    `values`: the codebooks (codebooks.py).
    `context_levels`, `event_levels` and `unseen` are as in BackoffTables.
    """

    event_bits: BitArray
    context_bits: BitArray
    event_fields: LongArray
    context_fields: LongArray
    bases: IntArray
    values: NDArray[np.float32]
    context_levels: LongArray
    event_levels: LongArray
    unseen: float = 0.0

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.event_levels) - 1

    @property
    def sizes(self) -> list[int]:
        """The number of n-grams of each order."""
        return [int(n) for n in np.diff(self.event_levels)]

    @cached_property
    def unigrams(self) -> NDArray[np.float32]:
        """(symbols) log10 p of each symbol in the empty context."""
        return self.event_values(0)

    def event_values(self, level: int) -> NDArray[np.float32]:
        """(n) the value of each event of a level."""
        fields = self.event_fields[level]
        return self._decoded(self.event_bits, fields, int(fields[BIT] + fields[SYMBOL]), self.sizes[level])

    def context_values(self, level: int) -> NDArray[np.float32]:
        """(n) the value of each context of a level."""
        fields = self.context_fields[level]
        number = int(self.context_levels[level + 1] - self.context_levels[level])
        return self._decoded(self.context_bits, fields, int(fields[BIT]), number)

    def _decoded(self, bits: BitArray, fields: LongArray, at: int, number: int) -> NDArray[np.float32]:
        from rerank_plugins.kit.backoff.bit_fields import copy_bits

        codes = np.empty(number, np.uint32)
        copy_bits(bits, at, int(fields[WIDTH]), int(fields[VALUE]), codes)
        if fields[BOOK] == EXACT:
            codes += np.uint32(fields[SMALLEST])
            return codes.view(np.float32)
        decoded: NDArray[np.float32] = self.values[fields[BOOK] + codes]
        return decoded

    def following(self, symbol: int) -> int:
        """The context after this symbol in the empty context."""
        from rerank_plugins.kit.backoff.bit_fields import copy_bits

        fields = self.event_fields[0]
        after = np.zeros(1, np.uint32)
        at = int(fields[BIT] + symbol * fields[WIDTH] + fields[SYMBOL] + fields[VALUE])
        copy_bits(self.event_bits, at, 0, int(fields[NEXT]), after)
        return int(after[0])

    def check(self, where: str) -> None:
        """Raise ModelError if the arrays do not fit together. O(order): not every value is checked."""
        order, fits = self.order, True
        for levels, fields, columns, bits, extra in (
            (self.event_levels, self.event_fields, EVENT_COLUMNS, self.event_bits, 0),
            (self.context_levels, self.context_fields, CONTEXT_COLUMNS, self.context_bits, 1),
        ):
            fits = fits and len(levels) == order + 1 and fields.shape == (order, columns) and levels[0] == 0
            fits = fits and bool((np.diff(levels) >= 0).all() and (fields[:, FIRST] == levels[:-1]).all())
            if fits:
                ends = fields[:, BIT] + (np.diff(levels) + extra) * fields[:, WIDTH]
                fits = bool((fields[1:, BIT] >= ends[:-1]).all()) and int(ends[-1]) <= 64 * (len(bits) - 1)
        if fits:
            blocks = self.context_fields[:, BASE] + (np.diff(self.context_levels) >> self.context_fields[:, BLOCK])
            fits = bool((blocks < len(self.bases)).all()) and self.bases.shape[1:] == (2,)
        if not fits:
            raise ModelError(f"{where}: damaged model: its arrays do not fit together")
