"""Inside and outside over a chart that keeps, for every span, only the bases that pruning has left.

Cells are numbered as in outside.py. The bases of a cell are called items; item e has the values values[offsets[e]] to
values[offsets[e + 1]], one for each symbol of its base. `lower` is inside before the unary rules, `upper` after them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rerank_plugins.arrays import BoolArray, FloatArray, IntArray
from rerank_plugins.models.pcfg.blocks import Blocks
from rerank_plugins.models.pcfg.outside import cell_number


class Items(NamedTuple):
    """The items of a pruned chart, sorted by cell and base.

    `starts`        (cells + 1) cell c has the items starts[c] to starts[c + 1]
    `base`, `cell`  (items) the base and the cell of each item
    `offsets`       (items + 1) where the values of each item begin
    """

    starts: IntArray
    base: IntArray
    cell: IntArray
    offsets: IntArray


def items_of(kept: BoolArray, blocks: Blocks) -> Items:
    """Return the items of a chart; `kept` (cells, C) says which bases are left in each cell."""
    cell, base = np.nonzero(kept)
    return items_at(cell, base, len(kept), blocks)


def items_at(cell: NDArray[np.integer], base: NDArray[np.integer], cells: int, blocks: Blocks) -> Items:
    """Return the items of a chart with so many cells; `cell` and `base` are sorted by cell, then by base."""
    starts = np.searchsorted(cell, np.arange(cells + 1))
    offsets = np.concatenate(([0], np.cumsum(blocks.states[base])))
    return Items(*(part.astype(np.int32) for part in (starts, base, cell, offsets)))


@njit(cache=True, nogil=True)
def fill_inside(blocks: Any, items: Any, words: Any, scales: Any, lower: Any, upper: Any) -> int:
    """Fill `lower` and `upper` with inside probabilities times the scales (n) of the words (Baker 1979).

    Returns the number of ways: combinations of two items and a split point that can make a third item.
    """
    n, ways = len(words), 0
    where = np.full(len(blocks.states), -1, np.int64)  # offset of each base in the present cell, -1 if pruned
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            cell = cell_number(i, j, n)
            first, last = items.starts[cell], items.starts[cell + 1]
            if first == last:
                continue
            for item in range(first, last):
                where[items.base[item]] = items.offsets[item]
            # Emissions: V(a, i, i + 1) = p(word | a) · scale.
            if width == 1:
                for e in range(blocks.words[words[i]], blocks.words[words[i] + 1]):
                    symbol = blocks.word_symbol[e]
                    if where[blocks.base[symbol]] >= 0:
                        lower[where[blocks.base[symbol]] + blocks.local[symbol]] = blocks.word_p[e] * scales[i]
            # Binary rules: V(a, i, j) = Σ_k Σ_{a → b c} p(a → b c) I(b, i, k) I(c, k, j).
            for k in range(i + 1, j):
                left_cell, right_cell = cell_number(i, k, n), cell_number(k, j, n)
                for x in range(items.starts[left_cell], items.starts[left_cell + 1]):
                    left = items.offsets[x]
                    for y in range(items.starts[right_cell], items.starts[right_cell + 1]):
                        pair = blocks.pair[items.base[x], items.base[y]]
                        if pair < 0:
                            continue
                        right = items.offsets[y]
                        for block in range(blocks.starts[pair], blocks.starts[pair + 1]):
                            parent = where[blocks.parent[block]]
                            if parent >= 0:
                                ways += 1
                                for e in range(blocks.entries[block], blocks.entries[block + 1]):
                                    lower[parent + blocks.a[e]] += (
                                        blocks.p[e] * upper[left + blocks.b[e]] * upper[right + blocks.c[e]]
                                    )
            # All chains of unary rules on top: I(s, i, j) = Σ_a R(s, a) V(a, i, j).
            for item in range(first, last):
                child, base = items.offsets[item], items.base[item]
                for block in range(blocks.chains.starts[base], blocks.chains.starts[base + 1]):
                    parent = where[blocks.chains.parent[block]]
                    if parent >= 0:
                        for e in range(blocks.chains.entries[block], blocks.chains.entries[block + 1]):
                            upper[parent + blocks.chains.a[e]] += blocks.chains.p[e] * lower[child + blocks.chains.b[e]]
            for item in range(first, last):
                where[items.base[item]] = -1
    return ways


@njit(cache=True, nogil=True)
def fill_outside(blocks: Any, items: Any, n: int, upper: Any, outer: Any, inner: Any) -> None:
    """Fill in outside probabilities: `outer` of symbols at the top of a unary chain, `inner` of those at its bottom.

    On entry both are 0, except that `outer` of ROOT over the whole sentence is 1.
    """
    where = np.full(len(blocks.states), -1, np.int64)  # offset of each base in the present cell, -1 if pruned
    for width in range(n, 0, -1):
        for i in range(n - width + 1):
            j = i + width
            cell = cell_number(i, j, n)
            first, last = items.starts[cell], items.starts[cell + 1]
            if first == last:
                continue
            for item in range(first, last):
                where[items.base[item]] = items.offsets[item]
            # Down all chains of unary rules: inner(b) = Σ_a R(a, b) outer(a). All larger spans are done.
            for item in range(first, last):
                child, base = items.offsets[item], items.base[item]
                for block in range(blocks.chains.starts[base], blocks.chains.starts[base + 1]):
                    parent = where[blocks.chains.parent[block]]
                    if parent >= 0:
                        for e in range(blocks.chains.entries[block], blocks.chains.entries[block + 1]):
                            inner[child + blocks.chains.b[e]] += blocks.chains.p[e] * outer[parent + blocks.chains.a[e]]
            # Outside of both children: outer(b, i, k) += O(a, i, j) p(a → b c) I(c, k, j), and outer(c, k, j) likewise.
            for k in range(i + 1, j):
                left_cell, right_cell = cell_number(i, k, n), cell_number(k, j, n)
                for x in range(items.starts[left_cell], items.starts[left_cell + 1]):
                    left = items.offsets[x]
                    for y in range(items.starts[right_cell], items.starts[right_cell + 1]):
                        pair = blocks.pair[items.base[x], items.base[y]]
                        if pair < 0:
                            continue
                        right = items.offsets[y]
                        for block in range(blocks.starts[pair], blocks.starts[pair + 1]):
                            parent = where[blocks.parent[block]]
                            if parent >= 0:
                                for e in range(blocks.entries[block], blocks.entries[block + 1]):
                                    b, c = left + blocks.b[e], right + blocks.c[e]
                                    above = inner[parent + blocks.a[e]] * blocks.p[e]
                                    outer[b] += above * upper[c]
                                    outer[c] += above * upper[b]
            for item in range(first, last):
                where[items.base[item]] = -1


class PrunedChart:
    """Inside and outside probabilities of one sentence, times the scales of its words.

    `ways` is the number of ways in which two items make a third; `total` is p(sentence) · Π scales, summed over the
    derivations that the chart contains; `top` is the item of ROOT over the whole sentence, or -1.
    """

    def __init__(self, blocks: Blocks, items: Items, words: IntArray, scales: FloatArray) -> None:
        self.blocks, self.items, self.words, self.scales = blocks, items, words, scales
        self.lower, self.upper, self.outer, self.inner = np.zeros((4, int(items.offsets[-1])))
        self.ways = fill_inside(blocks, items, words, scales, self.lower, self.upper)
        first, last = items.starts[-2:]
        self.top = int(first) if last > first and items.base[first] == 0 else -1
        self.total = float(self.upper[items.offsets[self.top]]) if self.top >= 0 else 0.0

    def fill_outside(self) -> None:
        """Fill in `outer` and `inner`; the sentence must have a tree."""
        self.outer[self.items.offsets[self.top]] = 1.0
        fill_outside(self.blocks, self.items, len(self.words), self.upper, self.outer, self.inner)
