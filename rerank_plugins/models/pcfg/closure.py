"""Sums over chains of rules: Σ_m U^m for a matrix U of probabilities between symbols, and the best chain instead.

U[a, b] = p(a → b) gives the unary closure R = (I − U)^-1: all chains from a down to b, cycles such as NP → S → NP
among them. With U[a, b] = Σ_C p(a → b C) in addition it gives the left corners of Jelinek & Lafferty (1991).

The series is summed by doubling, Σ_{m < 2n} U^m = (Σ_{m < n} U^m)(I + U^n): nothing is ever subtracted, so that every
entry is exact to rounding, and an impossible chain is an exact zero (a solved system leaves noise there).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from rerank_plugins.arrays import FloatArray, IntArray
from rerank_plugins.errors import ModelError

DOUBLINGS = 60  # chains of 2^60 steps: a series that has not ended there has no sum


class Closure(NamedTuple):
    """The entries of a closure that are not zero, in no order: p of all chains from `above` down to `below`."""

    above: IntArray
    below: IntArray
    p: FloatArray


def closure_of(pairs: IntArray, p: FloatArray, size: int) -> Closure:
    """Σ_m U^m of the (size, size) matrix U with U[a, b] = Σ p over the rows (a, b) of `pairs`.

    Raises ModelError where the sum is infinite: a cycle of probability one.
    """
    used = np.unique(pairs)
    others = np.setdiff1d(np.arange(size), used)  # of which there is the empty chain alone
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
    """(size, size) the closure (`closure_of`) as a matrix. Raises ModelError where the sum is infinite."""
    above, below, sums = closure_of(pairs, p, size)
    matrix = np.zeros((size, size))
    matrix[above, below] = sums
    return matrix


def _series(power: FloatArray) -> FloatArray:
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
    """The non-zero entries of a closure, by the lower symbol: those of b are starts[b] to starts[b + 1]."""

    starts: IntArray
    parents: IntArray
    p: FloatArray


def by_child(closure: Closure, size: int) -> Chains:
    """The entries of a closure over `size` symbols in the form that kernels read."""
    order = np.lexsort((closure.above, closure.below))
    starts = np.concatenate(([0], np.cumsum(np.bincount(closure.below, minlength=size))))
    return Chains(starts.astype(np.int32), closure.above[order], closure.p[order])


@njit(cache=True, nogil=True)
def apply_chains(chains: Any, below: Any, above: Any) -> None:
    """above[a] = Σ_b closure[a, b] below[b]."""
    above[:] = 0.0
    for b in range(len(below)):
        if below[b] != 0.0:
            for e in range(chains.starts[b], chains.starts[b + 1]):
                above[chains.parents[e]] += chains.p[e] * below[b]


@njit(cache=True, nogil=True)
def apply_chains_down(chains: Any, above: Any, below: Any) -> None:
    """below[b] = Σ_a closure[a, b] above[a]."""
    for b in range(len(below)):
        total = 0.0
        for e in range(chains.starts[b], chains.starts[b + 1]):
            total += chains.p[e] * above[chains.parents[e]]
        below[b] = total
