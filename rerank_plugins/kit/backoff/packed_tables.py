"""The packed tables of a finished model of text: records of bits, in about half the memory of tables.py.

The records of a level have the widths that it needs, up to 57 bits a number, one after the other in 64-bit integers,
lowest bits first. Not stored are the symbol of a context (that of the n-gram that it is); the first event of a context
and its parent, but for their differences from those of the first record of the block, since both ascend; and the
context that follows an n-gram h x of the highest order, which is the one that follows h' x. KenLM's trie (Heafield
2011) packs in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray, PlaceArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.files.array_values import ROUNDING
from rerank_plugins.kit.kernels import filling_kernel, part

BitArray = NDArray[np.uint64]

# The columns of `event_fields` and of `context_fields`, one row for each level.
FIRST, BIT, WIDTH, VALUE, SMALLEST, BOOK = range(6)
SYMBOL, NEXT = 6, 7  # of events
PARENT, EVENTS, BLOCK, BASE = 6, 7, 8, 9  # of contexts
EVENT_COLUMNS, CONTEXT_COLUMNS = 8, 10
EXACT = -1  # in column BOOK
LARGEST = float(np.finfo(np.float32).max)
MOST_BITS, MOST_RECORDS = 57, 1 << 40  # of a number; of a table, so that places of bits are no more than 64-bit numbers
KINDS = {
    "event_bits": np.uint64, "context_bits": np.uint64, "event_fields": np.int64, "context_fields": np.int64,
    "bases": np.int32, "values": np.float32, "event_levels": np.int64, "context_levels": np.int64,
}  # fmt: skip


class Levels:
    """The orders of tables of both kinds: `event_levels` (n + 1) are where the events of each start."""

    event_levels: LongArray

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.event_levels) - 1

    @property
    def sizes(self) -> list[int]:
        """The number of n-grams of each order."""
        return [int(n) for n in np.diff(self.event_levels)]


@dataclass(frozen=True)
class PackedTables(Levels):
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
    `values`: the codebooks (stores.py).
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
    def arrays(self) -> Any:
        """The arrays, in the order in which kernels take them."""
        return (self.event_bits, self.context_bits, self.event_fields, self.context_fields, self.bases, self.values)

    def check(self, where: str, prefix: str = "") -> None:
        """Raise ModelError if the arrays do not fit together, or if one of the numbers is none that they can have.

        `prefix` is that of the arrays' names in the file `where`. The time is linear in the n-grams.
        """
        order, fits = self.order, all(getattr(self, name).dtype == kind for name, kind in KINDS.items())
        for levels, fields, columns, bits, extra in (
            (self.event_levels, self.event_fields, EVENT_COLUMNS, self.event_bits, 0),
            (self.context_levels, self.context_fields, CONTEXT_COLUMNS, self.context_bits, 1),
        ):
            fits = fits and len(levels) == order + 1 and fields.shape == (order, columns) and levels[0] == 0
            fits = fits and bool((np.diff(levels) >= 0).all() and (fields[:, FIRST] == levels[:-1]).all())
            if fits:
                numbers = fields[:, [VALUE, SYMBOL, NEXT]]  # or VALUE, PARENT, EVENTS
                fits = bool((numbers.sum(axis=1) == fields[:, WIDTH]).all() and (numbers <= MOST_BITS).all())
                fits = fits and int(fields.min()) >= EXACT and int(numbers.min()) >= 0 and int(fields[0, BIT]) >= 0
                fits = fits and int(levels[-1]) <= MOST_RECORDS and int(fields[:, BIT].max()) <= 64 * len(bits)
            if fits:
                ends = fields[:, BIT] + (np.diff(levels) + extra) * fields[:, WIDTH]
                fits = bool((fields[1:, BIT] >= ends[:-1]).all()) and int(ends[-1]) <= 64 * (len(bits) - 1)
        if fits:
            block, base = self.context_fields[:, BLOCK], self.context_fields[:, BASE]
            fits = int(min(block.min(), base.min())) >= 0 and int(block.max()) < 64 and self.bases.shape[1:] == (2,)
            fits = fits and bool((base + (np.diff(self.context_levels) >> block) < len(self.bases)).all())
            fits = fits and links_fit(*self.arrays, self.event_levels, self.context_levels)  # type: ignore[call-arg]
        if not fits:
            raise ModelError(f"{where}: damaged model: its arrays {prefix}event_bits and others do not fit together")


def integers_for(bits: int) -> int:
    """How many 64-bit integers hold so many bits."""
    return -(-bits // 64) + 1


@part
def read_bits(bits: NDArray[np.uint64], at: int, width: int) -> Any:
    """The number of `width` bits that begins at bit `at`."""
    place = at >> 6
    shift = at & 63
    number = bits[place] >> np.uint64(shift)
    if shift + width > 64:
        number |= bits[place + 1] << np.uint64(64 - shift)
    # As int64: numba makes floating-point numbers of sums of signed and unsigned ones.
    return np.int64(number & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)))


@filling_kernel
def write_bits(bits: NDArray[np.uint64], at: int, stride: int, width: int, numbers: PlaceArray) -> None:
    """Write a column of numbers, whose bits must be 0 so far: `width` bits each, the first at bit `at`.

    The numbers, uint32 or less, are `stride` bits apart.
    """
    for i in range(len(numbers)):
        place = at >> 6
        shift = at & 63
        number = np.uint64(numbers[i])
        bits[place] |= number << np.uint64(shift)
        if shift + width > 64:
            bits[place + 1] |= number >> np.uint64(64 - shift)
        at += stride


@part
def level_of(fields: LongArray, number: int) -> int:
    """The level of the event or context of this number."""
    level = 0
    while level + 1 < len(fields) and fields[level + 1, FIRST] <= number:
        level += 1
    return level


@part
def place_of(fields: LongArray, level: int, number: int) -> Any:
    """The first bit of a record."""
    return fields[level, BIT] + (number - fields[level, FIRST]) * fields[level, WIDTH]


@part
def value_at(bits: NDArray[np.uint64], fields: LongArray, values: NDArray[np.float32], level: int, at: int) -> Any:
    """The value that is stored from bit `at` on."""
    code = read_bits(bits, at, fields[level, VALUE])
    if fields[level, BOOK] == EXACT:
        return np.uint32(code + fields[level, SMALLEST]).view(np.float32)
    return values[fields[level, BOOK] + code]


@part
def symbol_at(bits: NDArray[np.uint64], fields: LongArray, level: int, event: int) -> Any:
    """The predicted symbol of an event, not of the empty context."""
    return read_bits(bits, place_of(fields, level, event), fields[level, SYMBOL])


@part
def link_at(bits: NDArray[np.uint64], fields: LongArray, bases: IntArray, level: int, context: int, column: int) -> Any:
    """The number of this column of the bases: a context's parent, or its first event.

    The first event of one context too many is the end of the events of the level.
    """
    block = fields[level, BASE] + ((context - fields[level, FIRST]) >> fields[level, BLOCK])
    at = place_of(fields, level, context) + fields[level, VALUE] + column * fields[level, PARENT]
    return bases[block, column] + read_bits(bits, at, fields[level, PARENT + column])


@part
def next_at(bits: NDArray[np.uint64], fields: LongArray, level: int, event: int) -> Any:
    """The longest context after an event, not of the highest order."""
    at = place_of(fields, level, event) + fields[level, SYMBOL] + fields[level, VALUE]
    return read_bits(bits, at, fields[level, NEXT])


@part
def has_value(bits: BitArray, fields: LongArray, values: NDArray[np.float32], level: int, at: int, most: float) -> bool:
    """Whether a value is stored from bit `at` on, exactly or as a place in its codebook: a finite one up to `most`."""
    book = fields[level, BOOK]
    if book != EXACT and book + read_bits(bits, at, fields[level, VALUE]) >= len(values):
        return False
    return bool(-np.inf < value_at(bits, fields, values, level, at) <= most)


@filling_kernel
def links_fit(
    event_bits: BitArray, context_bits: BitArray, event_fields: LongArray, context_fields: LongArray, bases: IntArray,
    values: NDArray[np.float32], event_levels: LongArray, context_levels: LongArray,
) -> bool:  # fmt: skip
    """Whether all symbols, contexts, parents, events, places in codebooks and values fit, in fields that fit."""
    order = len(event_fields)
    for level in range(order):
        first, end = event_levels[level], event_levels[level + 1]
        # Records without bits are all alike.
        for event in range(first, end if event_fields[level, WIDTH] > 0 else min(first + 1, end)):
            at = place_of(event_fields, level, event)
            if level > 0 and symbol_at(event_bits, event_fields, level, event) >= event_levels[1]:
                return False
            if not has_value(event_bits, event_fields, values, level, at + event_fields[level, SYMBOL], ROUNDING):
                return False
            if level + 1 < order and next_at(event_bits, event_fields, level, event) >= context_levels[level + 2]:
                return False
        last, contexts_end = first, context_levels[level + 1]
        for context in range(context_levels[level], contexts_end + 1):
            begin = link_at(context_bits, context_fields, bases, level, context, 1)
            if begin < last or (context == context_levels[level] and begin != first):
                return False
            last = begin
            if context == contexts_end:
                break
            parent = link_at(context_bits, context_fields, bases, level, context, 0)
            if level > 0 and (parent < context_levels[level - 1] or parent >= context_levels[level]):
                return False
            at = place_of(context_fields, level, context)
            if not has_value(context_bits, context_fields, values, level, at, LARGEST):
                return False
        if last != end:
            return False
    return True


@part
def find_symbol(bits: NDArray[np.uint64], fields: LongArray, level: int, low: int, high: int, symbol: int) -> int:
    """The event of the symbol among the events `low` … `high` of a level above the lowest, or -1."""
    while high - low > 8:
        middle = (low + high) >> 1
        if symbol_at(bits, fields, level, middle) <= symbol:
            low = middle
        else:
            high = middle
    for event in range(low, high):
        if symbol_at(bits, fields, level, event) == symbol:
            return event
    return -1


@filling_kernel
def score_packed_steps(
    event_bits: NDArray[np.uint64], context_bits: NDArray[np.uint64], event_fields: LongArray,
    context_fields: LongArray, bases: IntArray, values: NDArray[np.float32], unseen: float, starts: LongArray,
    lengths: LongArray, symbols: LongArray, log10: FloatArray, matched: LongArray, after: LongArray,
) -> None:  # fmt: skip
    """Fill in the log10 score of each symbol, the event that matches it, and the context after it.

    It has many arguments because it takes the packed tables array by array, as they are stored.
    """
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
                low = link_at(context_bits, context_fields, bases, level, context, 1)
                high = link_at(context_bits, context_fields, bases, level, context + 1, 1)
                event = find_symbol(event_bits, event_fields, level, low, high, symbol)
            if event >= 0:
                if hit < 0:
                    at = place_of(event_fields, level, event) + event_fields[level, SYMBOL]
                    score += float(value_at(event_bits, event_fields, values, level, at))
                    hit = event
                # The highest order has no following contexts: they are those of the next shorter n-gram.
                if level + 1 < order or level == 0:
                    break
            elif hit < 0:
                at = place_of(context_fields, level, context)
                score += float(value_at(context_bits, context_fields, values, level, at))
            context = link_at(context_bits, context_fields, bases, level, context, 0)
            level -= 1
        log10[i], matched[i], after[i] = score, hit, next_at(event_bits, event_fields, level, event)
