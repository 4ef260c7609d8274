"""Outside vectors over the chart of sums, for the expected counts of constituents with their concepts.

o(lc, i, j)[c] = P(the sentence with words i … j-1 replaced by an lc with concept c) / P(sentence), so that oᵀe is the
expected count of lc over the span (Baker 1979). Like L e in the chart, Lᵀ is applied once for each item:

    left child:  o_α = Lᵀ Σ (o_γ · P_M · L_β e_β) over the rules and spans above;  the same for right and only children

If vectors of a cell are 2^power times the true values, its outside vectors are 2^-power times the true values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.models.pcfg.outside import cell_number
from rerank_plugins.models.svs.chart import FAST
from rerank_plugins.models.svs.heap import power_factor


@njit(cache=True, nogil=True, fastmath=FAST)
def push_chains(rules: Any, where: Any, outer: Any) -> None:
    """Add the outside vectors of unary rules' parents to their children; `where` (S) has the cell's items."""
    for chain in range(len(rules.above)):
        parent, x = where[rules.above[chain]], where[rules.below[chain]]
        if parent >= 0 and x >= 0:
            for c in range(outer.shape[1]):
                outer[x, c] += rules.chain_p[chain, c] * outer[parent, c]


@njit(cache=True, nogil=True, fastmath=FAST)
def push_split(rules: Any, heap: Any, left: int, right: int, factor: float, above: Any, where: Any, outer: Any) -> None:
    """Add the share of rules under the parents `above` (S) to the outside vectors of the items of two cells."""
    concepts = outer.shape[1]
    sums = np.empty(concepts)
    for y in range(heap.begin[right], heap.end[right]):
        where[heap.symbol[y]] = y
    for x in range(heap.begin[left], heap.end[left]):
        for pair in range(rules.pair_starts[heap.symbol[x]], rules.pair_starts[heap.symbol[x] + 1]):
            y = where[rules.pair_right[pair]]
            if y < 0:
                continue
            sums[:] = 0.0
            some = False
            for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                parent = above[rules.parent[rule]]
                if parent >= 0:
                    some = True
                    for c in range(concepts):
                        sums[c] += rules.p[rule, c] * outer[parent, c]
            if some:
                for c in range(concepts):
                    value = factor * sums[c]
                    outer[x, c] += value * heap.vector[y, c]
                    outer[y, c] += value * heap.vector[x, c]
    for y in range(heap.begin[right], heap.end[right]):
        where[heap.symbol[y]] = -1


@njit(cache=True, nogil=True, fastmath=FAST)
def transfer_down(rules: Any, heap: Any, begin: int, end: int, outer: Any) -> None:
    """Multiply the outside vectors of items by Lᵀ, in place."""
    concepts = outer.shape[1]
    sums = np.empty(concepts)
    for item in range(begin, end):
        transfer = rules.transfer[rules.relation[heap.symbol[item]]]
        sums[:] = 0.0
        for parent in range(concepts):
            for child in range(concepts):
                sums[child] += transfer[parent, child] * outer[item, parent]
        outer[item] = sums


@njit(cache=True, nogil=True)
def fill_outside(rules: Any, cells: Any, n: int, heap: Any, top: int, outer: Any) -> None:
    """Fill `outer` (items, K), which is 0 before, with the outside vectors of all items of a sentence's cells.

    The cells must not be shared with other sentences; `top` is the item of ROOT over all words.
    """
    symbols = len(rules.relation)
    above, where = np.full(symbols, -1, np.int32), np.full(symbols, -1, np.int32)
    outer[top, 0] = 1.0 / heap.vector[top, 0]  # the rows of ROOT's L are a_T
    for width in range(n, 0, -1):
        for i in range(n - width + 1):
            cell = cells[cell_number(i, i + width, n)]
            begin, end = heap.begin[cell], heap.end[cell]
            if begin == end:
                continue
            first = begin  # where the items with unary rules start: their vectors are needed first
            for item in range(begin, end):
                above[heap.symbol[item]] = item
                if not rules.chained[heap.symbol[item]]:
                    first = item + 1
            transfer_down(rules, heap, first, end, outer)
            push_chains(rules, above, outer)
            transfer_down(rules, heap, begin, first, outer)
            for k in range(i + 1, i + width):
                left, right = cells[cell_number(i, k, n)], cells[cell_number(k, i + width, n)]
                if heap.begin[left] < heap.end[left] and heap.begin[right] < heap.end[right]:
                    factor = power_factor(heap, heap.power[cell], left, right)
                    push_split(rules, heap, left, right, factor, above, where, outer)
            for item in range(begin, end):
                above[heap.symbol[item]] = -1
