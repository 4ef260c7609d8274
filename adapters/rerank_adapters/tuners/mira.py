"""Batch k-best MIRA (Cherry & Foster 2012, Algorithm 1): an online large-margin learner on fixed n-best lists.

For each list, in random order: the hope has the highest score plus gain, the fear the highest score minus gain; where
the margin between their scores is smaller than the difference of their gains, the weights move towards hope - fear, by
at most C. After each pass the mean of the weights after every list so far is an iterate; the best one wins.

The gain of a hypothesis is what it would bring to the metric of a pseudo-document, a decaying sum of the statistics of
hopes (Chiang et al. 2008). We take the metric to first order around that document and renew its slope every BLOCK
lists: any additive metric serves, and the kernel needs no metric inside. Gains are divided by their standard deviation
within lists, as features are by theirs, so that C means the same for every metric.

A pass is O(rows * features), plus the sparse features present. Left out: lattices, and the 'safe hope' variant.
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

BLOCK = 50


@dataclass
class Mira(IterativeTuner):
    """Batch k-best MIRA (Cherry & Foster 2012): hope and fear, background document, averaged weights."""

    C: float = option(0.01, doc="largest step of an update")
    passes: int = option(60, doc="passes over the lists")
    decay: float = option(0.999, doc="what is left of the background document after each list")

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        if not 0 < self.decay < 1:
            raise ValueError(f"decay is {self.decay}; wanted a number between 0 and 1")
        if self.passes < 1:
            raise ValueError(f"passes is {self.passes}; wanted 1 or more")
        if self.C <= 0:
            raise ValueError(f"C is {self.C}; wanted a number above 0")

    def search(self, problem: Problem) -> Search:
        """Passes over the lists; restarts differ in the order of the lists."""
        from rerank_adapters.tuners.hope_fear import visit_lists  # numba: loaded with the first search

        values = np.ascontiguousarray(problem.features.dense)
        sparse = problem.features.sparse

        def iterates(start: FloatArray, rng: np.random.Generator, _restart: int) -> Iterator[FloatArray]:
            weights = start.copy()
            if problem.normalised:
                weights /= max(float(np.linalg.norm(weights)), 1e-300)
            memory = 1.0 / (1.0 - self.decay)  # how many lists the background is worth
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
