"""Batch k-best MIRA (Cherry & Foster 2012, Algorithm 1): an online large-margin learner on fixed n-best lists.

The lists are visited in random order. In each, the hope is the hypothesis with the highest score plus gain, the fear
the one with the highest score minus gain. Where the margin between their scores is smaller than the difference of their
gains, the weights move towards hope - fear, by a step of at most C. After each pass the mean of the weights after every
visit so far is an iterate; the best iterate wins.

The gain of a hypothesis is how much it would improve the metric of a background document, a decaying sum of the
statistics of hopes (Chiang et al. 2008). The metric is approximated to first order around that document, and its slope
is recomputed every LISTS_OF_ONE_SLOPE lists, so that any additive metric can be used and the kernel does not call it.
Gains are divided by their standard deviation within lists, as features are by theirs, so that C means the same for
every metric. With `gain = "sentence"` a gain is the sentence score of the metric instead: BLEU+1 where the metric is
BLEU, chrF where it is chrF.

With `prior` the loss that is minimised is the mean hinge loss of a list + prior / 2 * (distance from the prior)^2. The
proximal step of the second term, after every PULL lists, multiplies the part of the weights that lies off the prior by
1 / (1 + PULL * C * prior) (Parikh & Boyd 2014, section 6.1.1).

A pass takes O(rows * features), plus the sparse features present. Lattices and the 'safe hope' variant are not
supported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rerank_adapters.tuners.iterative import IterativeTuner, Search
from rerank_adapters.tuners.problem import Prior, Problem
from rerank_adapters.tuners.within_lists import gains_of, metric_slope, one_best, spread
from rerank_plugins import FloatArray, option

LISTS_OF_ONE_SLOPE = 50  # lists visited with the same slope of the metric
PULL = 5  # lists visited between two steps towards the prior; a divisor of LISTS_OF_ONE_SLOPE


@dataclass
class Mira(IterativeTuner):
    """Batch k-best MIRA (Cherry & Foster 2012): hope and fear, a background document, averaged weights."""

    C: float = option(0.01, doc="largest step of an update")
    passes: int = option(60, doc="passes over the lists")
    decay: float = option(0.999, doc="factor by which the background document decays after each list")
    gain: Literal["corpus", "sentence"] = option(
        "corpus",
        doc="the gain of a hypothesis: what it adds to a background document, or its sentence score (BLEU+1 …)",
    )

    def __post_init__(self) -> None:
        """Check the options. Raises ValueError for a value out of range."""
        super().__post_init__()
        if not 0 < self.decay < 1:
            raise ValueError(f"decay is {self.decay}; wanted a number between 0 and 1")
        if self.passes < 1:
            raise ValueError(f"passes is {self.passes}; wanted 1 or more")
        if self.C <= 0:
            raise ValueError(f"C is {self.C}; wanted a number above 0")

    def quick(self) -> Mira:
        """Itself without bags, each of which is a tuning of its own."""
        return replace(self, bags=0)

    def remarks(self, problem: Problem) -> list[str]:
        """That sentence scores are optimised, where they are."""
        signature = problem.metric.signature()
        return [f"MIRA optimised the sentence scores of {signature}"] if self.gain == "sentence" else []

    def search(self, problem: Problem) -> Search:
        """A search by passes over the lists; restarts differ in the order of the lists."""
        from rerank_adapters.tuners.hope_fear import Lists, visit_lists  # loads numba, at the first search

        statistics = problem.statistics
        if self.gain == "sentence":
            statistics = (problem.sign * problem.metric.sentence_scores(statistics))[:, None]
        statistics, values = np.ascontiguousarray(statistics), np.ascontiguousarray(problem.features.dense)
        sparse = problem.features.sparse
        most = values.shape[1] + 2 * int(np.diff(sparse.indptr).max(initial=0))  # features in which two rows differ

        def slope_at(background: FloatArray, memory: float) -> FloatArray:
            return np.ones(1) if self.gain == "sentence" else metric_slope(problem.metric, background, memory)

        def iterates(start: FloatArray, rng: np.random.Generator, _restart: int) -> Iterator[FloatArray]:
            prior = Prior.of(problem, start)
            weights = prior.weights.copy()
            memory = 1.0 / (1.0 - self.decay)  # number of lists that the background amounts to
            chosen = one_best(problem.scores(weights), problem.offsets)
            background = statistics[chosen].mean(axis=0) * memory
            unit = spread(gains_of(statistics, slope_at(background, memory)), problem.offsets)
            lag = np.zeros_like(weights)  # weights - lag / visits is the mean of the weights after each visit
            order, slope = np.empty(problem.segments, np.int64), np.empty(statistics.shape[1])
            lists = Lists(
                order, problem.offsets, values, sparse.indptr, sparse.indices, sparse.data, problem.base,
                statistics, slope, problem.lower, problem.upper, float(self.C), float(self.decay),
                weights, lag, background, np.empty(most, np.int64), np.empty(most),
            )  # fmt: skip
            for pass_ in range(self.passes):
                order[:], earlier = rng.permutation(problem.segments), pass_ * problem.segments
                step = PULL if self.prior else LISTS_OF_ONE_SLOPE
                for begin in range(0, problem.segments, step):
                    if begin % LISTS_OF_ONE_SLOPE == 0:
                        slope[:] = slope_at(background, memory) / unit
                    end = min(begin + step, problem.segments)
                    visit_lists(lists, begin, end, earlier)
                    if self.prior:
                        part = 1.0 - 1.0 / (1.0 + (end - begin) * self.C * self.prior)
                        pulled = np.clip(weights - part * prior.residual(weights), problem.lower, problem.upper)
                        lag += (earlier + end) * (pulled - weights)
                        weights[:] = pulled
                yield weights - lag / ((pass_ + 1) * problem.segments)

        return iterates
