"""Charts of vectors for one sentence after another, in one heap."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rerank_plugins.arrays import BoolArray, IntArray
from rerank_plugins.models.pcfg.grammar import ROOT
from rerank_plugins.models.svs.heap import NEW, enlarged, make_heap
from rerank_plugins.models.svs.rules import VectorRules

MEMORY = 1 << 26  # bytes of vectors after which a heap starts anew

Kept = BoolArray


class VectorChart:
    """The cells of one sentence after another, best vectors (`fill_best`) or sums (`fill_sums`).

    `cells` numbers those of the last sentence in `heap`. Sentences without pruning share cells; one with pruning has
    the heap for itself.
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
        self.size, self.pruned = 0, False
        self.known: dict[bytes, int] = {}
        self.heap.begin[:] = NEW

    def fill(self, words: IntArray, kept: Kept | None = None) -> None:
        """Fill the chart of a sentence; `kept` (cells, S) are the symbols that are looked for, by default all."""
        n, symbols = len(words), len(self.rules.relation)
        if kept is not None or self.pruned or self.size * self.concepts * 8 > MEMORY:
            self.forget()
        self.pruned = kept is not None
        before = len(self.known)
        if kept is None:
            keys = [words[i : i + width].tobytes() for width in range(1, n + 1) for i in range(n - width + 1)]
            self.cells = np.array([self.known.setdefault(key, len(self.known)) for key in keys], np.int32)
            kept = np.ones((len(keys), symbols), np.bool_)
            used = len(self.known)
        else:
            self.cells = np.arange(len(kept), dtype=np.int32)
            used = len(kept)
        self.asked += len(self.cells)
        self.shared += len(self.cells) - (used - before)
        self.words = words
        if used > len(self.heap.begin):
            self.heap = enlarged(self.heap, 2 * used, 0)
        whole = not n
        while not whole:
            self.size, whole = self.kernel(self.rules, words, self.cells, kept, self.heap, self.size)
            if not whole:
                self.heap = enlarged(self.heap, 0, 2 * (self.size + symbols))

    @property
    def top(self) -> int:
        """The item of ROOT over the whole sentence, -1 where there is none."""
        if not len(self.words):
            return -1
        begin, end = self.heap.begin[self.cells[-1]], self.heap.end[self.cells[-1]]
        found = begin + np.flatnonzero(self.heap.symbol[begin:end] == ROOT)
        return int(found[0]) if len(found) else -1

    def log_probability(self) -> float:
        """Ln p(tree, words) of the best tree, or ln p(words), the sum; -inf where there is no tree."""
        top = self.top
        if top < 0:
            return -math.inf
        return math.log(self.heap.vector[top, 0]) - float(self.heap.power[self.heap.cell[top]]) * math.log(2)
