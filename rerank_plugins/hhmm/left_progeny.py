"""Left progeny: the expected left descendants of an awaited constituent, by store depth, in closed form.

The grammar is binarised and has unary rules. A *place* is a symbol on the right side of a rule: an awaited symbol or a
left child. It is filled by a *node*, the symbol that is then rewritten by a binary rule or as a word, after any number
of unary rules: U* = (I - U)^-1 sums over them, so unary chains of any length are exact and need no store of their own.

In the right-corner form of a tree with at most D store elements (Schuler 2009), a right child stays in the element d
that awaits it, a left child of an awaited symbol of element d opens element d + 1, and a left child within an element
stays there. P(q -> p c) is the grammar's. The probabilities that the yield of a place fits in the store are

    R_d = U* e + U* Σ P(q -> p c) L_{d+1}(p) R_d(c)     awaited in element d; R_D = U* e, as there is no D + 1
    L_d = U* e + U* Σ P(q -> p c) L_d(p) R_d(c)         a left child in element d

with e the probability of being rewritten as a word. Each is linear once the other is known: D pairs of linear systems.
The branch- and depth-specific grammars of Schwartz et al. (2011) are P_GR,d(q -> p c) ∝ P(q -> p c) L_{d+1}(p) R_d(c)
and P_GL,d(q -> p c) ∝ P(q -> p c) L_d(p) R_d(c). Here the weights L and R are left out where they cancel: `expected` is
their E^* (18), the sum over k of left descents, times R of the right sisters passed on the way. The sum is a geometric
series, so with N_d[q, p] = Σ_c P(q -> p c) R_d(c)

    E*_d = U* N_d (I - U - N_{d+1})^-1         E*_0 is of ROOT itself, the left child of "ROOT </s>"

and the expected number of nodes q down the left edge of an awaited b is E*_d[b, q]. Its part for k = 0 is (16), the
rest (19); transitions.py does not need them separately. Cost: D - 1 inversions of (S, S) matrices and D solutions for
one vector, which cost a third: R_{d-1} is one, and of E*_0 only the row of ROOT is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from rerank_plugins import BoolArray, FloatArray, IntArray, ModelError
from rerank_plugins.constituency.grammar import ROOT, Grammar, finite_mass
from rerank_plugins.kit.charts.closure import closed

TOLERANCE = 1e-9  # how far below zero rounding may bring an entry of an inverse


@dataclass(frozen=True, eq=False)
class LeftProgeny:
    """Expectations over the left edge, for elements 0 (ROOT as a whole) to D - 1; the last row serves deeper ones.

    `closure`   (S, S) U*: probability that a place is filled by a node after any number of unary rules, or none
    `expected`  (rows, S, S) E*_d[b, q]: expected number of nodes q down the left edge of b, awaited in element d;
                row 0 has values for b = ROOT only
    `fitting`   (rows + 1, S) R_d: probability that the yield of b, awaited in element d, fits in the store; row 0 has
                the probability for ROOT that a whole sentence fits
    """

    closure: FloatArray
    expected: FloatArray
    fitting: FloatArray


_computed: WeakKeyDictionary[Grammar, dict[tuple[int, bool], LeftProgeny]] = WeakKeyDictionary()


def left_progeny_of(grammar: Grammar, depth: int, *, bounded: bool = True) -> LeftProgeny:
    """The expectations for a store of `depth` elements, which are computed once for each grammar.

    If not `bounded`, they are those of trees of any depth: two rows, ROOT's and one for all elements, with R and L the
    probabilities that a symbol's tree is finite, which are 1 in a consistent grammar. Raises ModelError if no sentence
    fits in the store, or if a symbol's left descendants or unary chains would never end.
    """
    known = _computed.setdefault(grammar, {})
    if (depth, bounded) not in known:
        known[depth, bounded] = _left_progeny(grammar, depth, bounded)
    return known[depth, bounded]


def _left_progeny(grammar: Grammar, depth: int, bounded: bool) -> LeftProgeny:
    size = grammar.size
    p = np.exp(grammar.binary_logp)
    words = np.bincount(grammar.lexicon.symbols, np.exp(grammar.lexicon.logp), size).astype(np.float64)
    unary = np.zeros((size, size))
    np.add.at(unary, (grammar.unary[:, 0], grammar.unary[:, 1]), np.exp(grammar.unary_logp))
    identity = np.eye(size)
    closure = closed(grammar.unary, np.exp(grammar.unary_logp), size)
    possible = _reachable(size, np.concatenate([grammar.unary, grammar.binary[:, :2]]))

    def descent(right: FloatArray) -> FloatArray:
        """Return N: from a node to the place of its left child, weighted by R or the mass of the right one."""
        return rule_sums(grammar, 1, p * right[grammar.binary[:, 2]])

    if not bounded:
        finite = finite_mass(grammar)
        down = descent(finite)
        edge = _inverse(identity - unary - down) * possible
        return LeftProgeny(closure, np.stack([_root_only(edge), closure @ down @ edge]), np.tile(finite, (3, 1)))
    expected = np.zeros((depth, size, size))
    fitting = np.zeros((depth + 1, size))
    fitting[depth] = closure @ words
    # From the deepest element up: R_d gives the left edges of element d, these give L_d and R_{d-1}.
    down = descent(fitting[depth])
    for d in range(depth, 1, -1):
        # (I - U - N_d)^-1, without rounding noise where nothing can descend.
        edge = _inverse(identity - unary - down) * possible
        left = edge @ words  # L_d
        along = rule_sums(grammar, 2, p * left[grammar.binary[:, 1]])  # from a node to the place of its right child
        fitting[d - 1] = _solution(identity - unary - along, words)
        down = descent(fitting[d - 1])
        expected[d - 1] = closure @ down @ edge
    # Of element 1, only the row of ROOT is wanted: it solves the transposed system.
    expected[0, ROOT] = _solution((identity - unary - down).T, identity[ROOT]) * possible[ROOT]
    fitting[0, ROOT] = expected[0, ROOT] @ words
    if fitting[0, ROOT] <= 0:
        raise ModelError(f"no sentence of this grammar fits in a store of {depth} elements")
    return LeftProgeny(closure, expected, fitting)


def fitting_mass(grammar: Grammar, depth: int) -> float:
    """Return the probability that a tree of the grammar fits in a store of `depth` elements."""
    try:
        return float(left_progeny_of(grammar, depth).fitting[0, ROOT])
    except ModelError:
        return 0.0


def rule_sums(grammar: Grammar, child: int, weights: FloatArray) -> FloatArray:
    """Return (S, S) sums of the weights of binary rules, by parent and child; `child` is 1 (left) or 2 (right)."""
    size = grammar.size
    cells = grammar.binary[:, 0].astype(np.int64) * size + grammar.binary[:, child]
    sums: FloatArray = np.bincount(cells, weights, size * size).astype(np.float64)
    return sums.reshape(size, size)


def _root_only(edge: FloatArray) -> FloatArray:
    """Return the matrix with all rows but that of ROOT set to zero."""
    only = np.zeros_like(edge)
    only[ROOT] = edge[ROOT]
    return only


def _inverse(matrix: FloatArray) -> FloatArray:
    """Return the inverse of I - X with X ≥ 0; it is the sum of the powers of X, so no entry may be negative."""
    return _solution(matrix, np.eye(len(matrix)))


def _solution(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Return the product of the inverse of I - X, or of its transpose, and a vector or matrix without negative entries.

    Raises ModelError where the result has a negative entry, since the sum of the powers of X is then infinite.
    """
    try:
        solution = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        solution = np.full_like(right, np.nan)
    if not (solution >= -TOLERANCE).all():
        raise ModelError("the grammar's unary rules or left recursion never end: a symbol never yields a word")
    positive: FloatArray = np.maximum(solution, 0.0)
    return positive


def _reachable(size: int, steps: IntArray) -> BoolArray:
    """Return (size, size) the reflexive transitive closure of the steps (parent, first child)."""
    reached = np.eye(size, dtype=np.bool_)
    reached[steps[:, 0], steps[:, 1]] = True
    while True:  # twice as many steps each time
        paths = reached.astype(np.float32)
        further = paths @ paths > 0
        if (further == reached).all():
            return reached
        reached = further
