"""Fits the weights v(a, b) of word pairs in a window, which never rise with the distance of the pair (Song 2016).

Cell (a, b) has distance a + b + 1. The weights in question, none of them negative and v(a, b) >= v(a', b') wherever
a + b < a' + b', form a cone: all sums, with factors θ >= 0, of indicators of sets of cells that consist of all cells
below some distance and any of the cells at it. So a fit of θ >= 0 keeps the constraint exactly. It maximises the
conditional log-likelihood Σ_s ln p(l_s | s) with p(l | s) ∝ exp(Σ v(a, b) S_l(a, b)) over the gaps l of a sentence s,
which is concave in θ, by accelerated projected gradients (Nesterov 1983) with restarts (O'Donoghue and Candès 2015).
"""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.kit.elementary_functions import exp, log

ROUNDS = 500
CLOSE = 1e-6  # of the mean ln p(l | s)
SHORTEST_STEP = 1e-9


def cone(half: int) -> FloatArray:
    """(generators, half · half) the indicators whose sums with non-negative factors are the weights in question.

    >>> cone(2).astype(int).tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    """
    distance = np.add.outer(np.arange(half), np.arange(half)).ravel()
    rows = []
    for d in range(2 * half - 1):
        cells = np.flatnonzero(distance == d)
        for chosen in chain.from_iterable(combinations(cells, size) for size in range(1, len(cells) + 1)):
            row = (distance < d).astype(np.float64)
            row[list(chosen)] = 1.0
            rows.append(row)
    return np.array(rows)


def fit_weights(
    features: FloatArray, offsets: LongArray, right: LongArray, start: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, float]:
    """Fit weights of the features (gaps, n, n) in that cone; return them, their factors θ, and the mean ln p(l | s).

    `offsets` (sentences + 1) are where the gaps of each sentence begin, `right` (sentences) the gap at which a word is
    missing, as a row of `features`; `start` are the factors to start from.
    """
    half = features.shape[1]
    generators = cone(half)
    rows = features.reshape(len(features), -1)
    theta = ahead = np.zeros(len(generators)) if start is None else start
    momentum, step = 1.0, 1.0
    value = log_likelihood(rows, offsets, right, _sum(theta, generators))[0]
    for _ in range(ROUNDS):
        here, slope = log_likelihood(rows, offsets, right, _sum(ahead, generators))
        gradient = _sum(slope, generators.T)
        while True:  # a step so short that the quadratic bound holds
            new = np.maximum(ahead + step * gradient, 0.0)
            moved = new - ahead
            reached = log_likelihood(rows, offsets, right, _sum(new, generators))[0]
            if reached >= here + (gradient * moved - moved * moved / (2 * step)).sum() - 1e-12 or step < SHORTEST_STEP:
                break
            step /= 2
        if reached < value:  # the momentum has gone too far: start again from the best point
            if momentum == 1.0:
                break
            ahead, momentum = theta, 1.0
            continue
        gain = reached - value
        next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / next_momentum * (new - theta)
        theta, value, momentum = new, reached, next_momentum
        step *= 1.3
        if gain < CLOSE:
            break
    return _sum(theta, generators).reshape(half, half), theta, value


def log_likelihood(
    rows: FloatArray, offsets: LongArray, right: LongArray, weights: FloatArray
) -> tuple[float, FloatArray]:
    """The mean over sentences of ln p(l | s), for weights of the columns of `rows`, and its gradient."""
    ln_p = ln_posteriors(_sum(weights, rows.T), offsets)
    gradient = (rows[right].sum(axis=0) - _sum(exp(ln_p), rows)) / (len(offsets) - 1)
    return float(ln_p[right].mean()), gradient


def _sum(factors: FloatArray, rows: FloatArray) -> FloatArray:
    """The sum of the rows, each times its factor: `factors @ rows`, but in one order on every processor."""
    return np.asarray(np.einsum("i,ij->j", factors, rows), np.float64)


def ln_posteriors(scores: FloatArray, offsets: LongArray) -> FloatArray:
    """(gaps) ln of the softmax of the scores within each sentence; no sentence may be without a gap."""
    sizes = np.diff(offsets)
    shifted = scores - np.repeat(np.maximum.reduceat(scores, offsets[:-1]), sizes)
    ln_sums = log(np.add.reduceat(exp(shifted), offsets[:-1]))
    posteriors: FloatArray = shifted - np.repeat(ln_sums, sizes)
    return posteriors
