"""Left progeny: what an awaited constituent is expected to begin with, at each depth of the store, in closed form.

The grammar is binarised and has unary rules. A *place* is a symbol as a rule asks for it: an awaited symbol, a left
child. It is filled by a *node*, the symbol that is then rewritten by a binary rule or a word, after any number of unary
rules: U* = (I - U)^-1 sums over them, so unary chains of any length are exact and need no store of their own.

In the right-corner form of a tree with at most D store elements (Schuler 2009), a right child stays in the element d
that awaits it, a left child of an awaited symbol of element d opens element d + 1, and a left child within an element
stays there. P(q -> p c) is the grammar's. The probabilities that what a place yields fits in the store are

    R_d = U* e + U* Σ P(q -> p c) L_{d+1}(p) R_d(c)     awaited in element d; R_D = U* e, since there is no element D + 1
    L_d = U* e + U* Σ P(q -> p c) L_d(p) R_d(c)         a left child in element d

with e the probability of being rewritten as a word. Each is linear once the other is known: D pairs of linear systems.
The branch- and depth-specific grammars of Schwartz et al. (2011) are P_GR,d(q -> p c) ∝ P(q -> p c) L_{d+1}(p) R_d(c)
and P_GL,d(q -> p c) ∝ P(q -> p c) L_d(p) R_d(c). Here the weights L and R are left out where they cancel: `expected` is
their E^* (18), the sum over k of left descents, times R of the right sisters passed on the way. The sum is a geometric
series, so with N_d[q, p] = Σ_c P(q -> p c) R_d(c)

    E*_d = U* N_d (I - U - N_{d+1})^-1         E*_0 is of ROOT itself, the left child of "ROOT </s>"

and the expected number of nodes q down the left edge of an awaited b is E*_d[b, q]. Its part for k = 0 is (16), the
rest (19); stepping.py has no need of the parts. Cost: D inversions of (S, S) matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_plugins.errors import ModelError
from rerank_plugins.feature_table import FloatArray
from rerank_plugins.models.pcfg.grammar import ROOT, Grammar

TOLERANCE = 1e-9  # below zero by rounding


@dataclass(frozen=True, eq=False)
class Progeny:
    """Expectations over the left edge, for elements 0 (ROOT as a whole) to D - 1; the last row serves deeper ones.

    `closure`   (S, S) U*: probability of coming from a place to a node by unary rules, none among them
    `expected`  (rows, S, S) E*_d[b, q]: expected nodes q down the left edge of b, awaited in element d; row 0 has
                values for b = ROOT alone
    `fitting`   (rows + 1, S) R_d: probability that what b yields, awaited in element d, fits in the store; row 0 has
                that of a whole sentence for ROOT
    """

    closure: FloatArray
    expected: FloatArray
    fitting: FloatArray


def left_progeny(grammar: Grammar, depth: int, *, bounded: bool = True) -> Progeny:
    """Expectations for a store of `depth` elements.

    Unless `bounded`, those of the grammar as it is, for which trees of any depth count: two rows, ROOT's and one for
    all elements. Raises ModelError where a symbol's left descendants or unary chains would never end.
    """
    size = grammar.size
    p = np.exp(grammar.binary_logp)
    words = np.bincount(grammar.lexicon.symbols, np.exp(grammar.lexicon.logp), size)
    unary = np.zeros((size, size))
    np.add.at(unary, (grammar.unary[:, 0], grammar.unary[:, 1]), np.exp(grammar.unary_logp))
    identity = np.eye(size)
    closure = _inverse(identity - unary)

    def descent(right: FloatArray) -> FloatArray:
        """N: from a node to the place of its left child, weighted by what is to come of the right one."""
        return _matrix(grammar, 1, p * right[grammar.binary[:, 2]])

    if not bounded:
        down = descent(np.ones(size))
        edge = _inverse(identity - unary - down)
        return Progeny(closure, np.stack([_root_only(edge), closure @ down @ edge]), np.ones((3, size)))
    expected = np.zeros((depth, size, size))
    fitting = np.zeros((depth + 1, size))
    fitting[depth] = closure @ words
    for d in range(depth, 0, -1):
        edge = _inverse(identity - unary - descent(fitting[d]))
        left = edge @ words  # L_d
        if d == 1:
            expected[0] = _root_only(edge)
            fitting[0, ROOT] = left[ROOT]
        else:
            along = _matrix(grammar, 2, p * left[grammar.binary[:, 1]])  # from a node to the place of its right child
            fitting[d - 1] = _inverse(identity - unary - along) @ words
            expected[d - 1] = closure @ descent(fitting[d - 1]) @ edge
    if fitting[0, ROOT] <= 0:
        raise ModelError(f"no sentence of this grammar fits in a store of {depth} elements")
    return Progeny(closure, expected, fitting)


def _matrix(grammar: Grammar, child: int, weights: FloatArray) -> FloatArray:
    """(S, S) sums of the weights of binary rules, by parent and child."""
    size = grammar.size
    cells = grammar.binary[:, 0].astype(np.int64) * size + grammar.binary[:, child]
    return np.bincount(cells, weights, size * size).reshape(size, size)


def _root_only(edge: FloatArray) -> FloatArray:
    only = np.zeros_like(edge)
    only[ROOT] = edge[ROOT]
    return only


def _inverse(matrix: FloatArray) -> FloatArray:
    """Of I - X, where X ≥ 0: the sum of its powers, so it must have no negative value."""
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        inverse = np.full_like(matrix, np.nan)
    if not (inverse >= -TOLERANCE).all():
        raise ModelError("the grammar's unary rules or left recursion go round for ever: a symbol never yields a word")
    return np.maximum(inverse, 0.0)
