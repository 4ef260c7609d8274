"""Pairwise ranking optimisation (Hopkins & May 2011): learns which of two hypotheses of a list is the better one.

Each round samples pairs of hypotheses and fits a logistic regression that predicts from the differences of their
features which of the two has the better sentence score.

Sampling follows Hopkins & May (2011), Figure 4: Γ pairs are drawn from each list, and of those whose sentence scores
differ by at least α, the Ξ most different ones are kept. Nakov, Guzmán & Vogel (2013) find that the most different
pairs often contain a monster, an absurdly long and absurdly bad hypothesis, which makes the weights prefer short
output. Of their remedies, this module has a ceiling on the difference.

After each round, the weights move part of the way from those of the round before to the fitted ones. The lists do not
grow between rounds, which differ only in their samples, so this interpolation averages over rounds. The first round's
weights are taken as fitted, because keeping a part of the start weights, which no pair supports, costs BLEU. `prior`
keeps them where the pairs do not speak against them.

A round takes O(segments * pairs) plus some twenty passes of O(kept pairs * features).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rerank_adapters.tuners.iterative import IterativeTuner, Search
from rerank_adapters.tuners.problem import Prior, Problem
from rerank_adapters.tuners.within_lists import dot, spread
from rerank_plugins import FloatArray, option
from rerank_plugins.core.arrays import LongArray

DRAWN_AT_ONCE = 50_000  # keeps the arrays in the processor's cache


class Pairs(NamedTuple):
    """(pairs) the rows of the better hypothesis of each pair, and those of the worse one."""

    better: LongArray
    worse: LongArray


@dataclass(frozen=True, eq=False)
class PairSampler:
    """Draws `drawn` pairs per list and keeps up to `kept` of those that differ by `threshold` to `ceiling`.

    `goodness` (rows) are sentence scores, higher is better; the thresholds are in their unit. The most different pairs
    are kept. A list of one hypothesis has no pairs.
    """

    goodness: FloatArray
    offsets: LongArray
    drawn: int
    kept: int
    threshold: float
    ceiling: float

    def sample(self, rng: np.random.Generator) -> Pairs:
        """Draw pairs from all lists; they are ordered by list. O(lists * drawn)."""
        step = max(DRAWN_AT_ONCE // self.drawn, 1)
        parts = [self._sample(begin, begin + step, rng) for begin in range(0, len(self.offsets) - 1, step)]
        return Pairs(np.concatenate([p.better for p in parts]), np.concatenate([p.worse for p in parts]))

    def _sample(self, begin: int, end: int, rng: np.random.Generator) -> Pairs:
        """The pairs of lists `begin` to `end`."""
        offsets = self.offsets[begin : end + 1]
        lengths, starts = np.diff(offsets)[:, None], offsets[:-1, None]
        uniform = rng.random((2, len(lengths), self.drawn), dtype=np.float32)
        one, other = starts + (uniform * lengths).astype(np.int64)  # products of 64 bits, which are below the length
        difference = np.abs(self.goodness[one] - self.goodness[other])
        fits = (difference >= self.threshold) & (difference <= self.ceiling) & (difference > 0)
        # The draws are in random order, so the first among equals are a random choice.
        rank = np.where(fits, difference, -np.inf)
        least = np.partition(rank, -min(self.kept, self.drawn), axis=1)[:, -min(self.kept, self.drawn), None]
        above, equal = rank > least, (rank == least) & fits
        fits = above | (equal & (equal.cumsum(axis=1) <= self.kept - above.sum(axis=1, keepdims=True)))
        one, other = one[fits], other[fits]
        swap = self.goodness[one] < self.goodness[other]
        return Pairs(np.where(swap, other, one), np.where(swap, one, other))


@dataclass
class Pro(IterativeTuner):
    """Pairwise ranking optimisation (Hopkins & May 2011), guarded against monsters (Nakov et al. 2013)."""

    rounds: int = option(10, doc="number of rounds of sampling and fitting")
    pairs: int = option(5000, doc="pairs drawn per list (Γ)")
    kept: int = option(50, doc="pairs kept per list (Ξ)")
    threshold: float = option(1.0, doc="smallest difference of a pair's sentence scores, in standard deviations (α)")
    ceiling: float = option(5.0, doc="largest difference, in the same unit; pairs that differ more contain a monster")
    interpolation: float = option(0.5, doc="part of the fitted weights in the new ones; the rest are the previous (Ψ)")
    l2: float = option(1e-3, doc="weight of the squared length of the weight vector, per pair")

    def __post_init__(self) -> None:
        """Check the options. Raises ValueError for a value out of range."""
        super().__post_init__()
        if not 0 < self.interpolation <= 1:
            raise ValueError(f"interpolation is {self.interpolation}; wanted a number above 0, at most 1")
        if self.ceiling <= self.threshold:
            raise ValueError(f"ceiling {self.ceiling} is not above threshold {self.threshold}: no pair would be left")
        if min(self.rounds, self.pairs, self.kept) < 1:
            raise ValueError("rounds, pairs and kept must be 1 or more")

    def search(self, problem: Problem) -> Search:
        """A search by rounds of sampling and fitting; restarts differ in their samples."""
        goodness = problem.sign * problem.metric.sentence_scores(problem.statistics)
        goodness /= spread(goodness, problem.offsets)
        sampler = PairSampler(goodness, problem.offsets, self.pairs, self.kept, self.threshold, self.ceiling)

        def iterates(start: FloatArray, rng: np.random.Generator, _restart: int) -> Iterator[FloatArray]:
            prior = Prior.of(problem, start)
            weights = prior.weights
            for round_ in range(1, self.rounds + 1):
                fitted = self._fit(problem, sampler.sample(rng), weights, prior)
                part = self.interpolation if round_ > 1 else 1.0
                weights = (1 - part) * weights + part * fitted
                yield weights

        return iterates

    def _fit(self, problem: Problem, pairs: Pairs, start: FloatArray, prior: Prior) -> FloatArray:
        """Fit the logistic regression p(better beats worse) = 1 / (1 + exp(-(score of better - score of worse))).

        The objective is the mean of -ln p over the pairs + l2 / 2 |weights|² + prior / 2 (distance from the prior)².
        """
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
            value = float(np.logaddexp(0.0, -margins).mean() + self.l2 / 2 * dot(weights, weights))
            value += self.prior * prior.penalty(weights)
            slope = features.pull(pull.astype(np.float64)) + self.l2 * weights + self.prior * prior.residual(weights)
            return value, slope

        return problem.minimum(loss, start)
