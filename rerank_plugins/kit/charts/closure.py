"""The closure of unary rules, R = (I − U)^-1 = Σ_m U^m with U[a, b] = p(a → b): all chains of unary rules, summed.

Cycles such as NP → S → NP are included; with Σ_C p(a → b C) added to U[a, b], it gives the left corners of Jelinek &
Lafferty (1991). The series is summed by doubling, Σ_{m < 2n} U^m = (Σ_{m < n} U^m)(I + U^n): nothing is subtracted,
and the sum of an impossible derivation is exactly 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray, PlaceArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.kernels import part

MAX_DOUBLINGS = 60  # a series that has not converged after 2^60 terms is taken to diverge


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
    for _ in range(MAX_DOUBLINGS):
        power = power @ power
        if not np.isfinite(power).all():
            break
        if (power <= 1e-18 * sums).all():
            return sums
        sums = sums + sums @ power
    raise ModelError("damaged grammar: its unary rules have a cycle of probability one")


class Chains(NamedTuple):
    """The non-zero entries of a closure by the lower symbol: those of b are starts[b] to starts[b + 1]."""

    starts: PlaceArray
    parents: PlaceArray
    p: FloatArray


def by_child(closure: Closure, size: int) -> Chains:
    """Sort the entries of a closure over `size` symbols by the lower symbol, as the kernels read them."""
    order = np.lexsort((closure.above, closure.below))
    starts = np.concatenate(([0], np.cumsum(np.bincount(closure.below, minlength=size))))
    return Chains(starts.astype(np.uint32), closure.above[order].astype(np.uint32), closure.p[order])


@part
def apply_chains(chains: Chains, below: FloatArray, above: FloatArray) -> None:
    """Set above[a] = Σ_b closure[a, b] below[b]."""
    for a in range(len(above)):
        above[a] = 0.0
    for b in range(len(below)):
        if below[b] != 0.0:
            for e in range(chains.starts[b], chains.starts[b + 1]):
                above[chains.parents[e]] += chains.p[e] * below[b]
