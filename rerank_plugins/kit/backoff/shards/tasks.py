"""The tasks of an estimation: counting, estimation and linking (shards/__init__.py)."""

# ruff: noqa: ARG002 (_FileStore has the signatures and docstrings of Store)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.backoff.estimation import Orders, count_of_counts, kept_ngrams
from rerank_plugins.kit.backoff.events import MOST, TupleEvents
from rerank_plugins.kit.backoff.order_estimation import link_ngrams, place_links
from rerank_plugins.kit.backoff.shards.files import Shards, mapped_array, part_of_file, write_array, write_parts
from rerank_plugins.kit.backoff.stores import Store
from rerank_plugins.kit.backoff.suffix_trie import TrieLevel, build_trie
from rerank_plugins.kit.backoff.tables import CONTEXT, EVENT, RecordArray
from rerank_plugins.kit.workspace import Workspace


class Sizes(NamedTuple):
    """How many contexts of 0, 1, … symbols and how many events of order 1, 2, … a part has.

    The empty context and its events belong to every part.
    """

    contexts: list[int]
    events: list[int]


@dataclass(frozen=True)
class Estimation:
    """The task: estimates the n-grams of a part, and writes the records `contexts-PART-LENGTH`, `events-PART-ORDER`.

    Numbers of contexts, events and n-grams are those in a model of this part alone. `discounts` are those of each
    order, `backoff` is a constant γ or negative (order_estimation.py).
    """

    shards: Shards
    discounts: tuple[tuple[float, ...], ...]
    backoff: float

    def __call__(self, part: int) -> Sizes:
        """The numbers of records of the part."""
        shards, workspace = self.shards, self.shards.workspace()
        levels = self._levels(part, workspace)
        kept = [kept_ngrams(level, low) for level, low in zip(levels[1:], shards.cut[1:], strict=True)]
        event_levels = np.cumsum([0, shards.sizes[0], *kept])
        store = _FileStore(shards, part, workspace)
        orders = Orders(levels, store, event_levels, list(shards.cut), shards.sizes, False, workspace, 1)
        lower = np.array(mapped_array(shards.file("lowest"), np.float64))
        for order in range(2, shards.order + 1):
            lower = orders.add(order, lower, np.array(self.discounts[order - 1]), self.backoff)
        return orders.finish(0.0)

    def _levels(self, part: int, workspace: Workspace) -> list[TrieLevel]:
        """The n-grams of the part, in suffix order, since parts of predicted symbols follow each other."""
        shards = self.shards
        size = shards.sizes[0]
        none = np.zeros(size, np.int32)
        levels = [TrieLevel(np.arange(size, dtype=np.int32), none, none, None)]
        width = 4 if shards.raw else 3
        before = np.zeros(shards.parts + 1, np.int64)  # n-grams of the order before in the parts before each part
        for order in range(2, shards.order + 1):
            blocks = [part_of_file(shards.file("ngrams", p, order), part, np.int32, width) for p in range(shards.parts)]
            ends = np.cumsum([0, *map(len, blocks)])
            if ends[-1] > MOST:
                raise ModelError(f"{ends[-1]:,} n-grams have contexts of one part, which may have {MOST:,}")
            columns = [workspace.empty(int(ends[-1]), np.int32) for _ in range(width)]
            for block, start, end, add in zip(blocks, ends, ends[1:], before, strict=False):
                for column, values in zip(columns, block.T, strict=True):
                    column[start:end] = values
                columns[1][start:end] += np.int32(add if order > 2 else 0)
            levels.append(TrieLevel(columns[0], columns[1], columns[2], self._raw(columns)))
            before = ends
        return levels

    def _raw(self, columns: Sequence[IntArray]) -> IntArray | None:
        if self.shards.raw:
            return columns[3]
        return columns[2] if any(self.shards.cut) else None


