"""The third round: the numbers of contexts and events in the whole model, and the context that follows each n-gram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_plugins.core.arrays import LongArray
from rerank_plugins.kit.backoff.context_links import link_ngrams, place_links
from rerank_plugins.kit.backoff.shards.counts import split_by_context
from rerank_plugins.kit.backoff.shards.estimates import Sizes
from rerank_plugins.kit.backoff.shards.files import Shards, mapped_array, part_of_file, write_array, write_parts
from rerank_plugins.kit.backoff.suffix_trie import TrieLevel
from rerank_plugins.kit.backoff.tables import CONTEXT, EVENT, RecordArray


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
