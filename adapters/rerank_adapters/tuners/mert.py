"""Minimum error rate training (Och 2003): exact line searches over the corpus metric, from many starts.

From each start the weights go along every coordinate and some random directions, in random order, each time to the
best point of the line; sweeps repeat until one brings less than `tolerance`. The scores of all rows are kept up to
date by adding t * slopes, so that a line search costs O(rows) and no product with the feature matrix (random
directions: one). The metric is any over additive statistics, to be raised or lowered.

Only the direction of a weight vector counts, so lines are searched as far as `REACH` times its length on either side
(in standardised features), within the bounds of the weights. Left out: re-decoding (lists are given), sparse features
(they keep their start weights), Powell's conjugate directions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rerank_adapters.tuners.iterative import IterativeTuner, Search
from rerank_adapters.tuners.problem import Problem
from rerank_plugins.arrays import FloatArray
from rerank_plugins.interfaces import option

REACH = 4.0


@dataclass
class Mert(IterativeTuner):
    """Minimum error rate training (Och 2003): exact line search over any corpus metric; dense features only."""

    restarts: int = option(20, doc="how many times to search; all but the first from random starts")
    directions: int = option(12, doc="random directions tried in each sweep, besides every coordinate")
    sweeps: int = option(30, doc="most sweeps over the directions per restart")
    tolerance: float = option(1e-4, doc="a sweep that brings less than this part of the score ends the restart")
    smoothing: float = option(0.0, doc="average the metric over this distance along a line (0: exact maximum)")

    tunes_sparse = False

    def search(self, problem: Problem) -> Search:
        """Sweeps of line searches from the start, then from random weights."""

        def iterates(start: FloatArray, rng: np.random.Generator, restart: int) -> Iterator[FloatArray]:
            weights = start if restart == 0 and start.any() else _random_weights(problem, rng)
            score = problem.sign * problem.corpus_score(weights)
            for _ in range(self.sweeps):
                weights = self._sweep(problem, weights, rng)
                before, score = score, problem.sign * problem.corpus_score(weights)
                yield weights
                if score - before <= self.tolerance * abs(score):
                    return

        return iterates

    def _sweep(self, problem: Problem, weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        """The weights after one line search along each direction."""
        from rerank_adapters.tuners.line_search import metric_on_line  # numba: loaded with the first search

        if problem.normalised:
            weights = weights / max(float(np.linalg.norm(weights)), 1e-300)
        dense = problem.features.dense
        scores = problem.scores(weights)
        for k in rng.permutation(problem.size + self.directions):
            if k < problem.size:
                direction = np.zeros(problem.size)
                direction[k] = 1.0
                slopes = dense[:, k]
            else:
                direction = rng.standard_normal(problem.size) / np.sqrt(problem.size)
                slopes = np.einsum("ij,j->i", dense, direction)
            low, high = _reach(problem, weights, direction)
            if low < high:
                line = metric_on_line(scores, slopes, problem.offsets, problem.statistics, problem.metric, low, high)
                t, _ = line.best(problem.sign, self.smoothing)
                weights = weights + t * direction
                scores += t * slopes
        return np.clip(weights, problem.lower, problem.upper)  # rounding may have led outside


def _random_weights(problem: Problem, rng: np.random.Generator) -> FloatArray:
    """A random direction within the bounds, as loud as the fixed features where there are any."""
    weights = rng.standard_normal(problem.size) / np.sqrt(problem.size)
    loudness = float(np.std(problem.base)) or 1.0
    weights = np.where((weights < problem.lower) | (weights > problem.upper), -weights, weights)
    random: FloatArray = np.clip(loudness * weights, problem.lower, problem.upper)
    return random


def _reach(problem: Problem, weights: FloatArray, direction: FloatArray) -> tuple[float, float]:
    """How far t may go: to the first bound that a weight meets, or REACH times the weights' length."""
    length = float(np.hypot(np.linalg.norm(weights), np.std(problem.base))) or 1.0
    moves = direction != 0
    with np.errstate(invalid="ignore"):
        ends = np.array([problem.lower - weights, problem.upper - weights])[:, moves] / direction[moves]
    low, high = ends.min(axis=0).max(), ends.max(axis=0).min()
    return max(float(low), -REACH * length), min(float(high), REACH * length)
