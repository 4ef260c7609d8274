"""Pairwise ranking optimisation (Hopkins & May 2011): learn which of two hypotheses of a list is the better one.

Each round samples pairs of hypotheses (pairs.py), fits a logistic regression to the differences of their features
(which of the two has the better sentence score), and moves the weights part of the way from the previous ones to the
fitted ones. The lists do not grow between rounds, which differ in their samples alone: the interpolation averages over
rounds. The first round's weights are taken whole, for a part of the start, which no pair has spoken for, costs BLEU
here. Against the collapse of length that PRO is known for (Nakov, Guzmán & Vogel 2013), pairs whose scores differ too
much, where one is a monster rather than a translation, are kept out.

A round is O(segments * pairs) plus some twenty passes of O(kept pairs * features).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rerank_adapters.tuners.gains import spread
from rerank_adapters.tuners.iterative import IterativeTuner, Search
from rerank_adapters.tuners.lbfgs import minimise
from rerank_adapters.tuners.pairs import Pairs, PairSampler
from rerank_adapters.tuners.problem import Problem
from rerank_plugins.arrays import FloatArray
from rerank_plugins.interfaces import option


@dataclass
class Pro(IterativeTuner):
    """Pairwise ranking optimisation (Hopkins & May 2011), guarded against monsters (Nakov et al. 2013)."""

    rounds: int = option(10, doc="how many times to sample and fit")
    pairs: int = option(5000, doc="pairs drawn per list (Γ)")
    kept: int = option(50, doc="pairs kept per list (Ξ)")
    threshold: float = option(1.0, doc="least difference of a pair's sentence scores, in standard deviations (α)")
    ceiling: float = option(5.0, doc="greatest difference, likewise; pairs that differ more hold a monster")
    keep: Literal["top", "random"] = option(
        "top", doc="which of the pairs between the two to keep: most different, or any"
    )
    interpolation: float = option(0.5, doc="part of the way to go from the previous weights to the fitted ones (Ψ)")
    l2: float = option(1e-3, doc="weight of the squared length of the weights, per pair")

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        if not 0 < self.interpolation <= 1:
            raise ValueError(f"interpolation is {self.interpolation}; wanted a number above 0, at most 1")
        if self.ceiling <= self.threshold:
            raise ValueError(f"ceiling {self.ceiling} is not above threshold {self.threshold}: no pair would be left")
        if min(self.rounds, self.pairs, self.kept) < 1:
            raise ValueError("rounds, pairs and kept must be 1 or more")

    def search(self, problem: Problem) -> Search:
        """Rounds of sampling and fitting; restarts differ in their samples."""
        goodness = problem.sign * problem.metric.sentence_scores(problem.statistics)
        goodness /= spread(goodness, problem.offsets)
        sampler = PairSampler(goodness, problem.offsets, self.pairs, self.kept, self.threshold, self.ceiling, self.keep)

        def iterates(start: FloatArray, rng: np.random.Generator, _restart: int) -> Iterator[FloatArray]:
            weights = start / max(_length(start), 1e-300) if problem.normalised else start
            for round_ in range(1, self.rounds + 1):
                fitted = self._fit(problem, sampler.sample(rng), weights)
                part = self.interpolation if round_ > 1 else 1.0
                weights = (1 - part) * weights + part * fitted
                yield weights

        return iterates

    def _fit(self, problem: Problem, pairs: Pairs, start: FloatArray) -> FloatArray:
        """Logistic regression: p(better beats worse) = 1 / (1 + exp(-(difference of their scores)))."""
        if not len(pairs.better):
            return start
        used, index = np.unique(np.concatenate(pairs), return_inverse=True)
        features, base = problem.features.rows(used), problem.base[used]
        better, worse = index[: len(pairs.better)], index[len(pairs.better) :]

        def loss(weights: FloatArray) -> tuple[float, FloatArray]:
            scores = base + features.dot(weights)
            margins = scores[better] - scores[worse]
            doubts = np.exp(-np.logaddexp(0.0, margins)) / len(margins)  # p(worse beats better), per pair
            pull = np.bincount(worse, doubts, len(used)) - np.bincount(better, doubts, len(used))
            value = float(np.logaddexp(0.0, -margins).mean() + self.l2 / 2 * weights @ weights)
            return value, features.pull(pull.astype(np.float64)) + self.l2 * weights

        return minimise(loss, start, problem.lower, problem.upper)


def _length(weights: FloatArray) -> float:
    """Length of a weight vector."""
    return float(np.linalg.norm(weights))
