"""Minimum expected risk (Smith & Eisner 2006): finds the weights whose posteriors have the best expected metric.

The posterior of a list is the softmax of its weighted sums. The expected statistics, summed over lists, are put into
the corpus metric (their section 4, here for any metric; see posterior.py), or the expected sentence score is taken
(`target = "sentence"`). In deterministic annealing, the temperature T times the entropy of the posteriors is added to
the objective, and T falls from `temperature` to 0. In the quenching that follows, the posterior is sharpened by 2, 4,
... so that it approaches the choice of the 1-bests. An L2 term limits the weights. Each stage starts from the weights
of the stage before it.

The objective to be maximised, per list and with gains in units of their standard deviation within lists, is

    expected gain + T * entropy - l2 / 2 * |weights|^2 - prior / 2 * (distance from the prior)^2

One evaluation takes O(rows * features), one stage some tens of evaluations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rerank_adapters.tuners.iterative import IterativeTuner, Search
from rerank_adapters.tuners.lbfgs import minimise
from rerank_adapters.tuners.posterior import Posterior
from rerank_adapters.tuners.prior import Prior
from rerank_adapters.tuners.problem import Problem
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import option


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
                    penalty = self.l2 / 2 * float(weights @ weights) + self.prior * prior.penalty(weights)
                    slope = self.l2 * weights + self.prior * prior.residual(weights)
                    return penalty - value, slope - sharpness * gradient

                weights = minimise(risk, weights, problem.lower, problem.upper, iterations=self.iterations)
                yield weights

        return iterates
