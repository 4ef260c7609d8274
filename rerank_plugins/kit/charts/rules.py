"""The rules of a grammar in the order in which the kernels of inside.py and outside.py read them.

Rules are grouped by their pair of children: Σ_k I(l, i, k) I(r, k, j) is computed once for each pair (l, r). Chains of
unary rules are summed beforehand (closure.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rerank_plugins.core.arrays import BoolArray, FloatArray, IntArray, PlaceArray
from rerank_plugins.kit.charts.closure import Chains, by_child, closure_of
from rerank_plugins.kit.charts.weighted_rules import WeightedRules


class Rules(NamedTuple):
    """S symbols, P pairs of children sorted by left, then right symbol, B binary rules sorted by pair."""

    pair_starts: PlaceArray  # (S + 1) the pairs whose left symbol is l are pair_starts[l] to pair_starts[l + 1]
    # pair_left, pair_right: (P) the symbols of each pair
    pair_left: PlaceArray
    pair_right: PlaceArray
    # (P + 1) where the rules of each pair begin: `rule_parent` (B) and `rule_p` (B), their probability
    rule_starts: PlaceArray
    rule_parent: PlaceArray
    rule_p: FloatArray
    parent_starts: PlaceArray  # (S + 1) where the rules of each parent begin: `parent_pair` (B) and `parent_p` (B)
    parent_pair: PlaceArray
    parent_p: FloatArray
    chains: Chains  # the unary closure, by the lower symbol
    word_starts: IntArray  # (W + 1) where the emissions of each word begin: `word_symbol` (E) and `word_p` (E)
    word_symbol: IntArray
    word_p: FloatArray
    narrow: BoolArray  # (S) whether a symbol spans only single words: preterminals that no rule rewrites
    wide: IntArray  # the other symbols, by number


def compile_rules(grammar: WeightedRules) -> Rules:
    """Compile the rules of a grammar. Raises ModelError if its unary rules have a cycle of probability one."""
    size = len(grammar.base)
    parent, left, right = grammar.binary.T.astype(np.int64)
    order = np.lexsort((parent, right, left))
    keys = left * size + right
    pairs, rule_starts = np.unique(keys[order], return_index=True)
    by_parent = np.argsort(parent, kind="stable")
    closure = closure_of(grammar.unary, grammar.unary_p, size)
    narrow = np.zeros(size, np.bool_)
    narrow[grammar.word_symbol] = True
    narrow[grammar.binary[:, 0]] = False
    narrow[grammar.unary[:, 0]] = False
    return Rules(
        np.searchsorted(pairs // size, np.arange(size + 1)).astype(np.uint32), (pairs // size).astype(np.uint32),
        (pairs % size).astype(np.uint32), np.append(rule_starts, len(order)).astype(np.uint32),
        parent[order].astype(np.uint32), grammar.binary_p[order],
        np.searchsorted(parent[by_parent], np.arange(size + 1)).astype(np.uint32),
        np.searchsorted(pairs, keys[by_parent]).astype(np.uint32), grammar.binary_p[by_parent],
        by_child(closure, size), grammar.word_starts, grammar.word_symbol, grammar.word_p,
        narrow, np.flatnonzero(~narrow).astype(np.int32),
    )  # fmt: skip
