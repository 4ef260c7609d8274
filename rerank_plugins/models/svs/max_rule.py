"""Max-rule-product decoding, an alternative to the best tree by eq. 8 (Petrov & Klein 2007, §4).

The expected count of a rule A → B C of plain categories over its spans is a sum over everything that eq. 8 must decide:
annotations, relations and concepts. The best tree has the greatest product of expected counts; its vectors are computed
afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from rerank_plugins.arrays import BoolArray, IntArray
from rerank_plugins.models.pcfg.outside import cell_number
from rerank_plugins.models.svs.chart import FAST
from rerank_plugins.models.svs.heap import power_factor
from rerank_plugins.models.svs.rules import VectorRules


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
    """The rules over the plain categories `group` (S) of symbols; unary rules of different `between` are distinct."""
    binary = group[np.stack((rules.parent, rules.left, rules.right), axis=1)].reshape(-1, 3)
    table, rule = np.unique(binary, axis=0, return_inverse=True)
    numbers = {chain: number for number, chain in enumerate(dict.fromkeys(between))}
    names = np.array([numbers[chain] for chain in between], np.int32)
    unary = np.stack((group[rules.above], group[rules.below], names), axis=1)
    chains, chain = np.unique(unary, axis=0, return_inverse=True)
    columns = [*table.T, *chains.T[:2]]
    parent, left, right, above, below = (np.ascontiguousarray(column, np.int32) for column in columns)
    return PlainRules(
        group, rule.ravel().astype(np.int32), parent, left, right, chain.ravel().astype(np.int32), above, below
    )


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


@njit(cache=True, nogil=True, fastmath=FAST)
def expect_words(
    rules: Any, plain: Any, heap: Any, cell: int, word: int, above: Any, outer: Any, expected: Any
) -> None:
    """The expected count of each plain tag over a word; `above` (S) has the items of its cell."""
    expected[:] = 0.0
    factor = math.ldexp(1.0, heap.power[cell])
    for entry in range(rules.words[word], rules.words[word + 1]):
        item = above[rules.word_symbol[entry]]
        if item >= 0:
            for c in range(outer.shape[1]):
                value = factor * outer[item, c] * rules.word_p[entry, c]
                expected[plain.group[rules.word_symbol[entry]]] += value


@njit(cache=True, nogil=True, fastmath=FAST)
def expect_chains(rules: Any, plain: Any, heap: Any, above: Any, outer: Any, expected: Any) -> None:
    """The expected count of each plain unary rule in a cell."""
    expected[:] = 0.0
    for chain in range(len(rules.above)):
        parent, x = above[rules.above[chain]], above[rules.below[chain]]
        if parent >= 0 and x >= 0:
            for c in range(outer.shape[1]):
                value = outer[parent, c] * rules.chain_p[chain, c] * heap.vector[x, c]
                expected[plain.chain[chain]] += value


@njit(cache=True, nogil=True, fastmath=FAST)
def expect_split(
    rules: Any, plain: Any, heap: Any, split: Any, above: Any, where: Any, outer: Any, expected: Any, used: Any
) -> int:
    """Add the expected counts of plain rules over two cells to `expected`; list the rules in `used`, return how many.

    `split` has the two cells and the factor of products of their vectors.
    """
    left, right, factor = split
    concepts, number = outer.shape[1], 0
    both = np.empty(concepts)
    for y in range(heap.begin[right], heap.end[right]):
        where[heap.symbol[y]] = y
    for x in range(heap.begin[left], heap.end[left]):
        for pair in range(rules.pair_starts[heap.symbol[x]], rules.pair_starts[heap.symbol[x] + 1]):
            y = where[rules.pair_right[pair]]
            if y < 0:
                continue
            for c in range(concepts):
                both[c] = factor * heap.vector[x, c] * heap.vector[y, c]
            for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                parent = above[rules.parent[rule]]
                if parent < 0:
                    continue
                value = 0.0
                for c in range(concepts):
                    value += outer[parent, c] * rules.p[rule, c] * both[c]
                if value > 0.0:
                    if expected[plain.rule[rule]] == 0.0:
                        used[number] = plain.rule[rule]
                        number += 1
                    expected[plain.rule[rule]] += value
    for y in range(heap.begin[right], heap.end[right]):
        where[heap.symbol[y]] = -1
    return number


@njit(cache=True, nogil=True)
def best_rules(rules: Any, plain: Any, words: Any, cells: Any, heap: Any, outer: Any, best: Any) -> None:
    """Fill `best`, from narrow spans to wide ones; its elements must be -inf and -1 before."""
    n, symbols = len(words), len(rules.relation)
    above, where = np.full(symbols, -1, np.int32), np.full(symbols, -1, np.int32)
    expected, used = np.zeros(len(plain.parent)), np.empty(len(plain.parent), np.int32)
    tags, chains = np.zeros(best.lower.shape[1]), np.zeros(len(plain.above))
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            number = cell_number(i, i + width, n)
            cell = cells[number]
            if heap.begin[cell] == heap.end[cell]:
                continue
            lower, upper = best.lower[number], best.upper[number]
            for item in range(heap.begin[cell], heap.end[cell]):
                above[heap.symbol[item]] = item
            # A word: the expected counts of its tags.
            if width == 1:
                expect_words(rules, plain, heap, cell, words[i], above, outer, tags)
                for tag in range(len(tags)):
                    if tags[tag] > 0.0:
                        lower[tag] = math.log(tags[tag])
            # Binary rules at every split point: expected count of the rule times the best products of its children.
            for k in range(i + 1, i + width):
                first, second = cell_number(i, k, n), cell_number(k, i + width, n)
                left, right = cells[first], cells[second]
                if heap.begin[left] == heap.end[left] or heap.begin[right] == heap.end[right]:
                    continue
                split = (left, right, power_factor(heap, heap.power[cell], left, right))
                for place in range(expect_split(rules, plain, heap, split, above, where, outer, expected, used)):
                    rule = used[place]
                    parent = plain.parent[rule]
                    value = best.upper[first, plain.left[rule]] + best.upper[second, plain.right[rule]]
                    value += math.log(expected[rule])
                    expected[rule] = 0.0
                    if value > lower[parent]:
                        lower[parent], best.rule[number, parent], best.split[number, parent] = value, rule, k
            # Unary rules on top of the best products so far.
            expect_chains(rules, plain, heap, above, outer, chains)
            upper[:] = lower
            for chain in range(len(chains)):
                if chains[chain] > 0.0:
                    value = math.log(chains[chain]) + lower[plain.below[chain]]
                    if value > upper[plain.above[chain]]:
                        upper[plain.above[chain]], best.chain[number, plain.above[chain]] = value, chain
            for item in range(heap.begin[cell], heap.end[cell]):
                above[heap.symbol[item]] = -1


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


def best_categories(
    rules: VectorRules, plain: PlainRules, words: IntArray, cells: IntArray, heap: Any, outer: Any, groups: int
) -> BoolArray:
    """(cells, G) the plain categories of the max-rule tree over a chart of sums; all False if there is no tree."""
    lower, upper = np.full((2, len(cells), groups), -np.inf)
    rule, split, chain = np.full((3, len(cells), groups), -1, np.int32)
    best = Best(lower, upper, rule, split, chain)
    best_rules(rules, plain, words, cells, heap, outer, best)
    return kept_of(plain, best, len(words))
