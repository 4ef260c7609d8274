"""Prefix probabilities (Jelinek & Lafferty 1991): p that a sentence begins with w_1 … w_j, for every j, exactly.

F(s, i, j) = p(s derives a string that begins with words i … j-1). On its left edge there is a lowest symbol b over all
these words, whose left child derives some of them, and whose right child a string that begins with the rest:

    G(b, i, j) = Σ_{b → l r} p(b → l r) Σ_{i<k<j} I(l, i, k) F(r, k, j)          G(b, i, i+1) = p(w_i | b)
    F(s, i, j) = Σ_b L(s, b) G(b, i, j),   L = Σ_m P^m,   P(a, b) = p(a → b) + Σ_c p(a → b c) Z(c)

Z(c) is the mass of the finite strings of c. F is needed only for ROOT and for right children.
"""

from __future__ import annotations

import math
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.constituency.grammar import ROOT, Grammar, finite_mass
from rerank_plugins.kit.charts.closure import Chains, Closure, apply_chains, by_child, closure_of
from rerank_plugins.kit.charts.inside import Chart, emit, sum_of_splits
from rerank_plugins.kit.charts.rules import Rules, compile_rules
from rerank_plugins.kit.kernels import kernel

_laid_out: WeakKeyDictionary[Grammar, tuple[Rules, Chains, float]] = WeakKeyDictionary()


def laid_out(grammar: Grammar) -> tuple[Rules, Chains, float]:
    """The rules as the kernels read them, and `left_edges`: computed once for each grammar, for all of its charts."""
    if grammar not in _laid_out:
        _laid_out[grammar] = (compile_rules(grammar.rules), *left_edges(grammar))
    return _laid_out[grammar]


def left_edges(grammar: Grammar) -> tuple[Chains, float]:
    """Return L for ROOT and the symbols that are right children, and Z(ROOT)."""
    mass = finite_mass(grammar)
    corners = np.concatenate((grammar.unary, grammar.binary[:, :2]))
    p = np.concatenate((np.exp(grammar.unary_logp), np.exp(grammar.binary_logp) * mass[grammar.binary[:, 2]]))
    edges = closure_of(corners, p, grammar.size)
    needed = np.zeros(grammar.size, np.bool_)
    needed[grammar.binary[:, 2]] = needed[ROOT] = True
    kept = needed[edges.above]
    edges = Closure(edges.above[kept], edges.below[kept], edges.p[kept])
    return by_child(edges, grammar.size), float(mass[ROOT])


@kernel
def fill_prefixes(
    rules: Rules, edges: Chains, words: IntArray, kept: LongArray, from_start: FloatArray, begins: NDArray[np.uint64],
    scales: FloatArray, ahead: FloatArray, totals: FloatArray,
) -> None:  # fmt: skip
    """Fill ahead[j, s, i] = F(s, i, j) and totals[j] = F(ROOT, 0, j), with the scales of the inside chart.

    Cells (i, j) with j <= kept[i] hold valid values already.
    """
    size = begins.shape[1]
    below, above = np.empty(size), np.empty(size)
    chosen = np.empty(len(rules.pair_left) + 1, np.uint32)
    everywhere = np.full(size, ~np.uint64(0))  # a prefix of a right child may be derived from any split point on
    for j in range(1, len(words) + 1):
        for i in range(j - 1, -1, -1):
            if j <= kept[i]:
                continue
            # G(b, i, j): emissions or binary rules; then the left edges above, F = L G.
            if i == j - 1:
                emit(rules, words[i], scales[j], below)
            else:
                sum_of_splits(rules, from_start[i], ahead[j], begins[i], everywhere, i, j, chosen, below)
            apply_chains(edges, below, above)
            for symbol in range(size):
                ahead[j, symbol, i] = above[symbol]
        totals[j] = ahead[j, ROOT, 0]


class PrefixChart:
    """Computes the prefix probabilities of one sentence after another, over the inside chart of the same sentences."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        rules, self.edges, self.mass = laid_out(grammar)
        self.chart = Chart(rules)
        self._make_room(0)

    @property
    def rules(self) -> Rules:
        """The grammar's rules as the kernels read them."""
        return self.chart.rules

    def _make_room(self, length: int) -> None:
        self.ahead = np.zeros((length + 1, self.grammar.size, length))
        self.totals = np.zeros(length + 1)

    def log_probabilities(self, words: IntArray) -> FloatArray:
        """Return (n + 2) ln p of the prefixes of 0, 1, … n words, and of the sentence; -inf if there is no derivation.

        `words` are numbers of the grammar's lexicon.
        """
        before = len(self.chart.begins)
        self.chart.fill(words)
        chart, n, scales = self.chart, len(words), self.chart.scales
        if len(chart.begins) != before:
            self._make_room(len(chart.begins))
        rules, edges = chart.rules, self.edges
        fill_prefixes(rules, edges, words, chart.kept, chart.from_start, chart.begins, scales, self.ahead, self.totals)
        with np.errstate(divide="ignore"):
            prefixes = np.log(self.totals[1 : n + 1]) - np.cumsum(np.log(scales[1 : n + 1]))
            return np.concatenate(([math.log(self.mass)], prefixes, [chart.log_probability()]))
