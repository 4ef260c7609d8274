"""The rules of a grammar in the order in which the kernels of inside.py, outside.py and prefix.py read them.

Rules are grouped by their pair of children: Σ_k I(l, i, k) I(r, k, j) is computed once for each pair (l, r). Chains of
unary rules are summed beforehand, Σ_m U^m with U[a, b] = p(a → b): the closure R = (I − U)^-1, cycles such as NP → S →
NP included; with Σ_C p(a → b C) added to U[a, b], it gives the left corners of Jelinek & Lafferty (1991). The series
is summed by doubling, Σ_{m < 2n} U^m = (Σ_{m < n} U^m)(I + U^n): nothing is subtracted, and what is impossible is
exactly 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import BoolArray, FloatArray, IntArray, ModelError
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.kit.bundles import bundled
from rerank_plugins.kit.kernels import part

DOUBLINGS = 60  # a series that has not converged after 2^60 terms is taken to diverge


class Closure(NamedTuple):
    """The non-zero entries of a closure, in any order: the probability `p` of all chains from `above` to `below`."""

    above: IntArray
    below: IntArray
    p: FloatArray


def closure_of(pairs: IntArray, p: FloatArray, size: int) -> Closure:
    """Return Σ_m U^m of the (size, size) matrix U with U[a, b] = Σ p over the rows (a, b) of `pairs`.

    Raises ModelError if the sum is infinite, because of a cycle of probability one.
    """
    used = np.unique(pairs)
    others = np.setdiff1d(np.arange(size), used)  # these have only the empty chain
    small = np.searchsorted(used, pairs)
    power = np.zeros((len(used), len(used)))
    np.add.at(power, (small[:, 0], small[:, 1]), p)
    sums = _series(power) if len(used) else power
    above, below = np.nonzero(sums)
    return Closure(
        np.append(used[above], others).astype(np.int32),
        np.append(used[below], others).astype(np.int32),
        np.append(sums[above, below], np.ones(len(others))),
    )


def closed(pairs: IntArray, p: FloatArray, size: int) -> FloatArray:
    """Return `closure_of` as a (size, size) matrix. Raises ModelError if the sum is infinite."""
    above, below, sums = closure_of(pairs, p, size)
    matrix = np.zeros((size, size))
    matrix[above, below] = sums
    return matrix


def _series(power: FloatArray) -> FloatArray:
    """Return Σ_m U^m of a matrix by doubling; raises ModelError if the series diverges."""
    sums = np.eye(len(power)) + power
    for _ in range(DOUBLINGS):
        power = power @ power
        if not np.isfinite(power).all():
            break
        if (power <= 1e-18 * sums).all():
            return sums
        sums = sums + sums @ power
    raise ModelError("damaged grammar: its unary rules have a cycle of probability one")


class Chains(NamedTuple):
    """The non-zero entries of a closure by the lower symbol: those of b are starts[b] to starts[b + 1]."""

    starts: IntArray
    parents: IntArray
    p: FloatArray


def by_child(closure: Closure, size: int) -> Chains:
    """Sort the entries of a closure over `size` symbols by the lower symbol, as the kernels read them."""
    order = np.lexsort((closure.above, closure.below))
    starts = np.concatenate(([0], np.cumsum(np.bincount(closure.below, minlength=size))))
    return Chains(starts.astype(np.int32), closure.above[order], closure.p[order])


@part
def apply_chains(chains: Any, below: Any, above: Any) -> None:
    """Set above[a] = Σ_b closure[a, b] below[b]."""
    for a in range(len(above)):
        above[a] = 0.0
    for b in range(len(below)):
        if below[b] != 0.0:
            for e in range(chains.starts[b], chains.starts[b + 1]):
                above[chains.parents[e]] += chains.p[e] * below[b]


class Rules(NamedTuple):
    """S symbols, P pairs of children sorted by left, then right symbol, B binary rules sorted by pair."""

    pair_starts: IntArray  # (S + 1) the pairs whose left symbol is l are pair_starts[l] to pair_starts[l + 1]
    # pair_left, pair_right: (P) the symbols of each pair
    pair_left: IntArray
    pair_right: IntArray
    # (P + 1) where the rules of each pair begin: `rule_parent` (B) and `rule_p` (B), their probability
    rule_starts: IntArray
    rule_parent: IntArray
    rule_p: FloatArray
    parent_starts: IntArray  # (S + 1) where the rules of each parent begin: `parent_pair` (B) and `parent_p` (B)
    parent_pair: IntArray
    parent_p: FloatArray
    chains: Chains  # the unary closure, by the lower symbol
    word_starts: IntArray  # (W + 1) where the emissions of each word begin: `word_symbol` (E) and `word_p` (E)
    word_symbol: IntArray
    word_p: FloatArray
    narrow: BoolArray  # (S) whether a symbol spans only single words: preterminals that no rule rewrites
    wide: IntArray  # the other symbols, by number


def compile_rules(grammar: Grammar) -> Rules:
    """Compile the rules of a grammar, bundled. Raises ModelError if its unary rules have a cycle of probability one."""
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
    return bundled(Rules(
        np.searchsorted(pairs // size, np.arange(size + 1)).astype(np.int32), (pairs // size).astype(np.int32),
        (pairs % size).astype(np.int32), np.append(rule_starts, len(order)).astype(np.int32),
        parent[order].astype(np.int32), np.exp(grammar.binary_logp[order]),
        np.searchsorted(parent[by_parent], np.arange(size + 1)).astype(np.int32),
        np.searchsorted(pairs, keys[by_parent]).astype(np.int32), np.exp(grammar.binary_logp[by_parent]),
        by_child(closure, size), grammar.lexicon.starts, grammar.lexicon.symbols, np.exp(grammar.lexicon.logp),
        narrow, np.flatnonzero(~narrow).astype(np.int32),
    ))  # fmt: skip
