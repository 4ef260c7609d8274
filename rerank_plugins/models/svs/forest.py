"""The items of a pruned chart, and the pairs of children that take part in a whole tree.

The coarse grammar leaves some categories over each span. Which symbols of these categories derive the span, and which
of them are below ROOT in some tree of the whole sentence, can be found without vectors: in a step of one integer each
instead of K products. More than half of the symbols that derive a span are in no tree, because their annotation or
relation fits no constituent above. The vectors (best_vectors.py, posteriors.py) are computed for the others only, from
the pairs of children that are listed here, so that nothing is searched a second time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from rerank_plugins.arrays import BoolArray, IntArray, LongArray
from rerank_plugins.models.pcfg.grammar import ROOT
from rerank_plugins.models.pcfg.outside import cell_number

FULL = -1  # result of `build`: there is no room for all items or pairs


class Forest(NamedTuple):
    """The items and pairs of one sentence; an item is a symbol over a span. There may be room for more of both.

    `starts`       (cells + 1) cell c has the items starts[c] to starts[c + 1]
    `symbol`       (items)
    `used`         (items) whether the item is in a tree of the whole sentence
    `split_starts` (splits + 1) pairs of each split point, cell by cell (`cell_number`) and from left to right
    `left`, `right` (pairs) items, `pair` (pairs) the pair of their symbols in the rules; -1 if it is in no tree
    """

    starts: IntArray
    symbol: IntArray
    used: BoolArray
    split_starts: LongArray
    left: IntArray
    right: IntArray
    pair: IntArray


def make_forest(n: int, items: int, pairs: int) -> Forest:
    """An empty forest of n words with room for so many items and pairs."""
    left, right, pair = np.empty((3, pairs), np.int32)
    return Forest(
        np.zeros(n * (n + 1) // 2 + 1, np.int32),
        np.empty(items, np.int32),
        np.empty(items, np.bool_),
        np.zeros(n * (n * n - 1) // 6 + 1, np.int64),
        left,
        right,
        pair,
    )


@njit(cache=True, nogil=True)
def build(rules: Any, words: Any, kept: Any, forest: Any) -> int:
    """Fill the forest from the categories that are `kept` (cells, G); return the item of ROOT, or FULL.

    The result is the number of items if no tree is left.
    """
    n, symbols, groups = len(words), len(rules.relation), kept.shape[1]
    starts, symbol, used, split_starts = forest.starts, forest.symbol, forest.used, forest.split_starts
    here, where = np.full(symbols, -1, np.int32), np.full(symbols, -1, np.int32)
    has = np.zeros((len(kept), groups), np.bool_)  # categories of the items of each cell
    size, pairs, split = 0, 0, 0
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            cell = cell_number(i, i + width, n)
            begin = size
            if size + symbols > len(symbol):
                return FULL
            some = False
            for group in range(groups):
                some = some or kept[cell, group]
            if some and width == 1:
                for entry in range(rules.words[words[i]], rules.words[words[i] + 1]):
                    if kept[cell, rules.group[rules.word_symbol[entry]]]:
                        symbol[size] = rules.word_symbol[entry]
                        here[symbol[size]] = size
                        size += 1
            for k in range(i + 1, i + width):
                split_starts[split] = pairs
                split += 1
                left_cell, right_cell = cell_number(i, k, n), cell_number(k, i + width, n)
                if not some or starts[left_cell] == starts[left_cell + 1]:
                    continue
                for y in range(starts[right_cell], starts[right_cell + 1]):
                    where[symbol[y]] = y
                for x in range(starts[left_cell], starts[left_cell + 1]):
                    for block in range(rules.block_starts[symbol[x]], rules.block_starts[symbol[x] + 1]):
                        if not has[right_cell, rules.block_group[block]]:
                            continue
                        for pair in range(rules.block_pairs[block], rules.block_pairs[block + 1]):
                            y = where[rules.pair_right[pair]]
                            if y < 0:
                                continue
                            fits = False
                            for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                                parent = rules.parent[rule]
                                if kept[cell, rules.group[parent]]:
                                    fits = True
                                    if here[parent] < 0:
                                        here[parent], symbol[size] = size, parent
                                        size += 1
                            if fits:
                                if pairs == len(forest.pair):
                                    return FULL
                                forest.left[pairs], forest.right[pairs], forest.pair[pairs] = x, y, pair
                                pairs += 1
                for y in range(starts[right_cell], starts[right_cell + 1]):
                    where[symbol[y]] = -1
            # Symbols with unary rules over the others.
            for item in range(begin, size):
                for place in range(rules.chain_starts[symbol[item]], rules.chain_starts[symbol[item] + 1]):
                    parent = rules.above[rules.chains[place]]
                    if here[parent] < 0 and kept[cell, rules.group[parent]]:
                        here[parent], symbol[size] = size, parent
                        size += 1
            starts[cell + 1] = size
            for item in range(begin, size):
                has[cell, rules.group[symbol[item]]] = True
                here[symbol[item]] = -1
                used[item] = False
    split_starts[split] = pairs
    # From the top down: what is below ROOT.
    top = int(starts[len(kept) - 1])
    while top < size and symbol[top] != ROOT:
        top += 1
    if top == size:
        return size
    used[top] = True
    for width in range(n, 0, -1):
        for i in range(n - width, -1, -1):
            cell = cell_number(i, i + width, n)
            for item in range(starts[cell], starts[cell + 1]):
                if used[item]:
                    here[symbol[item]] = item
            for item in range(starts[cell], starts[cell + 1]):
                for place in range(rules.chain_starts[symbol[item]], rules.chain_starts[symbol[item] + 1]):
                    if here[rules.above[rules.chains[place]]] >= 0 and not used[item]:
                        used[item] = True
                        here[symbol[item]] = item
            split -= width - 1
            for place in range(split_starts[split], split_starts[split + width - 1]):
                fits = False
                pair = forest.pair[place]
                for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                    fits = fits or here[rules.parent[rule]] >= 0
                if fits:
                    used[forest.left[place]] = used[forest.right[place]] = True
                else:
                    forest.pair[place] = -1
            for item in range(starts[cell], starts[cell + 1]):
                here[symbol[item]] = -1
    return top
