"""Packs the records of an estimated model of text into packed tables (packed_tables.py), a level at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.kit.backoff.bit_fields import integers_for, write_bits
from rerank_plugins.kit.backoff.codebooks import codebook, nearest
from rerank_plugins.kit.backoff.packed_tables import (
    BASE,
    BIT,
    BLOCK,
    BOOK,
    CONTEXT_COLUMNS,
    EVENT_COLUMNS,
    EVENTS,
    EXACT,
    FIRST,
    NEXT,
    PARENT,
    SMALLEST,
    SYMBOL,
    VALUE,
    WIDTH,
    PackedTables,
)  # fmt: skip
from rerank_plugins.kit.backoff.tables import BackoffTables, RecordArray
from rerank_plugins.kit.workspace import Collection, Workspace

BLOCKS = (3, 4, 5, 6, 7)  # log2 of the sizes of blocks to choose from
STRETCH = 1 << 22  # records converted at a time; a multiple of 64, so that each stretch begins with an integer


class Packer:
    """Packs the levels of a model in turn; `quantise` is the number of bits of a value, or None for exact values.

    The records go to `workspace`.
    """

    def __init__(self, order: int, quantise: int | None = None, workspace: Workspace | None = None) -> None:
        self._order, self._quantise = order, quantise
        self._bits = {kind: Collection(workspace or Workspace(), np.uint64) for kind in ("events", "contexts")}
        self._fields: dict[str, list[LongArray]] = {"events": [], "contexts": []}
        self._bases: list[IntArray] = []
        self._books: list[NDArray[np.float32]] = []

    def add_events(self, first: int, events: RecordArray) -> None:
        """Pack the events of the next order, the first of which has the number `first`."""
        level = len(self._fields["events"])
        fields, codes = self._start("events", EVENT_COLUMNS, first, events["log10"])
        columns = [(codes, fields[VALUE])]
        if level > 0:
            fields[SYMBOL] = _width(events["symbol"])
            columns.insert(0, (events["symbol"], fields[SYMBOL]))
        if level < self._order - 1:
            fields[NEXT] = _width(events["next"])
            columns.append((events["next"], fields[NEXT]))
        self._write("events", fields, columns)

    def add_contexts(self, first: int, contexts: RecordArray, end: int) -> None:
        """Pack the contexts of the next length; `end` is the end of the events of the last one."""
        fields, codes = self._start("contexts", CONTEXT_COLUMNS, first, contexts["backoff"])
        number = len(contexts)
        links = np.empty((number + 1, 2), np.int32)
        links[:number, 0], links[:number, 1] = contexts["parent"], contexts["events"]
        links[number] = links[number - 1, 0] if number else 0, end
        # The size of the blocks with which the bases and the differences from them take the fewest bits.
        chosen = min(BLOCKS, key=lambda size: 64 * ((number >> size) + 1) + (number + 1) * sum(_widths(links, size)))
        fields[BLOCK], fields[BASE] = chosen, sum(map(len, self._bases))
        fields[PARENT], fields[EVENTS] = _widths(links, chosen)
        bases = links[:: 1 << chosen].copy()
        for start in range(0, number + 1, STRETCH):  # STRETCH is a multiple of the size of a block
            stretch = links[start : start + STRETCH]
            stretch -= np.repeat(stretch[:: 1 << chosen], 1 << chosen, axis=0)[: len(stretch)]
        self._bases.append(bases)
        codes = np.concatenate([codes, np.zeros(1, codes.dtype)])
        columns = [(codes, fields[VALUE]), (links[:, 0], fields[PARENT]), (links[:, 1], fields[EVENTS])]
        self._write("contexts", fields, columns)

    def _start(self, kind: str, columns: int, first: int, values: NDArray[np.float32]) -> tuple[LongArray, Any]:
        """The fields of the next level, those of its values filled in, and the codes of these values."""
        fields = np.zeros(columns, np.int64)
        fields[FIRST] = first
        fields[BIT] = self._bits[kind].rows * 64
        if self._quantise is None:
            codes = values.copy().view(np.uint32)
            fields[BOOK], fields[SMALLEST] = EXACT, codes.min() if len(codes) else 0
            codes -= np.uint32(fields[SMALLEST])
        else:
            book = codebook(values, self._quantise)
            fields[BOOK] = sum(map(len, self._books))
            self._books.append(book)
            codes = nearest(values, book)
        fields[VALUE] = _width(codes)
        return fields, codes

    def _write(self, kind: str, fields: LongArray, columns: list[tuple[NDArray[Any], Any]]) -> None:
        stride = fields[WIDTH] = sum(width for _, width in columns)
        size = len(columns[0][0])
        for start in range(0, max(size, 1), STRETCH):
            bits = np.zeros(integers_for(int(stride) * min(STRETCH, size - start)), np.uint64)
            at = 0
            for column, width in columns:
                write_bits(bits, at, int(stride), int(width), column[start : start + STRETCH].astype(np.uint32))
                at += int(width)
            self._bits[kind].append(bits if start + STRETCH >= size else bits[:-1])
        self._fields[kind].append(fields)

    def finish(self, context_levels: LongArray, event_levels: LongArray, unseen: float) -> PackedTables:
        """The tables, once all levels have been added."""
        bits = {kind: collection.finish() for kind, collection in self._bits.items()}
        fields = {kind: np.array(rows, np.int64) for kind, rows in self._fields.items()}
        bases, values = np.concatenate(self._bases), np.concatenate([*self._books, np.zeros(0, np.float32)])
        return PackedTables(
            bits["events"], bits["contexts"], fields["events"], fields["contexts"], bases, values,
            context_levels, event_levels, unseen,
        )  # fmt: skip


def pack(tables: BackoffTables, quantise: int | None = None) -> PackedTables:
    """The packed tables of a model of text that was estimated here."""
    packer = Packer(tables.order, quantise)
    for level in range(tables.order):
        start, end = tables.event_levels[level : level + 2].tolist()
        packer.add_events(start, tables.events[start:end])
        first, last = tables.context_levels[level : level + 2].tolist()
        packer.add_contexts(first, tables.contexts[first:last], end)
    return packer.finish(tables.context_levels, tables.event_levels, tables.unseen)


def _width(numbers: NDArray[Any]) -> int:
    return int(numbers.max()).bit_length() if len(numbers) else 0


def _widths(links: IntArray, size: int) -> tuple[int, int]:
    """The bits of the greatest differences within blocks of 2**size records."""
    firsts = links[:: 1 << size]
    lasts = links[(1 << size) - 1 :: 1 << size]
    if len(lasts) < len(firsts):
        lasts = np.concatenate([lasts, links[-1:]])
    parent, events = (lasts - firsts).max(axis=0).tolist()
    return parent.bit_length(), events.bit_length()
