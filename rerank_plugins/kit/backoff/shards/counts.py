"""The first round: the n-grams of a part of the predicted symbols, with their counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.kit.backoff.estimation import count_of_counts, kept_ngrams
from rerank_plugins.kit.backoff.event_sources import TupleEvents
from rerank_plugins.kit.backoff.shards.files import Shards, part_of_file, write_array, write_parts
from rerank_plugins.kit.backoff.suffix_trie import TrieLevel, build_trie


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
