"""Charts of vectors over the categories that the coarse grammar has left: a forest and its best vectors."""

from __future__ import annotations

import numpy as np

from rerank_plugins.arrays import BoolArray, IntArray
from rerank_plugins.models.svs.best_vectors import fill_forest
from rerank_plugins.models.svs.forest import FULL, build, make_forest
from rerank_plugins.models.svs.heap import make_heap
from rerank_plugins.models.svs.rules import VectorRules

ITEMS, PAIRS = 1 << 13, 1 << 16  # room at first


class PrunedChart:
    """The forest and the best vectors of one sentence after another.

    `top` is the item of ROOT over all words, -1 if there is none. The cells of `heap` are those of the sentence, in the
    order of `cell_number`.
    """

    def __init__(self, rules: VectorRules) -> None:
        self.rules, self.concepts = rules, rules.transfer.shape[1]
        self.words = np.zeros(0, np.int32)
        self.top = -1
        self.forest = make_forest(0, ITEMS, PAIRS)
        self.heap = make_heap(0, 0, self.concepts)
        self.worth, self.scale = np.zeros((2, 0))

    def build(self, words: IntArray, kept: BoolArray) -> bool:
        """Fill the forest from the categories that are `kept` (cells, G); return whether there is a tree."""
        self.words, self.top = words, -1
        items, pairs = len(self.forest.symbol), len(self.forest.pair)
        while True:
            if len(self.forest.starts) != len(kept) + 1 or items > len(self.forest.symbol):
                self.forest = make_forest(len(words), items, pairs)
            top = build(self.rules, words, kept, self.forest)
            if top != FULL:
                break
            items, pairs = 2 * items, 2 * pairs
        self.top = top if top < self.forest.starts[-1] else -1
        return self.top >= 0

    def fill(self, words: IntArray, kept: BoolArray) -> bool:
        """Fill the forest and the vectors; return whether there is a tree."""
        if not self.build(words, kept):
            return False
        if len(self.heap.begin) < len(kept) or len(self.heap.symbol) < len(self.forest.symbol):
            self.heap = make_heap(2 * len(kept), len(self.forest.symbol), self.concepts)
            self.worth, self.scale = np.zeros((2, len(self.forest.symbol)))
        fill_forest(self.rules, words, self.forest, self.heap, self.worth, self.scale)
        if self.worth[self.top] == 0.0:
            self.top = -1
        return self.top >= 0
