"""CKY parsing with vectors: the best vector of each span and symbol, or their sums (Wu & Schuler 2011, eqs 4 and 8).

    e_γ = argmax of aᵀe_γ over rules and split points,  e_γ = P_M · (L_α e_α) · (L_β e_β);  a = π(lc·), at ROOT a_T

L e depends on the child alone, and is computed once for each item, in K² steps. A rule over a split point then takes K
steps, the dot product of its children's product with P_M · a; the vector is computed for the best rule only. Summed
over rules instead, e gives p(words) = a_Tᵀ e(ROOT, 0, n): the inside algorithm (Baker 1979) for the grammar of S·K
symbols lci with P_G = P_M P_L P_L (eq. 7), which has K³ rules and is not built.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import FloatArray, IntArray
from rerank_plugins.kit.bundles import bundled
from rerank_plugins.kit.charts.rules import ROOT
from rerank_plugins.kit.charts.spans import cell_number
from rerank_plugins.kit.kernels import filling_kernel, part
from rerank_plugins.svs.vector_cells import NEW, close_cell, common_power, enlarged, make_heap, power_factor
from rerank_plugins.svs.vector_rules import VectorRules

FAST = {"reassoc", "contract", "nsz"}  # sums in any order
MEMORY = 1 << 26  # bytes of vectors above which the heap is emptied
EMISSION = -1  # the rule of an item that is a word's preterminal


class Entries(NamedTuple):
    """What a cell has of each of S symbols before its items are made, and room for vectors."""

    where: IntArray  # (S) the item of each symbol in the right cell of a split point, or in the present cell; else -1
    worth: FloatArray  # (S) aᵀe of the best rule so far; if rules are summed, 1 for a symbol that has some; else 0
    # rule, left, right: (S) the best rule so far, and the items of its children
    rule: IntArray
    left: IntArray
    right: IntArray
    sums: FloatArray  # (S, K) e as the sum over rules so far
    # scaled, both, e: (K)
    scaled: FloatArray
    both: FloatArray
    e: FloatArray


def no_entries(symbols: int, concepts: int) -> Entries:
    """The entries of an empty cell, bundled."""
    where, rule, left, right = np.full((4, symbols), -1, np.int32)
    vectors = np.empty((3, concepts))
    return bundled(Entries(where, np.zeros(symbols), rule, left, right, np.zeros((symbols, concepts)), *vectors))


@partial(part, fastmath=FAST)
def add_split(rules: Any, heap: Any, left: int, right: int, factor: float, entries: Any, summed: bool) -> None:
    """Add all binary rules over two cells to the entries of their parents: the best of each, or their sum.

    `factor` scales products of two vectors to the power of the cell that is being filled.
    """
    vector, p, weight = heap.vector, rules.p, rules.weight
    where, worth, sums, scaled, both = entries.where, entries.worth, entries.sums, entries.scaled, entries.both
    concepts = len(both)
    for y in range(heap.begin[right], heap.end[right]):
        where[heap.symbol[y]] = y
    for x in range(heap.begin[left], heap.end[left]):
        for c in range(concepts):
            scaled[c] = factor * vector[x, c]
        for pair in range(rules.pair_starts[heap.symbol[x]], rules.pair_starts[heap.symbol[x] + 1]):
            y = where[rules.pair_right[pair]]
            if y < 0:
                continue
            for c in range(concepts):
                both[c] = scaled[c] * vector[y, c]
            for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                parent = rules.parent[rule]
                if summed:
                    worth[parent] = 1.0
                    for c in range(concepts):
                        sums[parent, c] += p[rule, c] * both[c]
                    continue
                value = 0.0
                for c in range(concepts):
                    value += weight[rule, c] * both[c]
                if value > worth[parent]:
                    worth[parent] = value
                    entries.rule[parent], entries.left[parent], entries.right[parent] = rule, x, y
    for y in range(heap.begin[right], heap.end[right]):
        where[heap.symbol[y]] = -1


@partial(part, fastmath=FAST)
def add_chains(rules: Any, heap: Any, entries: Any, summed: bool) -> None:
    """Add the unary rules over the items of the present cell so far to the entries of their parents."""
    worth, sums = entries.worth, entries.sums
    for chain in range(len(rules.above)):
        parent, x = rules.above[chain], entries.where[rules.below[chain]]
        if x < 0:
            continue
        if summed:
            worth[parent] = 1.0
            for c in range(sums.shape[1]):
                sums[parent, c] += rules.chain_p[chain, c] * heap.vector[x, c]
            continue
        value = 0.0
        for c in range(sums.shape[1]):
            value += rules.chain_weight[chain, c] * heap.vector[x, c]
        if value > worth[parent]:
            worth[parent] = value
            entries.rule[parent], entries.left[parent], entries.right[parent] = -2 - chain, x, -1


@partial(part, fastmath=FAST)
def compose_item(rules: Any, heap: Any, item: int, word: int, e: Any) -> None:
    """Compute an item's vector e from its rule and children (eq. 4), at its cell's power; `word` is its first word."""
    rule, x, y, cell = heap.rule[item], heap.left[item], heap.right[item], heap.cell[item]
    if rule >= 0:
        factor = power_factor(heap.power, heap.power[cell], heap.cell[x], heap.cell[y])
        for c in range(len(e)):
            e[c] = rules.p[rule, c] * (factor * heap.vector[x, c] * heap.vector[y, c])
    elif rule == EMISSION:
        factor = math.ldexp(1.0, int(heap.power[cell]))
        entry = rules.words[word]
        while rules.word_symbol[entry] != heap.symbol[item]:
            entry += 1
        for c in range(len(e)):
            e[c] = factor * rules.word_p[entry, c]
    else:
        for c in range(len(e)):
            e[c] = rules.chain_p[-2 - rule, c] * heap.vector[x, c]


@filling_kernel
def compose_items(rules: Any, heap: Any, items: Any, words: Any, e: Any) -> None:
    """`compose_item` for several items; `e` (items, K)."""
    for place in range(len(items)):
        compose_item(rules, heap, items[place], words[place], e[place])


@partial(part, fastmath=FAST)
def transferred(transfer: Any, e: Any, vector: Any) -> None:
    """Write L e into `vector`: P(yield | concept of the constituent above) for each such concept."""
    for parent in range(len(e)):
        value = 0.0
        for child in range(len(e)):
            value += transfer[parent, child] * e[child]
        vector[parent] = value


@filling_kernel
def fill_cells(
    rules: Any, words: Any, cells: Any, heap: Any, size: int, entries: Any, summed: bool
) -> tuple[int, bool]:
    """Fill the new cells of a sentence with best vectors, or with sums over rules, whose items have no children.

    Returns the number of items in the heap (`size` before), and whether all fitted. If the heap had no room, the cells
    that are filled remain, and the call must be repeated with a larger heap. `cells` has the sentence's cells in the
    heap, in the order of `cell_number`; `entries` are those of an empty cell.
    """
    n, symbols = len(words), len(rules.relation)
    where, worth, sums, e = entries.where, entries.worth, entries.sums, entries.e
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            cell = cells[cell_number(i, i + width, n)]
            if heap.begin[cell] != NEW:
                continue
            if size + symbols > len(heap.symbol):
                return size, False
            heap.begin[cell] = heap.end[cell] = size
            heap.width[cell] = width
            heap.power[cell] = common_power(heap, cells, i, i + width, n)
            # The preterminals of a word, or binary rules over all split points.
            if width == 1:
                for entry in range(rules.words[words[i]], rules.words[words[i] + 1]):
                    symbol = rules.word_symbol[entry]
                    worth[symbol] = 1.0  # any positive number: a preterminal has no other candidate
                    entries.rule[symbol], entries.left[symbol], entries.right[symbol] = EMISSION, -1, -1
                    for c in range(len(e)):
                        sums[symbol, c] = rules.word_p[entry, c] if summed else 0.0
            for k in range(i + 1, i + width):
                left, right = cells[cell_number(i, k, n)], cells[cell_number(k, i + width, n)]
                if heap.begin[left] < heap.end[left] and heap.begin[right] < heap.end[right]:
                    factor = power_factor(heap.power, heap.power[cell], left, right)
                    add_split(rules, heap, left, right, factor, entries, summed)
            # Items: symbols without unary rules first, then those with unary rules, whose children are the former.
            # Each item's vector e (eq. 4) is computed once, and stored as L e.
            for level in range(2):
                if level == 1:
                    add_chains(rules, heap, entries, summed)
                for place in range(rules.levels[level], rules.levels[level + 1]):
                    symbol = rules.symbols[place]
                    if worth[symbol] == 0.0:
                        continue
                    worth[symbol] = 0.0
                    heap.symbol[size], heap.cell[size] = symbol, cell
                    heap.rule[size], heap.left[size], heap.right[size] = (
                        entries.rule[symbol], entries.left[symbol], entries.right[symbol]
                    )  # fmt: skip
                    if summed:
                        some = False
                        for c in range(len(e)):
                            e[c], sums[symbol, c] = sums[symbol, c], 0.0
                            some = some or e[c] > 0.0
                        if not some:
                            continue
                    else:
                        compose_item(rules, heap, size, words[i], e)
                    transferred(rules.transfer[rules.relation[symbol]], e, heap.vector[size])
                    where[symbol] = size
                    size += 1
            close_cell(heap, cell, size, where)
    return size, True


class VectorChart:
    """The charts of successive sentences, with the best vectors, or with sums over rules if it is `summed`.

    `cells` has the numbers in `heap` of the last sentence's cells. Nothing is pruned; sentences share cells over the
    same words.
    """

    def __init__(self, rules: VectorRules, *, summed: bool) -> None:
        self.rules, self.summed = rules, summed
        self.concepts = rules.transfer.shape[1]
        self._entries = no_entries(len(rules.relation), self.concepts)
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
            self.size, complete = fill_cells(
                self.rules, words, self.cells, self.heap, self.size, self._entries, self.summed
            )
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
        """Ln p(tree, words) of the best tree, or the sum ln p(words), if summed; -inf if there is no tree."""
        top = self.top
        if top < 0:
            return -math.inf
        return math.log(self.heap.vector[top, 0]) - float(self.heap.power[self.heap.cell[top]]) * math.log(2)
