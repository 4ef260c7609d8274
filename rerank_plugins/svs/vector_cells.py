"""The cells of a chart of vectors, with their items.

The vectors of a cell are multiplied by a power of two that brings the largest number of the cell to between 1/2 and 1,
so that sentences of any length neither underflow nor overflow.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import FloatArray, IntArray
from rerank_plugins.kit.bundles import bundled
from rerank_plugins.kit.charts.spans import cell_number
from rerank_plugins.kit.kernels import part

NEW = -1  # `begin` of a cell that is not yet filled
HIGHEST = 1 << 30


class Heap(NamedTuple):
    """Cells with their items; an item is a symbol with its vector, rule and children."""

    # begin, end: (cells) a cell's items; begin is NEW before it is filled
    begin: IntArray
    end: IntArray
    power: IntArray  # (cells) vectors of the cell are 2^power times the true ones
    width: IntArray  # (cells) number of words that the cell spans
    symbol: IntArray  # (items)
    cell: IntArray  # (items)
    rule: IntArray  # (items) number of the binary rule, EMISSION, or -2 - number of the unary rule
    # left, right: (items) items of the children, -1 where there is none
    left: IntArray
    right: IntArray
    vector: FloatArray  # (items, K) L e: the item's vector, transferred to the concepts of the constituent above


def make_heap(cells: int, items: int, concepts: int) -> Heap:
    """An empty heap with room for this many cells and items, bundled."""
    begin, end, power, width = np.full((4, cells), NEW, np.int32)
    symbol, cell, rule, left, right = np.empty((5, items), np.int32)
    return bundled(Heap(begin, end, power, width, symbol, cell, rule, left, right, np.empty((items, concepts))))


def enlarged(heap: Heap, cells: int, items: int) -> Heap:
    """A copy of the heap with room for at least this many cells and items."""
    larger = make_heap(max(cells, len(heap.begin)), max(items, len(heap.symbol)), heap.vector.shape[1])
    new: Any
    old: Any
    for new, old in zip(larger, heap, strict=True):
        new[: len(old)] = old
    return larger


@part
def common_power(heap: Any, cells: Any, i: int, j: int, n: int) -> int:
    """The lowest power of two of products of two cells' vectors over words i … j-1 of n; 0 if there are none."""
    lowest = HIGHEST
    for k in range(i + 1, j):
        left, right = cells[cell_number(i, k, n)], cells[cell_number(k, j, n)]
        if heap.begin[left] < heap.end[left] and heap.begin[right] < heap.end[right]:
            lowest = min(lowest, heap.power[left] + heap.power[right])
    return 0 if lowest == HIGHEST else lowest


@part
def lowest_power(powers: Any, i: int, j: int, n: int) -> int:
    """The same where cells without vectors have the power HIGHEST; 0 for a word, and HIGHEST if there are none."""
    lowest = 0 if j == i + 1 else HIGHEST
    for k in range(i + 1, j):
        left, right = powers[cell_number(i, k, n)], powers[cell_number(k, j, n)]
        if left < HIGHEST and right < HIGHEST:
            lowest = min(lowest, left + right)
    return lowest


@part
def power_factor(powers: Any, power: int, left: int, right: int) -> float:
    """The factor that scales products of two cells' vectors, of these `powers`, to 2^power times the true values."""
    return math.ldexp(1.0, int(power - powers[left] - powers[right]))


@part
def normalise(vector: Any, begin: int, end: int) -> int:
    """Scale the vectors of items to a maximum between 1/2 and 1; return the power of two, HIGHEST if all are 0."""
    largest = 0.0
    for item in range(begin, end):
        for c in range(vector.shape[1]):
            largest = max(largest, vector[item, c])
    if largest == 0.0:
        return HIGHEST
    power = -math.frexp(largest)[1]
    factor = math.ldexp(1.0, power)
    for item in range(begin, end):
        for c in range(vector.shape[1]):
            vector[item, c] *= factor
    return power


@part
def close_cell(heap: Any, cell: int, end: int, where: Any) -> None:
    """Let a cell end with the item before `end`: take its items out of `where`, and normalise its vectors."""
    heap.end[cell] = end
    for item in range(heap.begin[cell], end):
        where[heap.symbol[item]] = -1
    power = normalise(heap.vector, heap.begin[cell], end)
    if power < HIGHEST:
        heap.power[cell] += power
