"""The best vectors of a pruned chart by eq. 8, as in chart.py, for the items of a forest that are in some tree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.models.pcfg.outside import cell_number
from rerank_plugins.models.svs.chart import EMISSION, FAST
from rerank_plugins.models.svs.heap import HIGHEST


@njit(cache=True, nogil=True, fastmath=FAST)
def fill_forest(rules: Any, words: Any, forest: Any, heap: Any, worth: Any, scale: Any) -> None:
    """Fill the items of the heap that are in a tree; the others are undefined. Its cells are those of the sentence.

    `worth` and `scale` (items) are working space: aᵀe, and the factor of the product of the children's vectors. `left`
    of a preterminal is -1. An item with the worth 0 has the vector 0.
    """
    n, symbols, concepts = len(words), len(rules.relation), heap.vector.shape[1]
    here = np.full(symbols, -1, np.int32)
    both, e = np.empty(concepts), np.empty(concepts)
    starts, split = forest.starts, 0
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            cell = cell_number(i, i + width, n)
            begin, end = starts[cell], starts[cell + 1]
            heap.begin[cell], heap.end[cell], heap.width[cell] = begin, end, width
            heap.power[cell] = HIGHEST
            if begin == end:
                split += width - 1
                continue
            for item in range(begin, end):
                heap.symbol[item], heap.cell[item] = forest.symbol[item], cell
                worth[item] = 0.0
                if forest.used[item]:
                    here[forest.symbol[item]] = item
            # The power of two of the cell: the lowest of the products of two cells.
            power = 0
            if width == 1:
                for entry in range(rules.words[words[i]], rules.words[words[i] + 1]):
                    item = here[rules.word_symbol[entry]]
                    if item >= 0:
                        worth[item] = scale[item] = 1.0  # a preterminal has no other candidate
                        heap.rule[item], heap.left[item], heap.right[item] = EMISSION, entry, -1
            else:
                power = HIGHEST
                for k in range(i + 1, i + width):
                    one, two = heap.power[cell_number(i, k, n)], heap.power[cell_number(k, i + width, n)]
                    if one < HIGHEST and two < HIGHEST:
                        power = min(power, one + two)
            # The best pair of children for each item.
            for _ in range(i + 1, i + width):
                factor = 0.0
                for place in range(forest.split_starts[split], forest.split_starts[split + 1]):
                    pair, x, y = forest.pair[place], forest.left[place], forest.right[place]
                    if pair < 0:
                        continue
                    if factor == 0.0:
                        factor = math.ldexp(1.0, power - heap.power[heap.cell[x]] - heap.power[heap.cell[y]])
                    for c in range(concepts):
                        both[c] = factor * heap.vector[x, c] * heap.vector[y, c]
                    for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                        item = here[rules.parent[rule]]
                        if item >= 0:
                            value = 0.0
                            for c in range(concepts):
                                value += rules.weight[rule, c] * both[c]
                            if value > worth[item]:
                                worth[item], scale[item] = value, factor
                                heap.rule[item], heap.left[item], heap.right[item] = rule, x, y
                split += 1
            # The vectors e (eq. 4), stored as L e: items without unary rules, then those above them.
            largest = 0.0
            for level in range(2):
                for item in range(begin, end):
                    symbol = forest.symbol[item]
                    if not forest.used[item] or rules.chained[symbol] != (level == 1):
                        continue
                    rule, x, y = heap.rule[item], heap.left[item], heap.right[item]
                    if worth[item] == 0.0:
                        e[:] = 0.0
                        heap.left[item] = heap.right[item] = -1
                    elif rule >= 0:
                        for c in range(concepts):
                            e[c] = rules.p[rule, c] * (scale[item] * heap.vector[x, c] * heap.vector[y, c])
                    elif rule == EMISSION:
                        for c in range(concepts):
                            e[c] = rules.word_p[x, c]
                        heap.left[item] = -1
                    else:
                        for c in range(concepts):
                            e[c] = rules.chain_p[-2 - rule, c] * heap.vector[x, c]
                    relation = rules.relation[symbol]
                    for c in range(concepts):
                        value = 0.0
                        for child in range(concepts):
                            value += rules.transfer[relation, c, child] * e[child]
                        heap.vector[item, c] = value
                        largest = max(largest, value)
                    # This item as the only child.
                    for place in range(rules.chain_starts[symbol], rules.chain_starts[symbol + 1]):
                        chain = rules.chains[place]
                        above = here[rules.above[chain]]
                        if above >= 0:
                            value = 0.0
                            for c in range(concepts):
                                value += rules.chain_weight[chain, c] * heap.vector[item, c]
                            if value > worth[above]:
                                worth[above] = value
                                heap.rule[above], heap.left[above], heap.right[above] = -2 - chain, item, -1
            # Scale the cell, so that its largest number is between 1/2 and 1.
            if largest > 0.0:
                shift = -math.frexp(largest)[1]
                factor = math.ldexp(1.0, shift)
                heap.power[cell] = power + shift
                for item in range(begin, end):
                    if forest.used[item]:
                        for c in range(concepts):
                            heap.vector[item, c] *= factor
            for item in range(begin, end):
                here[forest.symbol[item]] = -1
