"""The parts of kernels that read the records of packed tables (packed_tables.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rerank_plugins.kit.backoff.bit_fields import read_bits
from rerank_plugins.kit.backoff.packed_tables import (
    BASE,
    BIT,
    BLOCK,
    BOOK,
    EVENTS,
    EXACT,
    FIRST,
    NEXT,
    PARENT,
    SMALLEST,
    SYMBOL,
    VALUE,
    WIDTH,
)  # fmt: skip
from rerank_plugins.kit.kernels import part


@part
def level_of(fields: Any, number: int) -> int:
    """The level of the event or context of this number."""
    level = 0
    while level + 1 < len(fields) and fields[level + 1, FIRST] <= number:
        level += 1
    return level


@part
def place_of(fields: Any, level: int, number: int) -> Any:
    """The first bit of a record."""
    return fields[level, BIT] + (number - fields[level, FIRST]) * fields[level, WIDTH]


@part
def value_at(bits: Any, fields: Any, values: Any, level: int, at: int) -> Any:
    """The value that is stored from bit `at` on."""
    code = read_bits(bits, at, fields[level, VALUE])
    if fields[level, BOOK] == EXACT:
        return np.uint32(code + fields[level, SMALLEST]).view(np.float32)
    return values[fields[level, BOOK] + code]


@part
def symbol_at(bits: Any, fields: Any, level: int, event: int) -> Any:
    """The predicted symbol of an event, not of the empty context."""
    return read_bits(bits, place_of(fields, level, event), fields[level, SYMBOL])


@part
def events_at(bits: Any, fields: Any, bases: Any, level: int, context: int) -> Any:
    """The first event of a context, or the end of the events of the level for one context too many."""
    block = fields[level, BASE] + ((context - fields[level, FIRST]) >> fields[level, BLOCK])
    at = place_of(fields, level, context) + fields[level, VALUE] + fields[level, PARENT]
    return bases[block, 1] + read_bits(bits, at, fields[level, EVENTS])


@part
def parent_at(bits: Any, fields: Any, bases: Any, level: int, context: int) -> Any:
    """The parent of a context."""
    block = fields[level, BASE] + ((context - fields[level, FIRST]) >> fields[level, BLOCK])
    at = place_of(fields, level, context) + fields[level, VALUE]
    return bases[block, 0] + read_bits(bits, at, fields[level, PARENT])


@part
def next_at(bits: Any, fields: Any, level: int, event: int) -> Any:
    """The longest context after an event, not of the highest order."""
    at = place_of(fields, level, event) + fields[level, SYMBOL] + fields[level, VALUE]
    return read_bits(bits, at, fields[level, NEXT])


@part
def find_symbol(bits: Any, fields: Any, level: int, low: int, high: int, symbol: int) -> int:
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
