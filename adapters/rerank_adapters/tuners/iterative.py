"""What all tuners that move weights step by step share: restarts, a held-out part that decides, averaging, the record.

An algorithm supplies `search(problem)`: it prepares once and returns a function that yields the weights after each
iteration of one restart. Everything else is here: the first restart starts at the given weights, restarts run in
threads (kernels release the interpreter lock) with a random generator each, so that the result does not depend on
timing; the iterate that scores best on the deciding lists wins: the held-out ones, or the whole tuning set.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import ClassVar

import numpy as np

from rerank_adapters.tuners.one_best import one_best
from rerank_adapters.tuners.problem import Problem
from rerank_plugins.arrays import FloatArray
from rerank_plugins.interfaces import Tuner, TuningData, TuningResult, TuningStep, option

# (start, rng, restart number) -> the weights after each iteration, all standardised
Search = Callable[[FloatArray, np.random.Generator, int], Iterator[FloatArray]]
Report = Callable[[TuningStep], None]


@dataclass
class IterativeTuner(Tuner):
    """A tuner that improves weights step by step."""

    restarts: int = option(1, doc="how many times to search; all but the first from other starts or random choices")
    average_restarts: bool = option(False, doc="average the weights of the restarts instead of taking the best")
    heldout: float = option(0.0, doc="part of the lists kept aside to decide among iterates (0: the whole set decides)")

    tunes_sparse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the options."""
        if self.restarts < 1:
            raise ValueError(f"restarts is {self.restarts}; wanted 1 or more")
        if not 0 <= self.heldout < 1:
            raise ValueError(f"heldout is {self.heldout}; wanted a part from 0 to below 1")

    @abstractmethod
    def search(self, problem: Problem) -> Search:
        """The search over a problem, its preparation done."""

    def tune(
        self,
        data: TuningData,
        start: FloatArray,
        rng: np.random.Generator,
        report: Report = lambda step: None,
    ) -> TuningResult:
        """Weights from `start`; deterministic given the generator."""
        data, notes = self._constrained(data)
        problem = Problem.of(data, start)
        if problem.size == 0:
            notes.append("no free feature differs within any list: nothing to tune")
            weights = problem.unfolded(np.zeros(0))
            return TuningResult(weights, _score(data, weights), notes=tuple(notes))
        training, judge = self._split(problem, rng)
        trail = Trail(training, judge, report)
        begin = problem.standardised(start)
        for restart, iterates in enumerate(self._runs(training, begin, rng)):
            trail.follow(restart, chain([begin], iterates) if restart == 0 else iterates)
        chosen = trail.average() if self.average_restarts else trail.best()
        if judge is not training:
            score = judge.corpus_score(chosen)
            notes.append(f"{judge.segments} held-out lists decided; these weights score {score:.4f} on them")
        ends = np.array([problem.unfolded(weights) for weights in trail.ends])
        weights = problem.unfolded(chosen)
        return TuningResult(
            weights,
            _score(data, weights),
            trace=tuple(trail.steps),
            restarts=ends,
            restart_scores=tuple(_score(data, end) for end in ends),
            notes=tuple(notes),
        )

    def _constrained(self, data: TuningData) -> tuple[TuningData, list[str]]:
        dense, sparse = len(data.table.names), len(data.table.sparse.names)
        if self.tunes_sparse or not sparse or data.fixed[dense:].all():
            return data, []
        fixed = data.fixed.copy()
        fixed[dense:] = True
        return replace(data, fixed=fixed), [f"{sparse} sparse features left at their start weights"]

    def _split(self, problem: Problem, rng: np.random.Generator) -> tuple[Problem, Problem]:
        aside = round(self.heldout * problem.segments)
        if aside == 0 or aside == problem.segments:
            return problem, problem
        shuffled = rng.permutation(problem.segments)
        return problem.take(np.sort(shuffled[aside:])), problem.take(np.sort(shuffled[:aside]))

    def _runs(self, problem: Problem, start: FloatArray, rng: np.random.Generator) -> Iterator[Iterable[FloatArray]]:
        """The iterates of each restart, in order; those of a single restart as they come."""
        search = self.search(problem)
        rngs = rng.spawn(self.restarts)
        if self.restarts == 1:
            yield search(start, rngs[0], 0)
            return
        workers = min(os.cpu_count() or 1, self.restarts)
        pool = ThreadPoolExecutor(workers)
        try:
            yield from pool.map(lambda restart: list(search(start, rngs[restart], restart)), range(self.restarts))
        finally:
            pool.shutdown(cancel_futures=True)


def _score(data: TuningData, weights: FloatArray) -> float:
    """The metric of the 1-bests by raw weights."""
    chosen = one_best(data.table.scores(weights), data.table.offsets)
    return float(data.metric.score(data.statistics[chosen].sum(axis=0)))


@dataclass(eq=False)
class Trail:
    """The weights that a tuner passed through, with their scores."""

    training: Problem
    judge: Problem
    report: Report
    steps: list[TuningStep] = field(default_factory=list)
    ends: list[FloatArray] = field(default_factory=list)
    end_scores: list[float] = field(default_factory=list)

    def follow(self, restart: int, iterates: Iterable[FloatArray]) -> None:
        """Record a restart; it ends with its iterate that scores best where it counts, the earliest among equals.

        The first restart has the start as its iterate 0, so that the best is never below it.
        """
        best: tuple[float, FloatArray] | None = None
        for iteration, weights in enumerate(iterates, 0 if restart == 0 else 1):
            score = self.training.corpus_score(weights)
            step = TuningStep(restart, iteration, score)
            self.steps.append(step)
            self.report(step)
            judged = score if self.judge is self.training else self.judge.corpus_score(weights)
            if best is None or self.judge.sign * judged > self.judge.sign * best[0]:
                best = judged, weights.copy()
        if best is not None:
            self.end_scores.append(best[0])
            self.ends.append(best[1])

    def best(self) -> FloatArray:
        """The best end of a restart; the earliest among equals."""
        return self.ends[int(np.argmax(self.judge.sign * np.array(self.end_scores)))]

    def average(self) -> FloatArray:
        """The mean of the restarts' ends, each of length 1 first, where lengths are free."""
        ends = np.array(self.ends)
        if self.training.normalised:
            ends = ends / np.maximum(np.linalg.norm(ends, axis=1, keepdims=True), 1e-300)
        mean: FloatArray = ends.mean(axis=0)
        return mean
