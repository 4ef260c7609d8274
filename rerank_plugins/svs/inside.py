"""The probability of a sentence: vectors summed over all trees and concepts, in a heap like that of chart.py.

    e(lc, i, j) = Σ over rules and split points of P_M · (L_α e_α) · (L_β e_β);   p(words) = a_Tᵀ e(ROOT, 0, n)

This is the inside algorithm (Baker 1979) for the grammar of S·K symbols lci with P_G = P_M P_L P_L (the paper's eq. 7).
That grammar is not built: a rule over a split point takes K steps, where the grammar has K³ rules.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.constituency.outside import cell_number
from rerank_plugins.kit.kernels import allocating_part, part
from rerank_plugins.svs.chart import FAST, transferred
from rerank_plugins.svs.heap import NEW, common_power, normalise, power_factor


@partial(allocating_part, fastmath=FAST)
def add_split(rules: Any, heap: Any, left: int, right: int, factor: float, where: Any, table: Any) -> None:
    """Add all rules over two cells to `table`: sums (S, K), and which symbols have any. See `best_split`."""
    sums, some = table
    concepts = heap.vector.shape[1]
    scaled, both = np.empty(concepts), np.empty(concepts)
    for y in range(heap.begin[right], heap.end[right]):
        where[heap.symbol[y]] = y
    for x in range(heap.begin[left], heap.end[left]):
        for c in range(concepts):
            scaled[c] = factor * heap.vector[x, c]
        for pair in range(rules.pair_starts[heap.symbol[x]], rules.pair_starts[heap.symbol[x] + 1]):
            y = where[rules.pair_right[pair]]
            if y < 0:
                continue
            for c in range(concepts):
                both[c] = scaled[c] * heap.vector[y, c]
            for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                parent = rules.parent[rule]
                some[parent] = True
                for c in range(concepts):
                    sums[parent, c] += rules.p[rule, c] * both[c]
    for y in range(heap.begin[right], heap.end[right]):
        where[heap.symbol[y]] = -1


@partial(part, fastmath=FAST)
def add_chains(rules: Any, heap: Any, where: Any, table: Any) -> None:
    """Add the unary rules to `table`; `where` (S) has the items of the cell so far."""
    sums, some = table
    for chain in range(len(rules.above)):
        parent, x = rules.above[chain], where[rules.below[chain]]
        if x >= 0:
            some[parent] = True
            for c in range(heap.vector.shape[1]):
                sums[parent, c] += rules.chain_p[chain, c] * heap.vector[x, c]


@njit(cache=True, nogil=True)
def fill_sums(rules: Any, words: Any, cells: Any, heap: Any, size: int) -> tuple[int, bool]:
    """Fill the new cells of a sentence, as `fill_best` does, with sums over rules; items have no children."""
    n, symbols = len(words), len(rules.relation)
    where, some = np.full(symbols, -1, np.int32), np.zeros(symbols, np.bool_)
    sums = np.zeros((symbols, heap.vector.shape[1]))
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
            if width == 1:
                for entry in range(rules.words[words[i]], rules.words[words[i] + 1]):
                    some[rules.word_symbol[entry]] = True
                    sums[rules.word_symbol[entry]] = rules.word_p[entry]
            for k in range(i + 1, i + width):
                left, right = cells[cell_number(i, k, n)], cells[cell_number(k, i + width, n)]
                if heap.begin[left] < heap.end[left] and heap.begin[right] < heap.end[right]:
                    factor = power_factor(heap, heap.power[cell], left, right)
                    add_split(rules, heap, left, right, factor, where, (sums, some))
            for level in range(2):
                if level == 1:
                    add_chains(rules, heap, where, (sums, some))
                for place in range(rules.levels[level], rules.levels[level + 1]):
                    symbol = rules.symbols[place]
                    if some[symbol] and sums[symbol].any():
                        heap.symbol[size], heap.cell[size], where[symbol] = symbol, cell, size
                        transferred(rules.transfer[rules.relation[symbol]], sums[symbol], heap.vector[size])
                        sums[symbol] = 0.0
                        size += 1
            some[:] = False
            heap.end[cell] = size
            for item in range(heap.begin[cell], size):
                where[heap.symbol[item]] = -1
            normalise(heap, cell)
    return size, True
