"""The second round: the contexts and the events of a part of the nearest context symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.backoff.estimation import Orders, kept_ngrams
from rerank_plugins.kit.backoff.event_sources import MOST
from rerank_plugins.kit.backoff.shards.files import Shards, mapped_array, part_of_file, write_array
from rerank_plugins.kit.backoff.stores import joined
from rerank_plugins.kit.backoff.suffix_trie import TrieLevel
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


class _FileStore:
    """Writes the records of each order to its file; `finish` gives their numbers."""

    has_last_links = False

    def __init__(self, shards: Shards, part: int, workspace: Workspace) -> None:
        self._shards, self._part, self._workspace = shards, part, workspace
        self._sizes = Sizes([], [])

    def start(self, event_levels: LongArray, most: int) -> None:
        """Nothing needs to be made ready."""

    def events_of(self, order: int, parts: Sequence[RecordArray]) -> RecordArray:  # noqa: ARG002
        """They are copied."""
        return joined(parts, self._workspace.empty(sum(map(len, parts)), EVENT))

    def contexts(self, size: int) -> RecordArray:
        """An array for this length."""
        return self._workspace.empty(size, CONTEXT)

    def events_done(self, events: RecordArray, first: int) -> None:  # noqa: ARG002
        """Write them, but for those of the empty context."""
        self._sizes.events.append(len(events))
        if len(self._sizes.events) > 1:
            write_array(self._shards.file("events", self._part, len(self._sizes.events)), events)

    def contexts_done(self, contexts: RecordArray, first: int, end: int) -> None:  # noqa: ARG002
        """Write them, but for the empty one."""
        if self._sizes.contexts:
            write_array(self._shards.file("contexts", self._part, len(self._sizes.contexts)), contexts)
        self._sizes.contexts.append(len(contexts))

    def finish(self, context_levels: LongArray, unseen: float) -> Sizes:  # noqa: ARG002
        """How many records there are."""
        return self._sizes
