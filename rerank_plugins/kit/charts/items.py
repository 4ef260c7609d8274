"""Items of a pruned chart: the bases that a coarser grammar has left for each span, and the places of their values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, IntArray, PlaceArray
from rerank_plugins.kit.charts.blocks import Blocks
from rerank_plugins.kit.charts.spans import spans
from rerank_plugins.kit.kernels import filling_kernel


class Items(NamedTuple):
    """The items of a pruned chart, sorted by cell and base."""

    starts: IntArray  # (cells + 1) cell c has the items starts[c] to starts[c + 1]
    # base, cell: (items) the base and the cell of each item
    base: IntArray
    cell: IntArray
    offsets: PlaceArray  # (items + 1) where the values of each item begin


@filling_kernel
def select(
    counts: FloatArray,
    threshold: float,
    states: IntArray,
    starts: IntArray,
    base_of: IntArray,
    cell_of: IntArray,
    offsets: PlaceArray,
) -> int:
    """Fill in the arrays of the items whose count is above the threshold; return how many there are."""
    cells, bases = counts.shape
    item, offset = 0, 0
    for cell in range(cells):
        starts[cell] = item
        for base in range(bases):
            if counts[cell, base] > threshold:
                base_of[item], cell_of[item], offsets[item] = base, cell, offset
                offset += states[base]
                item += 1
    starts[cells], offsets[item] = item, offset
    return item


def items_of(counts: FloatArray, threshold: float, blocks: Blocks) -> Items:
    """Return the items of a chart: for each cell, the bases whose count in `counts` (cells, C) is above `threshold`."""
    starts, offsets = np.empty(len(counts) + 1, np.int32), np.empty(counts.size + 1, np.uint32)
    base, cell = np.empty((2, counts.size), np.int32)
    items = select(counts, threshold, blocks.states, starts, base, cell, offsets)
    return Items(starts, base[:items], cell[:items], offsets[: items + 1])


def items_at(cell: NDArray[np.integer], base: NDArray[np.integer], cells: int, blocks: Blocks) -> Items:
    """Return the items of a chart with so many cells; `cell` and `base` are sorted by cell, then by base."""
    starts = np.searchsorted(cell, np.arange(cells + 1))
    offsets = np.concatenate(([0], np.cumsum(blocks.states[base])))
    return Items(starts.astype(np.int32), base.astype(np.int32), cell.astype(np.int32), offsets.astype(np.uint32))


def meetings_at_most(starts: IntArray, n: int) -> int:
    """Return Σ_k (items of i, k) (items of k, j), the pairs of items side by side, over the cells that have items."""
    items = np.zeros((n + 1, n + 1))
    items[spans(n)] = np.diff(starts)
    return int((items @ items)[items > 0].sum())
