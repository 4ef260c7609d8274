"""The items of a pruned chart, and the pairs of children that take part in a whole tree.

Which symbols of the categories that the coarse grammar leaves derive a span, and are below ROOT in some tree, is found
without vectors, in a step of one integer each instead of K products; more than half are in no tree. The vectors of
max_rule.py are computed for the others only, from the pairs of children that are listed here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from rerank_plugins import BoolArray, IntArray, LongArray
from rerank_plugins.kit.bundles import bundled
from rerank_plugins.kit.charts.rules import ROOT
from rerank_plugins.kit.charts.spans import cell_number

FULL = -1  # result of `build`: there is no room for all items or pairs


class Forest(NamedTuple):
    """The items and pairs of one sentence; an item is a symbol over a span. There may be room for more of both."""

    starts: IntArray  # (cells + 1) cell c has the items starts[c] to starts[c + 1]
    symbol: IntArray  # (items)
    used: BoolArray  # (items) whether the item is in a tree of the whole sentence
    # (splits + 1) pairs of each split point, cell by cell (`cell_number`) and from left to right
    split_starts: LongArray
    # left, right: (pairs) items, `pair` (pairs) the pair of their symbols in the rules; -1 if it is in no tree
    left: IntArray
    right: IntArray
    pair: IntArray


def make_forest(n: int, items: int, pairs: int) -> Forest:
    """An empty forest of n words with room for so many items and pairs, bundled."""
    left, right, pair = np.empty((3, pairs), np.int32)
    starts, split_starts = np.zeros(n * (n + 1) // 2 + 1, np.int32), np.zeros(n * (n * n - 1) // 6 + 1, np.int64)
    symbol, used = np.empty(items, np.int32), np.empty(items, np.bool_)
    return bundled(Forest(starts, symbol, used, split_starts, left, right, pair))


@njit(cache=True, nogil=True)
def build(rules: Any, words: Any, kept: Any, forest: Any) -> int:
    """Fill the forest from the categories that are `kept` (cells, G); return the item of ROOT, or FULL.

    The result is the number of items if no tree is left.
    """
    n, symbols, groups = len(words), len(rules.relation), kept.shape[1]
    starts, symbol, used, split_starts = forest.starts, forest.symbol, forest.used, forest.split_starts
    where = np.full(symbols, -1, np.int32)
    state = np.zeros(symbols, np.uint8)  # 1 if the symbol's category is kept in the cell, 3 if it derives the span
    # Items are sorted by category: runs of items with the same category, and where those of each cell begin.
    run_starts, run_item, run_group = np.zeros(len(kept) + 1, np.int32), np.empty_like(symbol), np.empty_like(symbol)
    here = np.empty(groups, np.int32)
    size, pairs, split, run = 0, 0, 0, 0
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            cell = cell_number(i, i + width, n)
            if size + symbols >= len(symbol):
                return FULL
            # The symbols of the kept categories.
            number = 0
            for group in range(groups):
                if kept[cell, group]:
                    here[number] = group
                    number += 1
                    for member in range(rules.member_starts[group], rules.member_starts[group + 1]):
                        state[rules.members[member]] = 1
            # Those that derive the span: preterminals, and parents of pairs at any split point.
            if number and width == 1:
                for entry in range(rules.words[words[i]], rules.words[words[i] + 1]):
                    state[rules.word_symbol[entry]] |= (state[rules.word_symbol[entry]] & 1) << 1
            for k in range(i + 1, i + width):
                split_starts[split] = pairs
                split += 1
                left_cell, right_cell = cell_number(i, k, n), cell_number(k, i + width, n)
                if not number or starts[left_cell] == starts[left_cell + 1]:
                    continue
                for y in range(starts[right_cell], starts[right_cell + 1]):
                    where[symbol[y]] = y
                for one in range(run_starts[left_cell], run_starts[left_cell + 1]):
                    for two in range(run_starts[right_cell], run_starts[right_cell + 1]):
                        right_group = run_group[two]
                        couple = rules.couples[run_group[one], right_group]
                        if couple < 0:
                            continue
                        fits = False
                        for parent in range(rules.couple_starts[couple], rules.couple_starts[couple + 1]):
                            fits = fits or kept[cell, rules.couple_parents[parent]]
                        if not fits:
                            continue
                        for x in range(run_item[one], run_item[one + 1]):
                            block = rules.blocks[symbol[x], right_group]
                            if block < 0:
                                continue
                            for pair in range(rules.block_pairs[block], rules.block_pairs[block + 1]):
                                y = where[rules.pair_right[pair]]
                                if y < 0:
                                    continue
                                some = 0
                                for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                                    flags = state[rules.parent[rule]]
                                    some |= flags
                                    state[rules.parent[rule]] = flags | ((flags & 1) << 1)
                                if some:
                                    if pairs == len(forest.pair):
                                        return FULL
                                    forest.left[pairs], forest.right[pairs], forest.pair[pairs] = x, y, pair
                                    pairs += 1
                for y in range(starts[right_cell], starts[right_cell + 1]):
                    where[symbol[y]] = -1
            # Those with unary rules over the others.
            for place in range(number):
                for member in range(rules.member_starts[here[place]], rules.member_starts[here[place] + 1]):
                    child = rules.members[member]
                    if state[child] == 3:
                        for chain in range(rules.chain_starts[child], rules.chain_starts[child + 1]):
                            parent = rules.above[rules.chains[chain]]
                            state[parent] |= (state[parent] & 1) << 1
            # Their items.
            for place in range(number):
                run_item[run], run_group[run] = size, here[place]
                for member in range(rules.member_starts[here[place]], rules.member_starts[here[place] + 1]):
                    if state[rules.members[member]] == 3:
                        symbol[size], used[size] = rules.members[member], False
                        size += 1
                    state[rules.members[member]] = 0
                run += size > run_item[run]
            starts[cell + 1], run_starts[cell + 1], run_item[run] = size, run, size
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
                state[symbol[item]] = used[item]
            for item in range(starts[cell], starts[cell + 1]):
                for place in range(rules.chain_starts[symbol[item]], rules.chain_starts[symbol[item] + 1]):
                    if state[rules.above[rules.chains[place]]]:
                        used[item] = True
                        state[symbol[item]] = 1
            split -= width - 1
            for place in range(split_starts[split], split_starts[split + width - 1]):
                some, pair = 0, forest.pair[place]
                for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                    some |= state[rules.parent[rule]]
                if some:
                    used[forest.left[place]] = used[forest.right[place]] = True
                else:
                    forest.pair[place] = -1
            for item in range(starts[cell], starts[cell + 1]):
                state[symbol[item]] = 0
    return top
