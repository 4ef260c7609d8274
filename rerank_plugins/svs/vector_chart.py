"""Charts of vectors without pruning, in a heap that successive sentences share."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rerank_plugins.constituency.grammar import ROOT
from rerank_plugins.core.arrays import IntArray
from rerank_plugins.svs.heap import NEW, enlarged, make_heap
from rerank_plugins.svs.vector_rules import VectorRules

MEMORY = 1 << 26  # bytes of vectors above which the heap is emptied


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
