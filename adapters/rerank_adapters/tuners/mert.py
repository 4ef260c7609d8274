"""Minimum error rate training (Och 2003): exact line searches over the corpus metric, from many starts.

From each start a round searches along every coordinate and some random directions, in random order, and moves the
weights to the best point of each line; rounds are repeated until one improves the score by less than `tolerance`. The
scores of all rows are updated by adding t * slopes, so that a line search costs O(rows) and no product with the feature
matrix (along a random direction: one). Any metric over additive statistics can be maximised or minimised.

Only the direction of a weight vector counts, so lines are searched up to `REACH` times its length on either side (in
standardised features), within the bounds of the weights. The lists are fixed: nothing is decoded again. Sparse features
keep their start weights, and Powell's conjugate directions are not used.

With `prior`, each score loses prior * (squared sine of the angle between the weights and the start weights), in points
of the metric: so much do weights at a right angle to the start's lose. The start is searched from in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerank_adapters.tuners.iterative import IterativeTuner, Search
from rerank_adapters.tuners.problem import Prior, Problem
from rerank_adapters.tuners.within_lists import dot
from rerank_plugins import FloatArray, option

if TYPE_CHECKING:
    from rerank_adapters.tuners.line_search import Line

REACH = 4.0


@dataclass
class Mert(IterativeTuner):
    """Minimum error rate training (Och 2003): exact line search over any corpus metric; dense features only."""

    restarts: int = option(20, doc="number of searches; all but the first have random starts")
    directions: int = option(12, doc="random directions searched in each round, besides every coordinate")
    rounds: int = option(30, doc="maximum number of rounds over the directions per restart")
    tolerance: float = option(1e-4, doc="the restart ends when a round improves the score by less than this fraction")

    tunes_sparse = False

    def penalty(self, problem: Problem, start: FloatArray) -> Callable[[FloatArray], float]:
        """The penalty of weights for their distance from the start weights, in points of the metric."""
        prior = Prior.of(problem, start)
        return lambda weights: self.prior * float(prior.relative_penalty(weights))

    def search(self, problem: Problem) -> Search:
        """A search by rounds of line searches, first from the start weights and then from random ones."""

        def iterates(start: FloatArray, rng: np.random.Generator, restart: int) -> Iterator[FloatArray]:
            weights = start if restart == 0 and start.any() else _random_weights(problem, rng)
            prior = Prior.of(problem, start)
            penalty = self.penalty(problem, start)
            score = problem.sign * problem.corpus_score(weights) - penalty(weights)
            for _ in range(self.rounds):
                weights = self._search_round(problem, weights, prior, rng)
                before, score = score, problem.sign * problem.corpus_score(weights) - penalty(weights)
                yield weights
                if score - before <= self.tolerance * abs(score):
                    return

        return iterates

    def _search_round(
        self, problem: Problem, weights: FloatArray, prior: Prior, rng: np.random.Generator
    ) -> FloatArray:
        """The weights after a line search along each direction."""
        from rerank_adapters.tuners.line_search import metric_on_line  # loads numba, at the first search

        if problem.normalised:
            weights = weights / max(dot(weights, weights) ** 0.5, 1e-300)
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
                penalties = self._penalties(line, weights, direction, prior) if self.prior else None
                t, _ = line.best(problem.sign, penalties)
                weights = weights + t * direction
                scores += t * slopes
        return np.clip(weights, problem.lower, problem.upper)  # rounding may have exceeded a bound

    def _penalties(self, line: Line, weights: FloatArray, direction: FloatArray, prior: Prior) -> FloatArray:
        """(intervals): the penalty at the middle of each interval of the line."""
        middles = (line.edges[1:] + line.edges[:-1]) / 2
        return self.prior * prior.relative_penalty(weights + middles[:, None] * direction)


def _random_weights(problem: Problem, rng: np.random.Generator) -> FloatArray:
    """A random weight vector within the bounds, on the scale of the fixed features where there are any."""
    weights = rng.standard_normal(problem.size) / np.sqrt(problem.size)
    scale = float(np.std(problem.base)) or 1.0
    weights = np.where((weights < problem.lower) | (weights > problem.upper), -weights, weights)
    random: FloatArray = np.clip(scale * weights, problem.lower, problem.upper)
    return random


def _reach(problem: Problem, weights: FloatArray, direction: FloatArray) -> tuple[float, float]:
    """The range of t: up to the first bound that a weight meets, or REACH times the weights' length."""
    length = float(np.hypot(dot(weights, weights) ** 0.5, np.std(problem.base))) or 1.0
    moves = direction != 0
    with np.errstate(invalid="ignore"):
        ends = np.array([problem.lower - weights, problem.upper - weights])[:, moves] / direction[moves]
    low, high = ends.min(axis=0).max(), ends.max(axis=0).min()
    return max(float(low), -REACH * length), min(float(high), REACH * length)
