"""Minimum expected risk (Smith & Eisner 2006): finds the weights whose posteriors have the best expected metric.

The posterior of a list is the softmax of its weighted sums. The expected statistics, summed over lists, are put into
the corpus metric (their section 4, here for any metric), or the expected sentence score is taken
(`target = "sentence"`). In deterministic annealing, the temperature T times the entropy of the posteriors is added to
the objective, and T falls from `temperature` to 0. In the quenching that follows, the posterior is sharpened by 2, 4,
... so that it approaches the choice of the 1-bests. An L2 term limits the weights. Each stage starts from the weights
of the stage before it.

The objective to be maximised, per list and with gains in units of their standard deviation within lists, is

    expected gain + T * entropy - l2 / 2 * |weights|^2 - prior / 2 * (distance from the prior)^2

One evaluation takes O(rows * features), one stage some tens of evaluations.

For each list let p = softmax(scores), H the entropy of p and E the expectation under p. With gains g, the derivative
with respect to a score is

    d (E[g] + T H) / d score_i  =  p_i (g_i - E[g])  -  T p_i (ln p_i + H)

(Smith & Eisner 2006, section 3); the derivatives with respect to the weights follow by the chain rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rerank_adapters.tuners.iterative import IterativeTuner, Search
from rerank_adapters.tuners.problem import Prior, Problem
from rerank_adapters.tuners.within_lists import dot, gains_of, metric_slope, one_best, spread
from rerank_plugins import FloatArray, option

WIDTH = 0.01  # of the differences, in multiples of 1 / segments; it can be small because expected statistics are smooth


class Posterior:
    """The expected gain of a problem's lists as a function of the weights, in standard deviations within lists.

    With `corpus` it is the metric of the expected statistics of the whole set, otherwise the mean of the expected
    sentence scores.
    """

    def __init__(self, problem: Problem, corpus: bool) -> None:
        self.problem = problem
        self.corpus = corpus
        self.starts, self.lengths = problem.offsets[:-1], np.diff(problem.offsets)
        if corpus:
            chosen = one_best(problem.base, problem.offsets)
            totals = problem.statistics[chosen].sum(axis=0)
            self.gains = gains_of(problem.statistics, metric_slope(problem.metric, totals, problem.segments))
        else:
            self.gains = problem.sign * problem.metric.sentence_scores(problem.statistics)
        self.unit = spread(self.gains, problem.offsets)
        self.gains = self.gains / self.unit

    def objective(self, weights: FloatArray, temperature: float) -> tuple[float, FloatArray]:
        """The expected gain + temperature * mean entropy, which is to be maximised, and its gradient."""
        problem, segments = self.problem, self.problem.segments
        scores = problem.scores(weights)
        scores -= np.repeat(np.maximum.reduceat(scores, self.starts), self.lengths)
        p = np.exp(scores)
        mass = np.add.reduceat(p, self.starts)
        p /= np.repeat(mass, self.lengths)
        log_p = scores - np.repeat(np.log(mass), self.lengths)
        gains, value = self.gains, 0.0
        if self.corpus:
            totals = np.einsum("i,ij->j", p, problem.statistics)
            value = problem.sign * float(problem.metric.score(totals)) / self.unit
            slope = metric_slope(problem.metric, totals, segments, WIDTH) / self.unit
            gains = gains_of(problem.statistics, slope)
        benefit = gains - temperature * log_p
        expected = np.add.reduceat(p * benefit, self.starts)
        gradient = problem.features.pull(p * (benefit - np.repeat(expected, self.lengths)) / segments)
        if self.corpus:
            return value - temperature * dot(p, log_p) / segments, gradient
        return float(expected.mean()), gradient


@dataclass
class ExpectedRisk(IterativeTuner):
    """Minimum expected risk (Smith & Eisner 2006): a softmax posterior with annealing and L2; tunes sparse features."""

    target: Literal["corpus", "sentence"] = option(
        "corpus", doc="the metric of the expected statistics, or the expected sentence score"
    )
    temperature: float = option(1.0, doc="weight of the entropy in the first stage")
    stages: int = option(
        6, doc="stages of annealing; the temperature is halved after each stage and is 0 in the last one"
    )
    quenching: int = option(2, doc="stages after annealing; each makes the posterior twice as sharp")
    l2: float = option(0.1, doc="weight of the squared length of the weight vector")
    iterations: int = option(50, doc="maximum number of L-BFGS iterations per stage")

    def __post_init__(self) -> None:
        """Check the options. Raises ValueError for a value out of range."""
        super().__post_init__()
        if self.stages < 1 or self.quenching < 0:
            raise ValueError(f"stages is {self.stages}, quenching {self.quenching}; wanted at least 1 and 0")
        if min(self.temperature, self.l2) < 0:
            raise ValueError(f"temperature is {self.temperature}, l2 {self.l2}; wanted 0 or more")

    def search(self, problem: Problem) -> Search:
        """A search through the stages of annealing and then of quenching."""
        posterior = Posterior(problem, self.target == "corpus")

        def iterates(start: FloatArray, rng: np.random.Generator, restart: int) -> Iterator[FloatArray]:
            prior = Prior.of(problem, start)
            weights = prior.weights
            if restart > 0:
                weights = weights + rng.standard_normal(problem.size)
            stages = [(self.temperature / 2**stage, 1.0) for stage in range(self.stages - 1)] + [(0.0, 1.0)]
            stages += [(0.0, 2.0**stage) for stage in range(1, self.quenching + 1)]
            for temperature, sharpness in stages:

                def risk(
                    weights: FloatArray, temperature: float = temperature, sharpness: float = sharpness
                ) -> tuple[float, FloatArray]:
                    value, gradient = posterior.objective(sharpness * weights, temperature)
                    penalty = self.l2 / 2 * dot(weights, weights) + self.prior * prior.penalty(weights)
                    slope = self.l2 * weights + self.prior * prior.residual(weights)
                    return penalty - value, slope - sharpness * gradient

                weights = problem.minimum(risk, weights, self.iterations)
                yield weights

        return iterates
