"""The weighted mean of several metrics, so that a tuner improves them together and not one at the cost of the others.

The statistics of a hypothesis are those of all metrics side by side, so that sums of them give each metric its corpus
score. A metric whose lower scores are better counts with a minus, and a higher mean is always better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rerank_adapters.metrics.sacrebleu_conventions import join_signature
from rerank_plugins import FloatArray, Metric, PickledFields, __version__, check_texts, option


@dataclass
class MeanMetric(PickledFields, Metric):
    """The weighted mean of several metrics; those whose lower scores are better count with a minus."""

    metrics: tuple[Metric, ...] = option(doc="the metrics, by name, as in [bleu, chrf]")
    weights: tuple[float, ...] = option((), doc="their weights, which need not sum to 1; default: equal ones")

    def __post_init__(self) -> None:
        """Raise ValueError for no metrics, another number of weights than of metrics, and weights that are not > 0."""
        if not self.metrics:
            raise ValueError("there is no metric to take the mean of; wanted one or more")
        if len(self.weights) not in (0, len(self.metrics)):
            raise ValueError(f"{len(self.weights)} weights for {len(self.metrics)} metrics; wanted one for each")
        if any(weight <= 0 for weight in self.weights):
            raise ValueError(f"weights are {list(self.weights)}; wanted numbers above 0")

    def with_sources(self, sources: Sequence[str | None]) -> Metric:
        """The mean of the metrics for segments with these sources."""
        return replace(self, metrics=tuple(metric.with_sources(sources) for metric in self.metrics))

    @cached_property
    def shares(self) -> FloatArray:
        """The share of each metric in the mean, negative where its lower scores are better."""
        weights = np.array(self.weights or (1.0,) * len(self.metrics))
        signs = np.array([1.0 if metric.higher_is_better else -1.0 for metric in self.metrics])
        shares: FloatArray = signs * weights / weights.sum()
        return shares

    @cached_property
    def _widths(self) -> list[int]:
        """The number of statistics of each metric, as an empty array of them shows."""
        return [metric.statistics([], []).shape[1] for metric in self.metrics]

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, S): the statistics of the metrics in their order. Raises as the metrics do."""
        check_texts(hypotheses, references)
        return np.hstack([metric.statistics(hypotheses, references) for metric in self.metrics])

    def score(self, totals: FloatArray) -> FloatArray:
        """The mean of the corpus scores: (…, S) -> (…)."""
        return self._mean(lambda metric, sums: metric.score(sums), np.asarray(totals, np.float64))

    def sentence_scores(self, statistics: FloatArray) -> FloatArray:
        """(n): the means of the sentence scores."""
        return self._mean(lambda metric, rows: metric.sentence_scores(rows), np.asarray(statistics, np.float64))

    def pair_scores(self, statistics: FloatArray) -> FloatArray:
        """(n): the means of the scores of pairs."""
        return self._mean(lambda metric, rows: metric.pair_scores(rows), np.asarray(statistics, np.float64))

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): the means of the metrics' scores of pairs."""
        scores = [metric.pairwise(hypotheses) for metric in self.metrics]
        return np.asarray(np.tensordot(self.shares, np.stack(scores), axes=1))

    def signature(self) -> str:
        """The metrics' signatures with their shares."""
        signatures = [metric.signature().replace("|", ",") for metric in self.metrics]
        names = [type(metric).__name__ for metric in self.metrics]
        parts = [f"{share:.3g}*{n}({s})" for share, n, s in zip(self.shares, names, signatures, strict=True)]
        return join_signature(__version__, mean="+".join(parts).replace("+-", "-"))

    def _mean(self, score: Callable[[Metric, FloatArray], FloatArray], statistics: FloatArray) -> FloatArray:
        blocks = np.split(statistics, np.cumsum(self._widths)[:-1], axis=-1)
        scores = [score(metric, block) for metric, block in zip(self.metrics, blocks, strict=True)]
        return np.asarray(sum(share * values for share, values in zip(self.shares, scores, strict=True)))
