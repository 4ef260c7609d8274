"""Max-rule-product decoding (Petrov & Klein 2007, §4), an alternative to the best tree by eq. 8.

The expected count of a rule A → B C of plain categories over its spans is a sum over everything that eq. 8 must decide:
annotations, relations and concepts. The best tree has the greatest product of expected counts; its vectors are computed
afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins.constituency.outside import cell_number
from rerank_plugins.core.arrays import BoolArray, IntArray
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.svs.rule_posteriors import Expected
from rerank_plugins.svs.vector_rules import VectorRules


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
