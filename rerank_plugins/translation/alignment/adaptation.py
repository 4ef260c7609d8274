"""The M step of the positions: the tension λ of the diagonal prior, and the jumps c of the HMM.

Both raise the expected log-likelihood of the positions, so that the likelihood never falls.
"""

from __future__ import annotations

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray

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
        shares = np.exp(-tension * distances)
        means = np.add.reduceat(shares * distances, rows) / np.add.reduceat(shares, rows)
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