class _FileStore(Store[Sizes]):
    """Writes the records of each order but the lowest to its file; `finish` gives the numbers of records."""

    def __init__(self, shards: Shards, part: int, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._shards, self._part = shards, part
        self._sizes = Sizes([], [])

    def events_done(self, events: RecordArray, first: int) -> None:
        self._sizes.events.append(len(events))
        if len(self._sizes.events) > 1:
            write_array(self._shards.file("events", self._part, len(self._sizes.events)), events)

    def contexts_done(self, contexts: RecordArray, first: int, end: int) -> None:
        if self._sizes.contexts:
            write_array(self._shards.file("contexts", self._part, len(self._sizes.contexts)), contexts)
        self._sizes.contexts.append(len(contexts))

    def finish(self, context_levels: LongArray, unseen: float) -> Sizes:
        return self._sizes


class Counted(NamedTuple):
    """For each order: the number of n-grams, how many are kept, and (order, 5) how many have count 0 … 4."""

    ngrams: list[int]
    kept: list[int]
    of_counts: LongArray


@dataclass(frozen=True)
class Counting:
    """The task: counts the n-grams of a part from the rows `rows-SOURCE`, which have a part for each part.

    It writes the counts of 1-grams to `unigrams-PART`, the nodes of the trie to `symbols-PART-ORDER` and
    `parents-PART-ORDER`, and those of each part of contexts to `ngrams-PART-ORDER`.
    """

    shards: Shards

    def __call__(self, part: int) -> Counted:
        """The numbers of n-grams of the part."""
        shards = self.shards
        layout, workspace = shards.layout, shards.workspace()
        events = TupleEvents(shards.sizes, workspace)
        for source in range(shards.sources):
            rows = part_of_file(shards.file("rows", source), part, np.int64, layout.words)
            events.add_packed(rows.reshape(-1, layout.words))
        rows, starts = events.deal(workspace, 1)
        raw = any(shards.cut)
        levels = build_trie(
            rows, starts, layout.places, workspace, continuation=shards.continuation, raw=raw, jobs=1
        )  # fmt: skip
        write_parts(
            shards.file("unigrams", part), np.column_stack([levels[0].symbol, levels[0].count]), [0, len(levels[0])]
        )
        for order, level in enumerate(levels, 1):
            if shards.text and (order < shards.order or shards.last_links):
                write_array(shards.file("symbols", part, order), level.symbol)
                write_array(shards.file("parents", part, order), level.parent)
        parents = levels[0].symbol  # those of 2-grams are named by their symbol
        for order, (level, split) in enumerate(zip(levels[1:], split_by_context(levels, shards), strict=True), 2):
            columns = [level.symbol, parents[level.parent], level.count]
            if shards.raw and level.raw is not None:
                columns.append(level.raw)
            grams = np.column_stack([column[split.ngrams] for column in columns])
            write_parts(shards.file("ngrams", part, order), grams, split.starts)
            parents = split.places()
        kept = [kept_ngrams(level, low) for level, low in zip(levels, shards.cut, strict=True)]
        return Counted([len(level) for level in levels], kept, np.array([count_of_counts(n.count) for n in levels]))


class Split(NamedTuple):
    """The n-grams of an order by part of their nearest context symbol: those of part i from `starts[i]` on."""

    ngrams: LongArray
    starts: LongArray

    def places(self) -> IntArray:
        """(n) the place of each n-gram among those of its part."""
        places = np.empty(len(self.ngrams), np.int32)
        places[self.ngrams] = np.arange(len(places)) - np.repeat(self.starts[:-1], np.diff(self.starts))
        return places


def split_by_context(levels: list[TrieLevel], shards: Shards) -> list[Split]:
    """The split of each order from 2 on; n-grams stay in suffix order in each part."""
    splits: list[Split] = []
    number = shards.context_parts
    parts = shards.context_part_of.astype(np.uint16 if number < 1 << 16 else np.int32)
    for level in levels[1:]:
        parts = parts[level.parent if splits else level.symbol]
        starts = np.concatenate([[0], np.cumsum(np.bincount(parts, minlength=number))])
        splits.append(Split(np.argsort(parts, kind="stable"), starts))
    return splits


@dataclass(frozen=True)
class Numbers:
    """Where the contexts and the events of each part start in the whole model.

    `contexts` (parts + 1, n) and `events` (parts + 1, n) have the first number of each length or order in each part,
    and in the last row the end; `own_contexts` and `own_events` (parts, n) the same in a model of the part alone.
    """

    contexts: LongArray
    events: LongArray
    own_contexts: LongArray
    own_events: LongArray

    @classmethod
    def of(cls, sizes: list[Sizes]) -> Numbers:
        """The numbers of parts of these sizes."""
        contexts, own_contexts = _starts([part.contexts for part in sizes])
        events, own_events = _starts([part.events for part in sizes])
        return cls(contexts, events, own_contexts, own_events)

    @property
    def context_levels(self) -> LongArray:
        """(n + 1) where the contexts of each length start in the whole model."""
        return np.concatenate([[0], self.contexts[-1]])

    @property
    def event_levels(self) -> LongArray:
        """(n + 1) where the events of each order start in the whole model."""
        return np.concatenate([[0], self.events[-1]])

    def moved(self, contexts: RecordArray, part: int, length: int) -> RecordArray:
        """A copy of the contexts of a part, with the numbers in the whole model."""
        moved = contexts.copy()
        moved["parent"] += np.int32(self.contexts[part, length - 1] - self.own_contexts[part, length - 1])
        moved["events"] += np.int32(self.events[part, length] - self.own_events[part, length])
        return moved


def _starts(sizes: list[list[int]]) -> tuple[LongArray, LongArray]:
    """The starts in the whole model and in the parts alone of sizes (parts, n); all parts share the first column."""
    table = np.array(sizes, np.int64)
    own = np.cumsum(table, axis=1) - table
    whole = np.cumsum(np.concatenate([np.zeros((1, table.shape[1]), np.int64), table]), axis=0)
    whole[:, 0] = 0
    whole[-1, 0] = table[0, 0]
    whole[:, 1:] += np.concatenate([table[:1, 0], table.sum(axis=0)[1:]]).cumsum()[:-1]
    return whole, own


@dataclass(frozen=True)
class Linking:
    """The task: writes which context follows each n-gram of a part of predicted symbols, to `links-PART-ORDER`."""

    shards: Shards
    numbers: Numbers

    def __call__(self, part: int) -> None:
        """Link the n-grams of the part."""
        shards, numbers, workspace = self.shards, self.numbers, self.shards.workspace()
        last = shards.order + (1 if shards.last_links else 0)
        levels = []
        for order in range(1, last):
            files = (shards.file(name, part, order) for name in ("symbols", "parents"))
            symbol, parent = (np.array(mapped_array(file, np.int32)) for file in files)
            levels.append(TrieLevel(symbol, parent, symbol[:0], None))
        node = following = np.zeros(1, np.int32)
        splits = [None, *split_by_context(levels, shards)]
        for order, (level, split) in enumerate(zip(levels, splits, strict=True), 1):
            contexts, base = np.zeros(0, CONTEXT), 0
            if order < shards.order:
                contexts = numbers.moved(mapped_array(shards.file("contexts", part, order), CONTEXT), part, order)
                base = int(numbers.contexts[part, order])
            shorter = node, following
            node, following = (workspace.empty(len(level), np.int32) for _ in range(2))
            link_ngrams(level.symbol, level.parent, *shorter, contexts, base, node, following)
            if split is not None:
                write_parts(shards.file("links", part, order), following[split.ngrams], split.starts)


@dataclass(frozen=True)
class Placing:
    """The task: puts the links into the events of a part of contexts, and numbers these as in the whole model."""

    shards: Shards
    numbers: Numbers

    def __call__(self, part: int) -> None:
        """Complete the records of the part."""
        shards = self.shards
        for order in range(2, shards.order + 1):
            events = np.array(mapped_array(shards.file("events", part, order), EVENT))
            if shards.text and (order < shards.order or shards.last_links):
                links = [part_of_file(shards.file("links", p, order), part, np.int32) for p in range(shards.parts)]
                place_links(events, np.concatenate(links))
            write_array(shards.file("linked-events", part, order), events)
            contexts = mapped_array(shards.file("contexts", part, order - 1), CONTEXT)
            moved = self.numbers.moved(contexts, part, order - 1)
            write_array(shards.file("numbered-contexts", part, order - 1), moved)
