"""Expectations over the trees that a grammar generates: the probability of finite trees, the number of each symbol."""

from __future__ import annotations

import numpy as np

from rerank_plugins.constituency.grammar import ROOT, Grammar
from rerank_plugins.core.arrays import FloatArray

TIGHT = 1e-12


def finite_mass(grammar: Grammar) -> FloatArray:
    """Return (S) the probability that a symbol derives a finite string: ones in a consistent grammar.

    In general it is the least solution of z = e + U z + B(z, z), with the emissions e. Newton's method from zero
    converges to it from below (Etessami & Yannakakis 2009).
    """
    size, binary, unary = grammar.size, grammar.binary, grammar.unary
    p, q = np.exp(grammar.binary_logp), np.exp(grammar.unary_logp)
    emitted = np.bincount(grammar.lexicon.symbols, np.exp(grammar.lexicon.logp), size)
    if np.abs(grammar.totals() - 1).max() < 1e-9 and _growth(grammar) < 1:
        return np.ones(size)
    mass = np.zeros(size)
    for _ in range(200):
        both = mass[binary[:, 1]] * mass[binary[:, 2]]
        value = (
            emitted + np.bincount(unary[:, 0], q * mass[unary[:, 1]], size) + np.bincount(binary[:, 0], p * both, size)
        )
        slope = np.zeros((size, size))
        np.add.at(slope, (unary[:, 0], unary[:, 1]), q)
        np.add.at(slope, (binary[:, 0], binary[:, 1]), p * mass[binary[:, 2]])
        np.add.at(slope, (binary[:, 0], binary[:, 2]), p * mass[binary[:, 1]])
        step = np.linalg.solve(np.eye(size) - slope, value - mass)
        mass = mass + np.maximum(step, 0)
        if step.max(initial=0) <= TIGHT:
            break
    return np.minimum(mass, 1.0)


def _growth(grammar: Grammar) -> float:
    """Bound the spectral radius of the matrix of expected children from above by power iteration.

    Trees may be infinite only if the radius is 1 or more.
    """
    vector = np.ones(grammar.size)
    for _ in range(300):
        above = expected_children(grammar, vector)
        growth = float(above.max())
        if growth < 1 or not growth:
            return growth
        vector = above / growth + 1e-12
    return growth


def expected_children(grammar: Grammar, vector: FloatArray) -> FloatArray:
    """Return (S) Σ over the rules of a symbol of p times the sum of `vector` over the rule's children."""
    p, q = np.exp(grammar.binary_logp), np.exp(grammar.unary_logp)
    children = vector[grammar.binary[:, 1]] + vector[grammar.binary[:, 2]]
    above: FloatArray = np.bincount(grammar.binary[:, 0], p * children, grammar.size).astype(np.float64)
    above += np.bincount(grammar.unary[:, 0], q * vector[grammar.unary[:, 1]], grammar.size)
    return above


def expected_counts(grammar: Grammar) -> FloatArray:
    """Return (S) the expected number of each symbol in a tree; if trees may be infinite, in their first levels."""
    p, q = np.exp(grammar.binary_logp), np.exp(grammar.unary_logp)
    level = np.zeros(grammar.size)
    level[ROOT] = 1.0
    counts = level.copy()
    for _ in range(1000):
        below: FloatArray = np.zeros(grammar.size)
        below += np.bincount(grammar.unary[:, 1], q * level[grammar.unary[:, 0]], grammar.size)
        for child in (1, 2):
            below += np.bincount(grammar.binary[:, child], p * level[grammar.binary[:, 0]], grammar.size)
        level = below
        counts += level
        if level.sum() <= TIGHT * counts.sum() or counts.sum() > 1e6:
            break
    return counts
