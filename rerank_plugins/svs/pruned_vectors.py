"""Charts of vectors over the categories that the coarse grammar has left: the best vectors, or a forest."""

from __future__ import annotations

import numpy as np

from rerank_plugins.core.arrays import BoolArray, IntArray
from rerank_plugins.svs.allowed_symbols import pruned_rules
from rerank_plugins.svs.best_vectors import NO_ROOM, fill_kept
from rerank_plugins.svs.heap import make_heap
from rerank_plugins.svs.item_forest import FULL, build, make_forest
from rerank_plugins.svs.max_rule import PlainRules
from rerank_plugins.svs.rule_posteriors import Expected, expect_rules, sum_vectors
from rerank_plugins.svs.vector_rules import VectorRules

ITEMS, PAIRS, COUNTS = 1 << 13, 1 << 16, 1 << 15  # room at first


class PrunedChart:
    """The best vectors of one sentence after another, or its forest.

    `top` is the item of ROOT over all words, -1 if there is none. The cells of `heap` are those of the sentence, in the
    order of `cell_number`.
    """

    def __init__(self, rules: VectorRules) -> None:
        self.rules, self.concepts = rules, rules.transfer.shape[1]
        self._pruned = pruned_rules(rules)
        self.words = np.zeros(0, np.int32)
        self.top = -1
        self.forest = make_forest(0, ITEMS, PAIRS)
        self._make_room(0, ITEMS)
        self.rule, self.count = np.empty(COUNTS, np.int32), np.empty(COUNTS)

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

    def expected(self, plain: PlainRules) -> Expected | None:
        """The expected counts of plain rules in the forest; None if it has no tree with a probability above 0."""
        n, (cells, items) = len(self.words), (len(self.forest.starts) - 1, int(self.forest.starts[-1]))
        power, cell_of, vector = np.empty(cells, np.int32), np.empty(items, np.int32), np.empty((items, self.concepts))
        if self.top < 0:
            return None
        sum_vectors(self.rules, self.words, self.forest, power, cell_of, vector)
        if vector[self.top, 0] == 0.0:
            return None
        tags, chains, binary = (np.empty((rows, 2), np.int64) for rows in (cells, cells, n * (n * n - 1) // 6))
        while True:
            expected = Expected(tags, chains, binary, self.rule, self.count)
            parts = (self.words, self.forest, self.top, power, cell_of, vector)
            if expect_rules(self.rules, plain, *parts, expected) != FULL:
                return expected
            self.rule, self.count = np.empty(2 * len(self.rule), np.int32), np.empty(2 * len(self.rule))

    def fill(self, words: IntArray, kept: BoolArray) -> bool:
        """Fill the best vectors; return whether there is a tree."""
        self.words, self.top = words, -1
        if not len(words):
            return False
        if len(self.heap.begin) < len(kept):
            self._make_room(2 * len(kept), len(self.heap.symbol))
        while True:
            top = fill_kept(self._pruned, words, kept, self.heap, self.worth, self.scale)
            if top != NO_ROOM:
                break
            self._make_room(len(kept), 2 * len(self.heap.symbol))
        self.top = int(top)
        return self.top >= 0

    def _make_room(self, cells: int, items: int) -> None:
        self.heap = make_heap(cells, items, self.concepts)
        self.worth, self.scale = np.zeros((2, items))
