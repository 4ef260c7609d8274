"""Max-rule-product decoding (Petrov & Klein 2007, §4), an alternative to the best tree by eq. 8.

The expected count of a rule A → B C of plain categories over its spans is a sum over all that eq. 8 must decide:
annotations, relations and concepts. The best tree has the greatest product of expected counts; its vectors come after.

    e(lc, i, j) = Σ over rules and split points of P_M · (L_α e_α) · (L_β e_β)
    o_α = Lᵀ Σ (o_γ · P_M · L_β e_β) over the rules and spans above;  the same for right and only children

A rule over two children is expected Σ_c o_γ[c] P_M[c] (L_α e_α)[c] (L_β e_β)[c] times (Baker 1979). Vectors e of a
cell are 2^power times the true values, vectors o 2^-power times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from rerank_plugins import BoolArray, FloatArray, IntArray, LongArray
from rerank_plugins.kit.bundles import bundled
from rerank_plugins.kit.charts.spans import cell_number
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.svs.chart import FAST, transferred
from rerank_plugins.svs.item_forest import FULL
from rerank_plugins.svs.vector_cells import HIGHEST, lowest_power, normalise, power_factor
from rerank_plugins.svs.vector_rules import VectorRules


class Expected(NamedTuple):
    """Rules of plain categories with their expected counts, in lists of the cells and of the split points.

    `tags`, `chains` (cells, 2) and `binary` (splits, 2) are the first and the one after the last element of each list
    of emissions, unary and binary rules. An element has a rule in `rule`, or a tag, and its expected count in `times`.
    """

    tags: LongArray
    chains: LongArray
    binary: LongArray
    rule: IntArray
    times: FloatArray


@njit(cache=True, nogil=True, fastmath=FAST)
def sum_vectors(rules: Any, words: Any, forest: Any, power: Any, cell_of: Any, vector: Any) -> None:
    """Fill `vector` (items, K), 0 before, with L e of the items that are in a tree, and `power`, `cell_of`.

    These are the powers of two of the cells, and the cell of each item.
    """
    n, symbols, concepts = len(words), len(rules.relation), vector.shape[1]
    here = np.full(symbols, -1, np.int32)
    both, e = np.empty(concepts), np.empty(concepts)
    starts, split = forest.starts, 0
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            cell = cell_number(i, i + width, n)
            begin, end = starts[cell], starts[cell + 1]
            power[cell] = HIGHEST
            if begin == end:
                split += width - 1
                continue
            for item in range(begin, end):
                cell_of[item] = cell
                if forest.used[item]:
                    here[forest.symbol[item]] = item
            common = lowest_power(power, i, i + width, n)
            if width == 1:
                for entry in range(rules.words[words[i]], rules.words[words[i] + 1]):
                    item = here[rules.word_symbol[entry]]
                    if item >= 0:
                        for c in range(concepts):
                            vector[item, c] = rules.word_p[entry, c]
            for _ in range(i + 1, i + width):
                factor = 0.0
                for place in range(forest.split_starts[split], forest.split_starts[split + 1]):
                    pair, x, y = forest.pair[place], forest.left[place], forest.right[place]
                    if pair < 0:
                        continue
                    if factor == 0.0:
                        factor = power_factor(power, common, cell_of[x], cell_of[y])
                    for c in range(concepts):
                        both[c] = factor * vector[x, c] * vector[y, c]
                    for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                        item = here[rules.parent[rule]]
                        if item >= 0:
                            for c in range(concepts):
                                vector[item, c] += rules.p[rule, c] * both[c]
                split += 1
            for level in range(2):
                for item in range(begin, end):
                    symbol = forest.symbol[item]
                    if not forest.used[item] or rules.chained[symbol] != (level == 1):
                        continue
                    for c in range(concepts):
                        e[c] = vector[item, c]
                    transferred(rules.transfer[rules.relation[symbol]], e, vector[item])
                    for place in range(rules.chain_starts[symbol], rules.chain_starts[symbol + 1]):
                        chain = rules.chains[place]
                        above = here[rules.above[chain]]
                        if above >= 0:
                            for c in range(concepts):
                                vector[above, c] += rules.chain_p[chain, c] * vector[item, c]
            shift = normalise(vector, begin, end)
            if shift < HIGHEST:
                power[cell] = common + shift
            for item in range(begin, end):
                here[forest.symbol[item]] = -1


@njit(cache=True, nogil=True, fastmath=FAST)
def expect_rules(
    rules: Any, plain: Any, words: Any, forest: Any, top: int, power: Any, cell_of: Any, vector: Any, expected: Any
) -> int:
    """Fill `expected` from the vectors of `sum_vectors`; return the number of its elements, or FULL if it is too small.

    `top` is the item of ROOT over all words; its vector must not be 0.
    """
    n, concepts, starts = len(words), vector.shape[1], forest.starts
    here = np.full(len(rules.relation), -1, np.int32)
    outer = np.zeros((starts[-1], concepts))
    sums, both, down = np.empty(concepts), np.empty(concepts), np.empty(concepts)
    counts = np.zeros(max(len(plain.parent), len(plain.above), plain.group.max() + 1))
    room = len(expected.rule) - len(counts)
    number, split = 0, len(expected.binary)
    outer[top, 0] = 1.0 / vector[top, 0]  # the rows of ROOT's L are a_T
    for width in range(n, 0, -1):
        for i in range(n - width, -1, -1):
            cell = cell_number(i, i + width, n)
            begin, end = starts[cell], starts[cell + 1]
            for item in range(begin, end):
                if forest.used[item]:
                    here[forest.symbol[item]] = item
            if number > room:
                return FULL
            # Outside vectors o = Lᵀ Σ …: of the items with unary rules, then of those below them.
            expected.chains[cell, 0] = number
            for level in range(1, -1, -1):
                for item in range(begin, end):
                    symbol = forest.symbol[item]
                    if not forest.used[item] or rules.chained[symbol] != (level == 1):
                        continue
                    for place in range(rules.chain_starts[symbol], rules.chain_starts[symbol + 1]):
                        chain = rules.chains[place]
                        above = here[rules.above[chain]]
                        if above >= 0:
                            value = 0.0
                            for c in range(concepts):
                                share = outer[above, c] * rules.chain_p[chain, c]
                                outer[item, c] += share
                                value += share * vector[item, c]
                            if value > 0.0:
                                if counts[plain.chain[chain]] == 0.0:
                                    expected.rule[number] = plain.chain[chain]
                                    number += 1
                                counts[plain.chain[chain]] += value
                    relation = rules.relation[symbol]
                    for child in range(concepts):
                        down[child] = 0.0
                    for parent in range(concepts):
                        for child in range(concepts):
                            down[child] += rules.transfer[relation, parent, child] * outer[item, parent]
                    for c in range(concepts):
                        outer[item, c] = down[c]
            expected.chains[cell, 1] = number
            for place in range(expected.chains[cell, 0], number):
                expected.times[place] = counts[expected.rule[place]]
                counts[expected.rule[place]] = 0.0
            # Tags of a word.
            expected.tags[cell, 0] = number
            if width == 1:
                factor = math.ldexp(1.0, int(power[cell]))
                for entry in range(rules.words[words[i]], rules.words[words[i] + 1]):
                    item, tag = here[rules.word_symbol[entry]], plain.group[rules.word_symbol[entry]]
                    if item >= 0:
                        value = 0.0
                        for c in range(concepts):
                            value += factor * outer[item, c] * rules.word_p[entry, c]
                        if value > 0.0:
                            if counts[tag] == 0.0:
                                expected.rule[number] = tag
                                number += 1
                            counts[tag] += value
                for place in range(expected.tags[cell, 0], number):
                    expected.times[place] = counts[expected.rule[place]]
                    counts[expected.rule[place]] = 0.0
            expected.tags[cell, 1] = number
            # Binary rules: what is passed down to both children is also what each rule is expected.
            for _ in range(width - 1):
                split -= 1
                if number > room:
                    return FULL
                expected.binary[split, 0] = number
                factor = 0.0
                for place in range(forest.split_starts[split], forest.split_starts[split + 1]):
                    pair, x, y = forest.pair[place], forest.left[place], forest.right[place]
                    if pair < 0 or power[cell] == HIGHEST:  # no vector of the cell has a probability above 0
                        continue
                    if factor == 0.0:
                        factor = power_factor(power, power[cell], cell_of[x], cell_of[y])
                    for c in range(concepts):
                        sums[c] = 0.0
                        both[c] = factor * vector[x, c] * vector[y, c]
                    for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                        item = here[rules.parent[rule]]
                        if item >= 0:
                            value = 0.0
                            for c in range(concepts):
                                share = outer[item, c] * rules.p[rule, c]
                                sums[c] += share
                                value += share * both[c]
                            if value > 0.0:
                                if counts[plain.rule[rule]] == 0.0:
                                    expected.rule[number] = plain.rule[rule]
                                    number += 1
                                counts[plain.rule[rule]] += value
                    for c in range(concepts):
                        share = factor * sums[c]
                        outer[x, c] += share * vector[y, c]
                        outer[y, c] += share * vector[x, c]
                for place in range(expected.binary[split, 0], number):
                    expected.times[place] = counts[expected.rule[place]]
                    counts[expected.rule[place]] = 0.0
                expected.binary[split, 1] = number
            for item in range(begin, end):
                here[forest.symbol[item]] = -1
    return number


class PlainRules(NamedTuple):
    """The rules between G plain categories: `rule` (B) and `chain` (U) map the model's rules to them.

    `group` (S); `parent`, `left`, `right` (binary rules) and `above`, `below` (unary ones) are plain categories.
    """

    group: IntArray
    rule: IntArray
    parent: IntArray
    left: IntArray
    right: IntArray
    chain: IntArray
    above: IntArray
    below: IntArray


def plain_rules(rules: VectorRules, group: IntArray, between: Sequence[tuple[str, ...]]) -> PlainRules:
    """The rules over the plain categories `group` (S), bundled; unary rules of different `between` are distinct."""
    binary = group[np.stack((rules.parent, rules.left, rules.right), axis=1)].reshape(-1, 3)
    table, rule = np.unique(binary, axis=0, return_inverse=True)
    numbers = {chain: number for number, chain in enumerate(dict.fromkeys(between))}
    names = np.array([numbers[chain] for chain in between], np.int32)
    unary = np.stack((group[rules.above], group[rules.below], names), axis=1)
    chains, chain = np.unique(unary, axis=0, return_inverse=True)
    columns = [*table.T, *chains.T[:2]]
    parent, left, right, above, below = (np.ascontiguousarray(column, np.int32) for column in columns)
    rules_of, chains_of = (numbers.ravel().astype(np.int32) for numbers in (rule, chain))
    return bundled(PlainRules(group, rules_of, parent, left, right, chains_of, above, below))


class Best(NamedTuple):
    """By cell and plain category: ln of the best product, `lower` without a unary rule on top, `upper` with one or not.

    `rule` and `split` are the binary rule of `lower` and the start of its right child, `chain` is the unary rule of
    `upper`; -1 where there is none.
    """

    lower: Any
    upper: Any
    rule: Any
    split: Any
    chain: Any


@filling_kernel
def best_rules(plain: Any, expected: Any, n: int, best: Any) -> None:
    """Fill `best`, from narrow spans to wide ones; its elements must be -inf and -1 before."""
    split = 0
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            cell = cell_number(i, i + width, n)
            # A word: the expected counts of its tags.
            for place in range(expected.tags[cell, 0], expected.tags[cell, 1]):
                best.lower[cell, expected.rule[place]] = math.log(expected.times[place])
            # Binary rules at every split point: expected count of the rule times the best products of its children.
            for k in range(i + 1, i + width):
                first, second = cell_number(i, k, n), cell_number(k, i + width, n)
                for place in range(expected.binary[split, 0], expected.binary[split, 1]):
                    rule = expected.rule[place]
                    parent = plain.parent[rule]
                    value = best.upper[first, plain.left[rule]] + best.upper[second, plain.right[rule]]
                    value += math.log(expected.times[place])
                    if value > best.lower[cell, parent]:
                        best.lower[cell, parent], best.rule[cell, parent], best.split[cell, parent] = value, rule, k
                split += 1
            # Unary rules on top of the best products so far.
            for category in range(best.lower.shape[1]):
                best.upper[cell, category] = best.lower[cell, category]
            for place in range(expected.chains[cell, 0], expected.chains[cell, 1]):
                chain = expected.rule[place]
                value = math.log(expected.times[place]) + best.lower[cell, plain.below[chain]]
                if value > best.upper[cell, plain.above[chain]]:
                    best.upper[cell, plain.above[chain]], best.chain[cell, plain.above[chain]] = value, chain


def kept_of(plain: PlainRules, best: Best, n: int) -> BoolArray:
    """(cells, G) whether each plain category is in the best tree; all False if there is no tree."""
    kept = np.zeros(best.lower.shape, np.bool_)
    todo = [(0, n, 0)] if n and best.upper[-1, 0] > -np.inf else []
    while todo:
        i, j, category = todo.pop()
        cell = cell_number(i, j, n)
        kept[cell, category] = True
        if best.chain[cell, category] >= 0:
            category = int(plain.below[best.chain[cell, category]])
            kept[cell, category] = True
        rule, split = int(best.rule[cell, category]), int(best.split[cell, category])
        if rule >= 0:
            todo += [(i, split, int(plain.left[rule])), (split, j, int(plain.right[rule]))]
    return kept


def best_categories(plain: PlainRules, expected: Expected, n: int, groups: int) -> BoolArray:
    """(cells, G) the plain categories of the max-rule tree of n words; all False if there is no tree."""
    cells = n * (n + 1) // 2
    lower, upper = np.full((2, cells, groups), -np.inf)
    rule, split, chain = np.full((3, cells, groups), -1, np.int32)
    best = Best(lower, upper, rule, split, chain)
    best_rules(plain, expected, n, best)
    return kept_of(plain, best, n)
