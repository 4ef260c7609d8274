"""Parsing by eq. 8 without vectors: the twin whose speed Figure 3 of Wu & Schuler (2011) compares with.

The chart is the same and so are the trees, but concepts are symbols among others: every rule of the expanded grammar,
lci → lci lci with P_M P_L P_L, is gone through for every split point (eq. 7, K³ steps), or its sums over the children's
concepts are made for every rule (eq. 6, K² steps) instead of once for a child. numba too, so that only this differs.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.kit.charts.spans import cell_number


@njit(cache=True, nogil=True)
def by_rules(p: Any, prior: Any, one: Any, two: Any, e: Any, f: Any) -> float:
    """Σ_i a[i] Σ_xy P_M[i] P_L[i, x] P_L[i, y] e[x] f[y], rule by rule of the expanded grammar (eq. 7)."""
    total = 0.0
    for i in range(len(p)):
        for x in range(len(p)):
            for y in range(len(p)):
                total += prior[i] * (p[i] * one[i, x] * two[i, y]) * e[x] * f[y]
    return total


@njit(cache=True, nogil=True)
def by_sums(p: Any, prior: Any, one: Any, two: Any, e: Any, f: Any) -> float:
    """The same with the sums over the children's concepts taken apart (eq. 6)."""
    total = 0.0
    for i in range(len(p)):
        left = right = 0.0
        for x in range(len(p)):
            left += one[i, x] * e[x]
            right += two[i, x] * f[x]
        total += prior[i] * p[i] * left * right
    return total


@njit(cache=True, nogil=True)
def compose(p: Any, one: Any, two: Any, e: Any, f: Any, made: Any) -> None:
    for i in range(len(p)):
        left = right = 0.0
        for x in range(len(p)):
            left += one[i, x] * e[x]
            right += two[i, x] * f[x]
        made[i] = p[i] * left * right


@njit(cache=True, nogil=True)
def weighed(prior: Any, e: Any) -> float:
    """aᵀe."""
    total = 0.0
    for i in range(len(e)):
        total += prior[i] * e[i]
    return total


@njit(cache=True, nogil=True)
def scalar_parse(
    rules: Any, pair_starts: Any, words: Any, expand: bool, vectors: Any, there: Any, sources: Any, steps: Any
) -> float:
    """Fill the chart `vectors` (cells, S, K), `there` (cells, S), with the rule and split of each; aᵀe of ROOT.

    Emissions are divided by the largest of their word, so sentences must not be too long. `steps` counts rules tried.
    """
    n, symbols, concepts = len(words), len(rules.relation), vectors.shape[2]
    worth, made, ones = np.zeros(symbols), np.empty(concepts), np.ones(concepts)
    identity = np.eye(concepts)
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            cell = cell_number(i, j, n)
            worth[:] = 0.0
            if width == 1:
                largest = 0.0
                for entry in range(rules.words[words[i]], rules.words[words[i] + 1]):
                    for c in range(concepts):
                        largest = max(largest, rules.word_p[entry, c])
                for entry in range(rules.words[words[i]], rules.words[words[i] + 1]):
                    symbol = rules.word_symbol[entry]
                    for c in range(concepts):
                        vectors[cell, symbol, c] = rules.word_p[entry, c] / largest
                    worth[symbol], there[cell, symbol] = 1.0, True
            for k in range(i + 1, j):
                left_cell, right_cell = cell_number(i, k, n), cell_number(k, j, n)
                for left in range(symbols):
                    if not there[left_cell, left]:
                        continue
                    one = rules.transfer[rules.relation[left]]
                    for pair in range(pair_starts[left], pair_starts[left + 1]):
                        right = rules.pair_right[pair]
                        if not there[right_cell, right]:
                            continue
                        two = rules.transfer[rules.relation[right]]
                        e, f = vectors[left_cell, left], vectors[right_cell, right]
                        for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                            parent = rules.parent[rule]
                            steps[0] += 1
                            if expand:
                                value = by_rules(rules.p[rule], rules.prior[parent], one, two, e, f)
                            else:
                                value = by_sums(rules.p[rule], rules.prior[parent], one, two, e, f)
                            if value > worth[parent]:
                                worth[parent], there[cell, parent] = value, True
                                sources[cell, parent, 0], sources[cell, parent, 1] = rule, k
            if width > 1:
                for parent in range(symbols):
                    if there[cell, parent]:
                        rule, k = sources[cell, parent]
                        left, right = rules.left[rule], rules.right[rule]
                        compose(
                            rules.p[rule], rules.transfer[rules.relation[left]], rules.transfer[rules.relation[right]],
                            vectors[cell_number(i, k, n), left], vectors[cell_number(k, j, n), right], made,
                        )  # fmt: skip
                        vectors[cell, parent] = made
            for chain in range(len(rules.above)):
                parent, child = rules.above[chain], rules.below[chain]
                if there[cell, child]:
                    one = rules.transfer[rules.relation[child]]
                    compose(rules.chain_p[chain], one, identity, vectors[cell, child], ones, made)
                    value = weighed(rules.prior[parent], made)
                    if value > worth[parent]:
                        worth[parent], there[cell, parent] = value, True
                        vectors[cell, parent] = made
    top = vectors[cell_number(0, n, n), 0]
    return weighed(rules.prior[0], top) if there[cell_number(0, n, n), 0] else 0.0


def scalar_log_probability(rules: Any, words: Any, expand: bool = True) -> tuple[float, int]:
    """Ln p(tree, words) of the tree by eq. 8, and how many rules were tried."""
    n, (symbols, concepts) = len(words), rules.prior.shape
    cells = n * (n + 1) // 2
    vectors, there = np.zeros((cells, symbols, concepts)), np.zeros((cells, symbols), np.bool_)
    sources, steps = np.zeros((cells, symbols, 2), np.int32), np.zeros(1, np.int64)
    pair_starts = np.searchsorted(rules.left[rules.rule_starts[:-1]], np.arange(symbols + 1))
    found = scalar_parse(rules, pair_starts, words, expand, vectors, there, sources, steps)
    largest = [rules.word_p[rules.words[word] : rules.words[word + 1]].max() for word in words]
    return (math.log(found) if found > 0 else -math.inf) + float(np.log(largest).sum()), int(steps[0])
