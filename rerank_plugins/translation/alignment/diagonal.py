"""The diagonal prior of links (Dyer, Chahuneau and Smith 2013), with its M step.

Words are generated at the positions j = 1 … m from given words at i = 1 … l, given that they are not aligned to NULL:

    δ(i | j) = exp(-λ |i/l - j/m|) / Z(j)

The M step of the tension λ raises the expected log-likelihood of the positions, so that the likelihood never falls.
"""

from __future__ import annotations

from math import exp

import numpy as np

from rerank_plugins import FloatArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel, part

LEAST_TENSION, MOST_TENSION = 0.1, 20.0
STEPS = 40  # of bisection, each of which halves the interval


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


@filling_kernel
def fill_diagonals(
    tension: float, given: LongArray, generated: LongArray, starts: LongArray, place_p: FloatArray
) -> None:
    """Fill in δ for classes of sentence pairs, each from `starts[class]` on."""
    for number in range(len(given)):
        fill_diagonal(tension, given[number], generated[number], place_p, starts[number])
