"""What an estimator writes the records of a model to: the tables themselves, or packed tables, an order at a time.

A packed value is exact: the bit pattern of its 32-bit float less the smallest pattern of its level, 27 to 29 bits for
logarithms of the usual size. Or it is quantised: the place of its nearest neighbour in a codebook of its level, the
means of bins of equal width, so that no probability changes by more than half the width of a bin (3.5 % for 8 bits and
log10 values from -8 to 0). Measured on 46.8 million words, 8 bits cost 0.04 % of perplexity; with bins of equal
frequency, as in KenLM, 2.7 %. The scores of impossible and unweighted n-grams (-99 and 0) stay exact.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.kit.backoff import packed_tables as packed
from rerank_plugins.kit.backoff.order_estimation import first_children
from rerank_plugins.kit.backoff.packed_tables import PackedTables, integers_for, write_bits
from rerank_plugins.kit.backoff.scoring import look_up
from rerank_plugins.kit.backoff.tables import CONTEXT, EVENT, LOG_ZERO, BackoffTables, RecordArray
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.kit.workspace import Collection, Workspace

Values = NDArray[np.float32]
LOG2_CONTEXTS_A_BLOCK = 5
STRETCH = 1 << 22  # records packed at a time; a multiple of 64, so that each stretch begins with an integer
FILED = 1 << 26  # bytes: more records than this wait in files until the model is complete


def filing(workspace: Workspace) -> Workspace:
    """A workspace from which large arrays go to files at once, as they have to wait."""
    return Workspace(min(workspace.memory, FILED), workspace.folder)


class RecordStore:
    """Records that are the tables, for models of tuples."""

    has_links: ClassVar[bool] = False  # whether `next` of events is needed

    def __init__(self, workspace: Workspace) -> None:
        self._contexts, self._events = Collection(workspace, CONTEXT), Collection(workspace, EVENT)
        self._context_levels, self._event_levels = [0], [0]

    def add_contexts(self, contexts: RecordArray, end: int) -> None:  # noqa: ARG002
        """Add the contexts of the next length."""
        self._contexts.append(contexts)
        self._context_levels.append(self._contexts.rows)

    def add_events(self, events: RecordArray) -> None:
        """Add the events of the next order."""
        self._events.append(events)
        self._event_levels.append(self._events.rows)

    def finish(self, unseen: float) -> BackoffTables:
        """The tables."""
        self._contexts.append(np.array([(0.0, 0, self._event_levels[-1], 0)], CONTEXT))
        contexts, events = self._contexts.finish(), self._events.finish()
        events["next"] = 0
        levels = np.array(self._context_levels, np.int64), np.array(self._event_levels, np.int64)
        return BackoffTables(contexts, events, *levels, first_children(contexts), unseen)


def codebook(values: Values, bits: int) -> Values:
    """(at most 2**bits) the ascending representatives of the values."""
    special = (values <= LOG_ZERO) | (values == 0)
    exact, usual = np.unique(values[special]), values[~special]
    room = (1 << bits) - len(exact)
    if not len(usual):
        return exact
    low, high = float(usual.min()), float(usual.max())
    bins = np.minimum((usual - low) * (room / max(high - low, 1e-9)), room - 1).astype(np.int64)
    sizes = np.bincount(bins, minlength=room)
    centres = np.bincount(bins, usual, room)[sizes > 0] / sizes[sizes > 0]
    book: Values = np.unique(np.concatenate([exact, centres]).astype(np.float32))
    return book


def nearest(values: Values, book: Values) -> NDArray[np.uint32]:
    """(n) the place in the codebook of the representative nearest to each value."""
    middles = (book[1:].astype(np.float64) + book[:-1]) / 2
    places: NDArray[np.uint32] = np.searchsorted(middles, values).astype(np.uint32)
    return places


class PackedStore:
    """Records of a model of text, which are packed; `quantise` is the number of bits of a value, None for exact ones.

    Many records wait in files.
    """

    has_links: ClassVar[bool] = True

    def __init__(self, order: int, quantise: int | None, workspace: Workspace) -> None:
        self._order, self._quantise = order, quantise
        self._bits = {kind: Collection(filing(workspace), np.uint64) for kind in ("events", "contexts")}
        self._fields: dict[str, list[LongArray]] = {"events": [], "contexts": []}
        self._levels = {"events": [0], "contexts": [0]}
        self._bases: list[IntArray] = []
        self._books: list[NDArray[np.float32]] = []

    def add_events(self, events: RecordArray) -> None:
        """Pack the events of the next order; those of the highest are not linked."""
        level = len(self._fields["events"])
        fields, codes = self._start("events", packed.EVENT_COLUMNS, events["log10"])
        columns = [(codes, fields[packed.VALUE])]
        if level > 0:
            fields[packed.SYMBOL] = _width(events["symbol"])
            columns.insert(0, (events["symbol"], fields[packed.SYMBOL]))
        if level < self._order - 1:
            fields[packed.NEXT] = _width(events["next"])
            columns.append((events["next"], fields[packed.NEXT]))
        self._write("events", fields, columns)

    def add_contexts(self, contexts: RecordArray, end: int) -> None:
        """Pack the contexts of the next length, and a record for the end of their events."""
        fields, codes = self._start("contexts", packed.CONTEXT_COLUMNS, contexts["backoff"])
        parents = np.append(contexts["parent"], contexts["parent"][-1:] if len(contexts) else np.int32(0))
        first_events = np.append(contexts["events"], np.int32(end))
        fields[packed.BLOCK], fields[packed.BASE] = LOG2_CONTEXTS_A_BLOCK, sum(map(len, self._bases))
        self._bases.append(np.stack([less_bases(parents), less_bases(first_events)], axis=1))
        fields[packed.PARENT], fields[packed.EVENTS] = _width(parents), _width(first_events)
        columns = [
            (np.append(codes, np.uint32(0)), fields[packed.VALUE]),
            (parents, fields[packed.PARENT]),
            (first_events, fields[packed.EVENTS]),
        ]
        self._write("contexts", fields, columns)

    def _start(self, kind: str, columns: int, values: NDArray[np.float32]) -> tuple[LongArray, Any]:
        """The fields of the next level, those of its values filled in, and the codes of these values."""
        fields = np.zeros(columns, np.int64)
        fields[packed.FIRST] = self._levels[kind][-1]
        self._levels[kind].append(self._levels[kind][-1] + len(values))
        fields[packed.BIT] = self._bits[kind].rows * 64
        if self._quantise is None:
            codes = values.copy().view(np.uint32)
            fields[packed.BOOK], fields[packed.SMALLEST] = packed.EXACT, codes.min() if len(codes) else 0
            codes -= np.uint32(fields[packed.SMALLEST])
        else:
            book = codebook(values, self._quantise)
            fields[packed.BOOK] = sum(map(len, self._books))
            self._books.append(book)
            codes = nearest(values, book)
        fields[packed.VALUE] = _width(codes)
        return fields, codes

    def _write(self, kind: str, fields: LongArray, columns: list[tuple[NDArray[Any], Any]]) -> None:
        stride = fields[packed.WIDTH] = sum(width for _, width in columns)
        size = len(columns[0][0])
        for start in range(0, max(size, 1), STRETCH):
            bits = np.zeros(integers_for(int(stride) * min(STRETCH, size - start)), np.uint64)
            at = 0
            for column, width in columns:
                write_bits(bits, at, int(stride), int(width), column[start : start + STRETCH].astype(np.uint32))
                at += int(width)
            self._bits[kind].append(bits if start + STRETCH >= size else bits[:-1])
        self._fields[kind].append(fields)

    def finish(self, unseen: float) -> PackedTables:
        """The tables."""
        bits = {kind: collection.finish() for kind, collection in self._bits.items()}
        fields = {kind: np.array(rows, np.int64) for kind, rows in self._fields.items()}
        bases, values = np.concatenate(self._bases), np.concatenate([*self._books, np.zeros(0, np.float32)])
        context_levels, event_levels = (np.array(self._levels[kind], np.int64) for kind in ("contexts", "events"))
        return PackedTables(
            bits["events"], bits["contexts"], fields["events"], fields["contexts"], bases, values,
            context_levels, event_levels, unseen,
        )  # fmt: skip


def pack(tables: BackoffTables, quantise: int | None = None) -> PackedTables:
    """The packed tables of a model of text that was estimated here."""
    store = PackedStore(tables.order, quantise, Workspace())
    for level in range(tables.order):
        start, end = tables.event_levels[level : level + 2].tolist()
        store.add_events(tables.events[start:end])
        store.add_contexts(tables.contexts[slice(*tables.context_levels[level : level + 2].tolist())], end)
    return store.finish(tables.unseen)


def unpack(tables: PackedTables) -> BackoffTables:
    """The tables as records, which take about twice the memory."""
    contexts = np.zeros(int(tables.context_levels[-1]) + 1, CONTEXT)
    events = np.zeros(int(tables.event_levels[-1]), EVENT)
    _fill(*tables.arrays, tables.context_levels, contexts, events)  # type: ignore[call-arg]
    contexts[-1] = (0.0, 0, len(events), 0)
    return BackoffTables(contexts, events, tables.context_levels, tables.event_levels, unseen=tables.unseen)


@filling_kernel
def _fill(
    event_bits: NDArray[np.uint64], context_bits: NDArray[np.uint64], event_fields: LongArray,
    context_fields: LongArray, bases: IntArray, values: NDArray[np.float32], context_levels: LongArray,
    contexts: NDArray[Any], events: NDArray[Any],
) -> None:  # fmt: skip
    """Fill in the records of contexts and events."""
    order = len(event_fields)
    for level in range(order):
        longer = context_levels[level + 1]
        for context in range(context_levels[level], longer):
            low = packed.link_at(context_bits, context_fields, bases, level, context, 1)
            high = packed.link_at(context_bits, context_fields, bases, level, context + 1, 1)
            contexts[context]["events"] = low
            at = packed.place_of(context_fields, level, context)
            contexts[context]["backoff"] = packed.value_at(context_bits, context_fields, values, level, at)
            parent = 0
            if level > 0:
                parent = packed.link_at(context_bits, context_fields, bases, level, context, 0)
                contexts[context]["parent"] = parent
            for event in range(low, high):
                symbol = event if level == 0 else packed.symbol_at(event_bits, event_fields, level, event)
                events[event]["symbol"] = symbol
                at = packed.place_of(event_fields, level, event) + event_fields[level, packed.SYMBOL]
                events[event]["log10"] = packed.value_at(event_bits, event_fields, values, level, at)
                if level + 1 < order or level == 0:
                    following = packed.next_at(event_bits, event_fields, level, event)
                    # The symbol of a context that is one word longer is the farthest word of this n-gram.
                    if following >= longer:
                        contexts[following]["symbol"] = symbol if level == 0 else contexts[context]["symbol"]
                else:
                    # What follows an n-gram of the highest order follows the next shorter n-gram of the model.
                    _, shorter = look_up(contexts, events, parent, symbol)
                    following = events[shorter]["next"]
                events[event]["next"] = following


def _width(numbers: NDArray[Any]) -> int:
    return int(numbers.max()).bit_length() if len(numbers) else 0


def less_bases(links: IntArray) -> IntArray:
    """Replace ascending numbers by their differences from the first of their block; returns these bases."""
    bases = links[:: 1 << LOG2_CONTEXTS_A_BLOCK].copy()
    links -= np.repeat(bases, 1 << LOG2_CONTEXTS_A_BLOCK)[: len(links)]
    return bases
