"""The cells of a chart of vectors, with their items.

The vectors of a cell are multiplied by a power of two that brings the largest number of the cell to between 1/2 and 1,
so that sentences of any length neither underflow nor overflow.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import FloatArray, IntArray
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
    # left, right: (items) items of the children, -1 where there is none; `right` of EMISSION is an entry of the lexicon
    left: IntArray
    right: IntArray
    # the items of cell c by category: runs[s] to runs[runs_end[c]], where s is the first of its categories (`Kept`)
    runs_end: IntArray  # (cells)
    runs: IntArray  # (categories of all cells, 3) the first item, the one after the last, and the category
    vector: FloatArray  # (items, K) L e: the item's vector, transferred to the concepts of the constituent above
    # greatest, total: (items) the greatest number of each vector, and the sum
    greatest: FloatArray
    total: FloatArray


def make_heap(cells: int, items: int, concepts: int, categories: int) -> Heap:
    """An empty heap with room for this many items, and cells of so many categories."""
    begin, end, power, width, runs_end = np.full((5, cells), NEW, np.int32)
    symbol, cell, rule, left, right = np.empty((5, items), np.int32)
    runs, vector = np.empty((cells * categories, 3), np.int32), np.empty((items, concepts))
    greatest, total = np.empty((2, items))
    columns = begin, end, power, width, symbol, cell, rule, left, right, runs_end, runs, vector, greatest, total
    return Heap(*columns)


def enlarged(heap: Heap, cells: int, items: int, categories: int) -> Heap:
    """A copy of the heap with room for at least this many cells and items."""
    larger = make_heap(max(cells, len(heap.begin)), max(items, len(heap.symbol)), heap.vector.shape[1], categories)
    new: Any
    old: Any
    for new, old in zip(larger, heap, strict=True):
        new[: len(old)] = old
    return larger


@part
def lowest_power(powers: IntArray, cells: IntArray, i: int, j: int, n: int) -> int:
    """The lowest power of two of products of two cells' vectors over words i … j-1 of n; 0 for a word.

    HIGHEST is the power of a cell without vectors, and the result if there are no products.
    """
    lowest = 0 if j == i + 1 else HIGHEST
    for k in range(i + 1, j):
        left, right = powers[cells[cell_number(i, k, n)]], powers[cells[cell_number(k, j, n)]]
        if left < HIGHEST and right < HIGHEST:
            lowest = left + right if left + right < lowest else lowest
    return lowest


@part
def power_factor(powers: IntArray, power: int, left: int, right: int) -> float:
    """The factor that scales products of two cells' vectors, of these `powers`, to 2^power times the true values."""
    return math.ldexp(1.0, int(power - powers[left] - powers[right]))


@part
def normalise(heap: Heap, begin: int, end: int) -> int:
    """Scale the vectors of items to a maximum between 1/2 and 1; return the power of two, HIGHEST if all are 0.

    Fills in the greatest number and the sum of each.
    """
    vector, highest = heap.vector, 0.0
    for item in range(begin, end):
        greatest = total = 0.0
        for c in range(vector.shape[1]):
            greatest = vector[item, c] if vector[item, c] > greatest else greatest
            total += vector[item, c]
        heap.greatest[item], heap.total[item] = greatest, total
        highest = greatest if greatest > highest else highest
    if highest == 0.0:
        return HIGHEST
    power = -math.frexp(highest)[1]
    factor = math.ldexp(1.0, power)
    for item in range(begin, end):
        heap.greatest[item] *= factor
        heap.total[item] *= factor
        for c in range(vector.shape[1]):
            vector[item, c] *= factor
    return power
