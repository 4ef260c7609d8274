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
from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.constituency.outside import cell_number
from rerank_plugins.kit.kernels import allocating_part, filling_kernel, part
from rerank_plugins.svs.vector_chart import NEW, common_power, normalise, power_factor

FAST = {"reassoc", "contract", "nsz"}  # sums in any order
EMISSION = -1  # the rule of an item that is a word's preterminal


@partial(allocating_part, fastmath=FAST)
def best_split(rules: Any, heap: Any, left: int, right: int, factor: float, where: Any, best: Any) -> None:
    """Try all binary rules over two cells, and keep the best for each parent in `best`: aᵀe, rule and children.

    `factor` scales products of two vectors to the power of the cell that is being filled; `where` (S), working space,
    is -1 throughout before and after.
    """
    worth, rule_of, left_of, right_of = best
    # where[symbol] is the item of the right cell with this symbol.
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
                value = 0.0
                for c in range(concepts):
                    value += rules.weight[rule, c] * both[c]
                if value > worth[parent]:
                    worth[parent] = value
                    rule_of[parent], left_of[parent], right_of[parent] = rule, x, y
    for y in range(heap.begin[right], heap.end[right]):
        where[heap.symbol[y]] = -1


@partial(part, fastmath=FAST)
def best_chains(rules: Any, heap: Any, where: Any, best: Any) -> None:
    """Try the unary rules, and keep the best for each parent in `best`; `where` (S) has the cell's items so far."""
    worth, rule_of, left_of, right_of = best
    for chain in range(len(rules.above)):
        parent, x = rules.above[chain], where[rules.below[chain]]
        if x < 0:
            continue
        value = 0.0
        for c in range(heap.vector.shape[1]):
            value += rules.chain_weight[chain, c] * heap.vector[x, c]
        if value > worth[parent]:
            worth[parent] = value
            rule_of[parent], left_of[parent], right_of[parent] = -2 - chain, x, -1


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


@njit(cache=True, nogil=True)
def fill_best(rules: Any, words: Any, cells: Any, heap: Any, size: int) -> tuple[int, bool]:
    """Fill the new cells of a sentence; return the number of items in the heap (`size` before), and whether all fitted.

    If the heap had no room, the cells that are filled remain, and the call must be repeated with a larger heap. `cells`
    has the sentence's cells in the heap, in the order of `cell_number`.
    """
    n, symbols = len(words), len(rules.relation)
    where, e = np.full(symbols, -1, np.int32), np.empty(heap.vector.shape[1])
    worth = np.zeros(symbols)
    rule_of, left_of, right_of = np.empty(symbols, np.int32), np.empty(symbols, np.int32), np.empty(symbols, np.int32)
    best = (worth, rule_of, left_of, right_of)
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
            # Candidates: the preterminals of a word, or the best binary rule of each symbol over all split points.
            if width == 1:
                for entry in range(rules.words[words[i]], rules.words[words[i] + 1]):
                    symbol = rules.word_symbol[entry]
                    worth[symbol] = 1.0  # any positive number: a preterminal has no other candidate
                    rule_of[symbol], left_of[symbol], right_of[symbol] = EMISSION, -1, -1
            for k in range(i + 1, i + width):
                left, right = cells[cell_number(i, k, n)], cells[cell_number(k, i + width, n)]
                if heap.begin[left] < heap.end[left] and heap.begin[right] < heap.end[right]:
                    factor = power_factor(heap.power, heap.power[cell], left, right)
                    best_split(rules, heap, left, right, factor, where, best)
            # Items: symbols without unary rules first, then those with unary rules, whose children are the former.
            # Each item's vector e (eq. 4) is computed once, and stored as L e.
            for level in range(2):
                if level == 1:
                    best_chains(rules, heap, where, best)
                for place in range(rules.levels[level], rules.levels[level + 1]):
                    symbol = rules.symbols[place]
                    if worth[symbol] == 0.0:
                        continue
                    heap.symbol[size], heap.cell[size], where[symbol] = symbol, cell, size
                    heap.rule[size] = rule_of[symbol]
                    heap.left[size], heap.right[size] = left_of[symbol], right_of[symbol]
                    compose_item(rules, heap, size, words[i], e)
                    transferred(rules.transfer[rules.relation[symbol]], e, heap.vector[size])
                    worth[symbol] = 0.0
                    size += 1
            # Close the cell: clear the index of its items, and scale its vectors.
            heap.end[cell] = size
            for item in range(heap.begin[cell], size):
                where[heap.symbol[item]] = -1
            normalise(heap, cell)
    return size, True


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
                    factor = power_factor(heap.power, heap.power[cell], left, right)
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
