"""The rules of a grammar in the order in which the kernels of inside.py, outside.py and prefix.py read them.

Rules are grouped by their pair of children: a cell needs Σ_k I(l, i, k) I(r, k, j) of a pair (l, r), whatever the
parents are, so the sum over split points k is computed once for each pair instead of once for each rule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rerank_plugins.constituency.closure import Chains, by_child, closure_of
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.core.arrays import BoolArray, FloatArray, IntArray


class Rules(NamedTuple):
    """S symbols, P pairs of children sorted by left, then right symbol, B binary rules sorted by pair.

    `pair_starts`  (S + 1) the pairs whose left symbol is l are pair_starts[l] to pair_starts[l + 1]
    `pair_left`, `pair_right`  (P) the symbols of each pair
    `rule_starts`  (P + 1) where the rules of each pair begin: `rule_parent` (B) and `rule_p` (B), their probability
    `parent_starts`  (S + 1) where the rules of each parent begin: `parent_pair` (B) and `parent_p` (B)
    `chains`       the unary closure, by the lower symbol
    `word_starts`  (W + 1) where the emissions of each word begin: `word_symbol` (E) and `word_p` (E)
    `narrow`       (S) whether a symbol spans only single words: preterminals that no rule rewrites
    `wide`         the other symbols, by number
    """

    pair_starts: IntArray
    pair_left: IntArray
    pair_right: IntArray
    rule_starts: IntArray
    rule_parent: IntArray
    rule_p: FloatArray
    parent_starts: IntArray
    parent_pair: IntArray
    parent_p: FloatArray
    chains: Chains
    word_starts: IntArray
    word_symbol: IntArray
    word_p: FloatArray
    narrow: BoolArray
    wide: IntArray


def compile_rules(grammar: Grammar) -> Rules:
    """Compile the rules of a grammar. Raises ModelError if its unary rules have a cycle of probability one."""
    size = grammar.size
    parent, left, right = grammar.binary.T.astype(np.int64)
    order = np.lexsort((parent, right, left))
    keys = left * size + right
    pairs, rule_starts = np.unique(keys[order], return_index=True)
    by_parent = np.argsort(parent, kind="stable")
    closure = closure_of(grammar.unary, np.exp(grammar.unary_logp), size)
    narrow = grammar.preterminals.copy()
    narrow[grammar.binary[:, 0]] = False
    narrow[grammar.unary[:, 0]] = False
    return Rules(
        np.searchsorted(pairs // size, np.arange(size + 1)).astype(np.int32),
        (pairs // size).astype(np.int32),
        (pairs % size).astype(np.int32),
        np.append(rule_starts, len(order)).astype(np.int32),
        parent[order].astype(np.int32),
        np.exp(grammar.binary_logp[order]),
        np.searchsorted(parent[by_parent], np.arange(size + 1)).astype(np.int32),
        np.searchsorted(pairs, keys[by_parent]).astype(np.int32),
        np.exp(grammar.binary_logp[by_parent]),
        by_child(closure, size),
        grammar.lexicon.starts,
        grammar.lexicon.symbols,
        np.exp(grammar.lexicon.logp),
        narrow,
        np.flatnonzero(~narrow).astype(np.int32),
    )
