"""Charts of vectors without pruning, in a heap of cells that successive sentences share.

A cell depends only on the words that it spans. Its vectors are multiplied by a power of two that brings the largest
number of the cell to between 1/2 and 1, so that sentences of any length neither underflow nor overflow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import FloatArray, IntArray
from rerank_plugins.constituency.grammar import ROOT
from rerank_plugins.constituency.outside import cell_number
from rerank_plugins.kit.bundles import bundled
from rerank_plugins.kit.kernels import part
from rerank_plugins.svs.vector_rules import VectorRules

NEW = -1  # `begin` of a cell that is not yet filled
HIGHEST = 1 << 30
MEMORY = 1 << 26  # bytes of vectors above which the heap is emptied


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
def power_factor(powers: Any, power: int, left: int, right: int) -> float:
    """The factor that scales products of two cells' vectors, of these `powers`, to 2^power times the true values."""
    return math.ldexp(1.0, int(power - powers[left] - powers[right]))


@part
def normalise(heap: Any, cell: int) -> None:
    """Scale a cell's vectors by a power of two, so that their largest number is between 1/2 and 1."""
    largest = 0.0
    for item in range(heap.begin[cell], heap.end[cell]):
        for value in heap.vector[item]:
            largest = max(largest, value)
    if largest > 0.0:
        shift = -math.frexp(largest)[1]
        factor = math.ldexp(1.0, shift)
        heap.power[cell] += shift
        for item in range(heap.begin[cell], heap.end[cell]):
            for c in range(heap.vector.shape[1]):
                heap.vector[item, c] *= factor


class VectorChart:
    """The charts of successive sentences: best vectors with the kernel `fill_best`, sums with `fill_sums`.

    `cells` has the numbers in `heap` of the last sentence's cells. Nothing is pruned; sentences share cells over the
    same words.
    """

    def __init__(self, rules: VectorRules, kernel: Callable[..., tuple[int, bool]]) -> None:
        self.rules, self.kernel = rules, kernel
        self.concepts = rules.transfer.shape[1]
        self.heap = make_heap(0, 0, self.concepts)
        self.words = np.zeros(0, np.int32)
        self.cells = np.zeros(0, np.int32)
        self.asked = self.shared = 0
        self.forget()

    def forget(self) -> None:
        """Empty the heap."""
        self.size = 0
        self.known: dict[bytes, int] = {}
        self.heap.begin[:] = NEW

    def fill(self, words: IntArray) -> None:
        """Fill the chart of a sentence."""
        n, symbols = len(words), len(self.rules.relation)
        if self.size * self.concepts * 8 > MEMORY:
            self.forget()
        before = len(self.known)
        keys = [words[i : i + width].tobytes() for width in range(1, n + 1) for i in range(n - width + 1)]
        self.cells = np.array([self.known.setdefault(key, len(self.known)) for key in keys], np.int32)
        used = len(self.known)
        self.asked += len(self.cells)
        self.shared += len(self.cells) - (used - before)
        self.words = words
        if used > len(self.heap.begin):
            self.heap = enlarged(self.heap, 2 * used, 0)
        complete = not n
        while not complete:
            self.size, complete = self.kernel(self.rules, words, self.cells, self.heap, self.size)
            if not complete:
                self.heap = enlarged(self.heap, 0, 2 * (self.size + symbols))

    @property
    def top(self) -> int:
        """The item of ROOT over the whole sentence; -1 if there is none."""
        if not len(self.words):
            return -1
        begin, end = self.heap.begin[self.cells[-1]], self.heap.end[self.cells[-1]]
        roots = begin + np.flatnonzero(self.heap.symbol[begin:end] == ROOT)
        return int(roots[0]) if len(roots) else -1

    def log_probability(self) -> float:
        """Ln p(tree, words) of the best tree, or the sum ln p(words), by the kernel; -inf if there is no tree."""
        top = self.top
        if top < 0:
            return -math.inf
        return math.log(self.heap.vector[top, 0]) - float(self.heap.power[self.heap.cell[top]]) * math.log(2)
