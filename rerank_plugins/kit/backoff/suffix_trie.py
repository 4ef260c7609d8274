"""Counts all n-grams of all orders by one sort.

One pass over rows in suffix order (events.py) finds the distinct k-grams of every order k, each right after its
(k-1)-gram without the farthest symbol: a trie in which the nodes of an order are in suffix order and their parents
ascend. The raw count of a k-gram is how often it occurs; its continuation count (Kneser and Ney 1995) is in how many
different contexts, N1+(• g): its children, plus the occurrences without further context, as at the start of a
sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.threads import in_threads
from rerank_plugins.kit.backoff.events import bucket_runs, sort_buckets
from rerank_plugins.kit.kernels import filling_kernel

PARTS = 8  # tasks per thread, so that no thread waits long for another
LEVELS = 6  # arguments of `fill_nodes` for the levels: for models up to this order it is compiled once


@dataclass
class TrieLevel:
    """The distinct k-grams of one order, in suffix order: (n) each.

    `symbol` is x for order 1, else the farthest context symbol; `parent` is the (k-1)-gram without it. `count` is the
    count that the model is estimated from (raw or continuation), `raw` how often it occurs (None if not needed).
    """

    symbol: IntArray
    parent: IntArray
    count: IntArray
    raw: IntArray | None

    def __len__(self) -> int:
        return len(self.parent)


def build_trie(
    rows: LongArray, starts: LongArray, places: LongArray, *, continuation: bool, raw: bool, jobs: int
) -> list[TrieLevel]:
    """The levels of orders 1 … n. The rows, which are in buckets that begin at `starts`, are sorted in place.

    `continuation` says whether `count` of the orders below the highest is the continuation count or the raw count.
    """
    order = len(places)
    parts = bucket_runs(starts, PARTS * jobs)

    def sort_and_count(first: int, end: int) -> LongArray:
        sort_buckets(rows, starts, first, end, rows.shape[1])
        nodes = np.zeros(order, np.int64)
        count_nodes(rows[starts[first] : starts[end]], places, nodes)
        return nodes

    sizes = np.array(in_threads(sort_and_count, parts, jobs), np.int64).reshape(-1, order)
    ends = np.cumsum(sizes, axis=0)
    totals = ends[-1] if len(ends) else np.zeros(order, np.int64)
    symbol, parent, count = ([np.empty(int(n), np.int32) for n in totals] for _ in range(3))
    raws = [np.empty(int(n) if raw and continuation else 0, np.int32) for n in totals]
    unused = [np.empty(0, np.int32)] * (LEVELS - order)
    arrays = [(*levels, *unused) for levels in (symbol, parent, count, raws)]
    fill = [
        (rows[starts[first] : starts[end]], places, before - 1, *arrays, continuation)
        for (first, end), before in zip(parts, ends - sizes, strict=True)
    ]
    in_threads(fill_nodes, fill, jobs)
    if raw:
        raws = raws if continuation else count
    return [TrieLevel(*level) for level in zip(symbol, parent, count, raws if raw else [None] * order, strict=True)]


@filling_kernel
def count_nodes(rows: LongArray, places: LongArray, nodes: LongArray) -> None:
    """Add to (order) `nodes` how many distinct k-grams of each order the sorted rows have."""
    order = len(places)
    for i in range(len(rows)):
        new = i == 0
        for column in range(order):
            word, shift, mask = places[column]
            symbol = (rows[i, word] >> shift) & mask
            if column > 0 and symbol == 0:
                break
            new = new or ((rows[i - 1, word] >> shift) & mask) != symbol
            if new:
                nodes[column] += 1


@filling_kernel
def fill_nodes(
    rows: LongArray,
    places: LongArray,
    node: LongArray,
    symbols: Any,
    parents: Any,
    counts: Any,
    raws: Any,
    continuation: bool,
) -> None:
    """Write the nodes of sorted rows, which share no k-gram with other parts.

    `node` is the current node of each level: before the call the one before the first to be written.
    """
    order = len(places)
    for i in range(len(rows)):
        # From x outwards: from the first symbol in which the row differs from the one before, every k-gram is new.
        new = i == 0
        depth = order
        for column in range(order):
            word, shift, mask = places[column]
            symbol = (rows[i, word] >> shift) & mask
            if column > 0 and symbol == 0:
                depth = column
                break
            new = new or ((rows[i - 1, word] >> shift) & mask) != symbol
            if new:
                # A new node, which is one context more for the node it extends.
                node[column] += 1
                here = node[column]
                symbols[column][here] = symbol if column == 0 else symbol - 1
                parents[column][here] = node[column - 1] if column > 0 else 0
                counts[column][here] = 0
                if len(raws[column]) > 0:
                    raws[column][here] = 0
                if continuation and column > 0:
                    counts[column - 1][node[column - 1]] += 1
            if not continuation:
                counts[column][node[column]] += 1
            elif len(raws[column]) > 0:
                raws[column][node[column]] += 1
        # The longest k-gram of the row has no further context: its occurrences count one by one.
        if continuation:
            counts[depth - 1][node[depth - 1]] += 1
