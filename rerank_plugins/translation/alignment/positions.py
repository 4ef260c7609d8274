"""Positions of links: the diagonal prior of model 2 and the transitions of the HMM, with their M steps.

Words are generated at the positions j = 1 … m from given words at i = 1 … l, given that they are not aligned to NULL.

    diagonal (Dyer, Chahuneau and Smith 2013):      δ(i | j) = exp(-λ |i/l - j/m|) / Z(j);   λ = 0 is model 1
    transitions (Vogel, Ney and Tillmann 1996):     p(i | i') = c(i - i') / Σ_k c(k - i')

i' = 0 precedes the first word. Distances beyond ±W, for an array c of 2 W + 1 elements, have the c of ±W. The M steps
of the tension λ and the jumps c raise the expected log-likelihood of the positions, so that the likelihood never falls.
"""

from __future__ import annotations

from math import exp

import numpy as np

from rerank_plugins import FloatArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel, part

LEAST_TENSION, MOST_TENSION = 0.1, 20.0
STEPS = 40  # of bisection, each of which halves the interval
ROUNDS = 5  # of the minorisation of jumps in an iteration
LEAST_JUMP = 1e-30  # of the most frequent one


def best_tension(counts: FloatArray, distances: FloatArray, rows: LongArray) -> float:
    """The λ that maximises Σ counts · ln δ, with δ ∝ exp(-λ · distances) in each row.

    The elements of row r are those from `rows[r]` on, up to the next row. The derivative, the expected distance by the
    model minus the expected one by the counts, falls with λ; its zero is bracketed in halves.
    """
    weights = np.add.reduceat(counts, rows)
    wanted = float(counts @ distances)

    def derivative(tension: float) -> float:
        place_p = np.exp(-tension * distances)
        means = np.add.reduceat(place_p * distances, rows) / np.add.reduceat(place_p, rows)
        return float(weights @ means) - wanted

    low, high = LEAST_TENSION, MOST_TENSION
    for _ in range(STEPS):
        middle = (low + high) / 2
        if derivative(middle) > 0:
            low = middle
        else:
            high = middle
        if high - low < 1e-6:
            break
    return (low + high) / 2


def better_jumps(counts: FloatArray, jumps: LongArray, rows: LongArray, before: FloatArray) -> FloatArray:
    """Jumps c that raise Σ counts · ln (c(jump) / Σ of c over the row), from the values `before`.

    Element k of `counts` has the jump `jumps[k]`, an index into c; rows are those of `best_tension`. The sums over rows
    depend on how many words there are, so c is not the mere ratio of the counts. It is that of Hunter (2004, MM
    algorithms for generalized Bradley–Terry models): c(d) becomes the counts of d divided by Σ over rows of the row's
    counts times how often d is in it, divided by the row's sum. Each round raises the function; the first one, from
    equal values, is the estimate of Vogel et al. with the chance of each jump taken into account.
    """
    of_jump = np.bincount(jumps, counts, len(before))
    weights = np.add.reduceat(counts, rows)
    sizes = np.diff(np.append(rows, len(counts)))
    c = before
    for _ in range(ROUNDS):
        per_sum = np.repeat(weights / np.add.reduceat(c[jumps], rows), sizes)
        chances = np.bincount(jumps, per_sum, len(c))
        c = np.where(of_jump > 0, of_jump / np.where(chances > 0, chances, 1.0), 0.0)
        c = np.maximum(c / c.max(), LEAST_JUMP)
    return c


@part
def fill_diagonal(tension: float, given: int, generated: int, place_p: FloatArray, start: int) -> None:
    """Fill in δ(i | j) for given words i within generated words j, from `place_p[start]` on."""
    for j in range(1, generated + 1):
        total = 0.0
        for i in range(1, given + 1):
            weight = exp(-tension * abs(i / given - j / generated))
            place_p[start + i - 1] = weight
            total += weight
        for at in range(start, start + given):
            place_p[at] /= total
        start += given


@part
def fill_transitions(jumps: FloatArray, given: int, place_p: FloatArray, start: int) -> None:
    """Fill in p(i | i') for i = 1 … given within i' = 0 … given, from `place_p[start]` on."""
    farthest = len(jumps) // 2
    for before in range(given + 1):
        total = 0.0
        for i in range(1, given + 1):
            weight = jumps[farthest + max(-farthest, min(farthest, i - before))]
            place_p[start + i - 1] = weight
            total += weight
        for at in range(start, start + given):
            place_p[at] /= total
        start += given


@filling_kernel
def fill_diagonals(
    tension: float, given: LongArray, generated: LongArray, starts: LongArray, place_p: FloatArray
) -> None:
    """Fill in δ for classes of sentence pairs, each from `starts[class]` on."""
    for number in range(len(given)):
        fill_diagonal(tension, given[number], generated[number], place_p, starts[number])


@filling_kernel
def fill_all_transitions(jumps: FloatArray, given: LongArray, starts: LongArray, place_p: FloatArray) -> None:
    """Fill in the transitions for several numbers of given words, each from `starts[number]` on."""
    for number in range(len(given)):
        fill_transitions(jumps, given[number], place_p, starts[number])
