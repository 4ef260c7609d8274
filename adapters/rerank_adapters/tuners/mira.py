"""Batch k-best MIRA (Cherry & Foster 2012, Algorithm 1): an online large-margin learner on fixed n-best lists.

The lists are visited in random order. In each, the hope is the hypothesis with the highest score plus gain, the fear
the one with the highest score minus gain. Where the margin between their scores is smaller than the difference of their
gains, the weights move towards hope - fear, by a step of at most C. After each pass the mean of the weights after every
visit so far is an iterate; the best iterate wins.

The gain of a hypothesis is how much it would improve the metric of a background document, a decaying sum of the
statistics of hopes (Chiang et al. 2008). The metric is approximated to first order around that document, and its slope
is recomputed every BLOCK lists, so that any additive metric can be used and the kernel does not call it. Gains are
divided by their standard deviation within lists, as features are by theirs, so that C means the same for every metric.

A pass takes O(rows * features), plus the sparse features present. Lattices and the 'safe hope' variant are not
supported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rerank_adapters.tuners.gains import gains_of, metric_slope, spread
from rerank_adapters.tuners.iterative import IterativeTuner, Search
from rerank_adapters.tuners.one_best import one_best
from rerank_adapters.tuners.problem import Problem
from rerank_plugins.arrays import FloatArray
from rerank_plugins.interfaces import option

BLOCK = 50  # lists visited with the same slope of the metric


@dataclass
class Mira(IterativeTuner):
    """Batch k-best MIRA (Cherry & Foster 2012): hope and fear, a background document, averaged weights."""

    C: float = option(0.01, doc="largest step of an update")
    passes: int = option(60, doc="passes over the lists")
    decay: float = option(0.999, doc="factor by which the background document decays after each list")

    def __post_init__(self) -> None:
        """Check the options. Raises ValueError for a value out of range."""
        super().__post_init__()
        if not 0 < self.decay < 1:
            raise ValueError(f"decay is {self.decay}; wanted a number between 0 and 1")
        if self.passes < 1:
            raise ValueError(f"passes is {self.passes}; wanted 1 or more")
        if self.C <= 0:
            raise ValueError(f"C is {self.C}; wanted a number above 0")

    def search(self, problem: Problem) -> Search:
        """A search by passes over the lists; restarts differ in the order of the lists."""
        from rerank_adapters.tuners.hope_fear import visit_lists  # loads numba, at the first search

        values = np.ascontiguousarray(problem.features.dense)
        sparse = problem.features.sparse

        def iterates(start: FloatArray, rng: np.random.Generator, _restart: int) -> Iterator[FloatArray]:
            weights = start.copy()
            if problem.normalised:
                weights /= max(float(np.linalg.norm(weights)), 1e-300)
            memory = 1.0 / (1.0 - self.decay)  # number of lists that the background amounts to
            chosen = one_best(problem.scores(weights), problem.offsets)
            background = problem.statistics[chosen].mean(axis=0) * memory
            gains = gains_of(problem.statistics, metric_slope(problem.metric, background, memory))
            unit = spread(gains, problem.offsets)
            lag = np.zeros_like(weights)  # weights - lag / visits is the mean of the weights after each visit
            for pass_ in range(self.passes):
                order = rng.permutation(problem.segments)
                for begin in range(0, len(order), BLOCK):
                    slope = metric_slope(problem.metric, background, memory) / unit
                    visits = pass_ * problem.segments + begin
                    visit_lists(
                        order[begin : begin + BLOCK], problem.offsets, values, problem.base,
                        sparse.indptr, sparse.indices, sparse.data, problem.statistics, slope,
                        problem.lower, problem.upper, self.C, self.decay, visits, weights, lag, background,
                    )  # fmt: skip
                yield weights - lag / ((pass_ + 1) * problem.segments)

        return iterates
