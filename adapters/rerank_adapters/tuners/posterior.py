"""The posterior of the hypotheses of each list under given weights, with its expected metric and its gradient.

For each list let p = softmax(scores), H the entropy of p and E the expectation under p. With gains g, the derivative
with respect to a score is

    d (E[g] + T H) / d score_i  =  p_i (g_i - E[g])  -  T p_i (ln p_i + H)

(Smith & Eisner 2006, section 3); the derivatives with respect to the weights follow by the chain rule.
"""

from __future__ import annotations

import numpy as np

from rerank_adapters.tuners.gains import gains_of, metric_slope, spread
from rerank_adapters.tuners.one_best import one_best
from rerank_adapters.tuners.problem import Problem
from rerank_plugins.core.arrays import FloatArray

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
            return value - temperature * float(p @ log_p) / segments, gradient
        return float(expected.mean()), gradient
