"""Stores the records of a model that is being estimated: in the tables themselves, or packed an order at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from rerank_plugins.core.arrays import LongArray
from rerank_plugins.kit.backoff.context_links import first_children
from rerank_plugins.kit.backoff.packed_levels import Packer
from rerank_plugins.kit.backoff.packed_tables import PackedTables
from rerank_plugins.kit.backoff.tables import CONTEXT, EVENT, BackoffTables, RecordArray
from rerank_plugins.kit.workspace import Collection, Workspace

Tables = TypeVar("Tables", covariant=True)
FILED = 1 << 26  # bytes: more records than this wait in files until the model is complete


class Store(Protocol[Tables]):
    """Room for the records of each order in turn; `has_last_links`: whether the highest order has links."""

    has_last_links: bool

    def start(self, event_levels: LongArray, most: int) -> None:
        """Begin a model with these levels of events and at most `most` contexts, the end included."""
        ...

    def events_of(self, order: int, parts: Sequence[RecordArray]) -> RecordArray:
        """Records of EVENT with the content of these parts, the events of an order."""
        ...

    def contexts(self, size: int) -> RecordArray:
        """Records for the contexts of the next length."""
        ...

    def events_done(self, events: RecordArray, first: int) -> None:
        """The events of the next order, from number `first` on, are complete."""
        ...

    def contexts_done(self, contexts: RecordArray, first: int, end: int) -> None:
        """The contexts of the next length, from number `first` on, are complete; their events end at `end`."""
        ...

    def finish(self, context_levels: LongArray, unseen: float) -> Tables:
        """The tables."""
        ...


def joined(parts: Iterable[RecordArray], records: RecordArray) -> RecordArray:
    """`records`, filled with the parts one after the other."""
    start = 0
    for part in parts:
        records[start : start + len(part)] = part
        start += len(part)
    return records


class RecordStore:
    """Records that are the tables; `text` as for `estimate`."""

    has_last_links = True

    def __init__(self, workspace: Workspace, text: bool) -> None:
        self._workspace, self._text, self._used = workspace, text, 0

    def start(self, event_levels: LongArray, most: int) -> None:
        """Make room for all records."""
        self._event_levels = event_levels
        self._events = self._workspace.empty(int(event_levels[-1]), EVENT)
        self._contexts = self._workspace.empty(most, CONTEXT)

    def events_of(self, order: int, parts: Sequence[RecordArray]) -> RecordArray:
        """They are copied into a part of the whole array."""
        return joined(parts, self._events[self._event_levels[order - 1] : self._event_levels[order]])

    def contexts(self, size: int) -> RecordArray:
        """A part of the whole array."""
        self._used += size
        return self._contexts[self._used - size : self._used]

    def events_done(self, events: RecordArray, first: int) -> None:
        """They are where they should be."""

    def contexts_done(self, contexts: RecordArray, first: int, end: int) -> None:
        """They are where they should be."""

    def finish(self, context_levels: LongArray, unseen: float) -> BackoffTables:
        """The tables; models of tuples get the links that they are looked up by."""
        contexts = self._contexts[: self._used + 1]
        contexts[-1] = (0.0, 0, len(self._events), 0)
        if self._text:
            return BackoffTables(contexts, self._events, context_levels, self._event_levels, unseen=unseen)
        self._events["next"] = 0
        children = first_children(contexts)
        return BackoffTables(contexts, self._events, context_levels, self._event_levels, children, unseen)


class PackedStore:
    """Records that are packed, and then given up; `quantise` as for Packer."""

    has_last_links = False

    def __init__(self, order: int, quantise: int | None, workspace: Workspace) -> None:
        self._workspace = workspace
        self._filing = Workspace(min(workspace.memory, FILED), workspace.folder)
        self._packer = Packer(order, quantise, self._filing)

    def start(self, event_levels: LongArray, most: int) -> None:  # noqa: ARG002
        """Note the levels."""
        self._event_levels = event_levels

    def events_of(self, order: int, parts: Sequence[RecordArray]) -> RecordArray:  # noqa: ARG002
        """They are copied, into a file if they are many."""
        records = Collection(self._filing, EVENT)
        for part in parts:
            records.append(part)
        return records.finish()

    def contexts(self, size: int) -> RecordArray:
        """An array for this length."""
        return self._workspace.empty(size, CONTEXT)

    def events_done(self, events: RecordArray, first: int) -> None:
        """Pack them."""
        self._packer.add_events(first, events)

    def contexts_done(self, contexts: RecordArray, first: int, end: int) -> None:
        """Pack them."""
        self._packer.add_contexts(first, contexts, end)

    def finish(self, context_levels: LongArray, unseen: float) -> PackedTables:
        """The packed tables."""
        return self._packer.finish(context_levels, self._event_levels, unseen)
