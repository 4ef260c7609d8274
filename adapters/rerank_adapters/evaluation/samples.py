"""The statistics of systems by a metric with their resamples: scores, intervals, and one system against another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rerank_adapters.evaluation.groups import Group
from rerank_adapters.evaluation.result import Comparison
from rerank_adapters.evaluation.significance import (
    Interval,
    bootstrap_p_value,
    bootstrap_totals,
    percentile_interval,
    randomisation_p_value,
    swapped_totals,
)
from rerank_plugins import ConfigError, FloatArray, Metric
from rerank_plugins.core.contracts import checked_statistics

MAX_TIE = 1e-9  # sentence scores that differ by no more are equal


@dataclass(frozen=True)
class Resampling:
    """How the two tests of significance resample.

    `bootstrap`      the number of resamples of the paired bootstrap; 0 leaves the test out
    `randomisation`  the number of trials of approximate randomisation; 0 leaves the test out
    `seed`           the seed of both
    `groups`         whether whole groups of segments are resampled, whose segments may depend on each other
    """

    bootstrap: int = 1000
    randomisation: int = 10000
    seed: int = 1
    groups: bool = False


def system_statistics(
    systems: Sequence[Sequence[str]], references: Sequence[Sequence[str]], metric: Metric
) -> FloatArray:
    """(systems, segments, S): the metric's statistics of each output; an output of several systems is counted once."""
    distinct = [list(dict.fromkeys(outputs)) for outputs in zip(*systems, strict=True)]
    counted = checked_statistics(metric, distinct, references)
    first = np.cumsum([0, *(len(texts) for texts in distinct)])[:-1].tolist()
    place = [{text: start + i for i, text in enumerate(texts)} for start, texts in zip(first, distinct, strict=True)]
    rows = [[where[text] for where, text in zip(place, outputs, strict=True)] for outputs in systems]
    return counted[np.array(rows, np.int64)]


class Samples:
    """The statistics of all systems by one metric (systems, segments, S), and of their resamples.

    `resampled` (systems, resamples, S) are the totals of each bootstrap resample; `swapped` has, for each system that
    others are compared with, what each trial swaps between it and any system (systems, trials, S).
    """

    def __init__(
        self, metric: Metric, statistics: FloatArray, resampled: FloatArray, swapped: Mapping[int, FloatArray]
    ) -> None:
        self.metric, self.statistics, self.swapped = metric, statistics, swapped
        self.totals = statistics.sum(1)
        self.scores = metric.score(self.totals)
        self.resampled_scores = metric.score(resampled)
        self.sentences = [metric.sentence_scores(array) for array in statistics]

    def of_segments(self, segments: Sequence[int]) -> FloatArray:
        """(systems): the corpus scores on some of the segments."""
        return self.metric.score(self.statistics[:, list(segments)].sum(1))

    def interval(self, system: int) -> Interval | None:
        """The interval of a system's score; None without a bootstrap."""
        return _interval(self.resampled_scores[system])

    def comparison(self, system: int, other: int) -> Comparison:
        """A system compared with another."""
        sign = 1.0 if self.metric.higher_is_better else -1.0
        observed = float(self.scores[system] - self.scores[other])
        differences = self.resampled_scores[system] - self.resampled_scores[other]
        gains = sign * (self.sentences[system] - self.sentences[other])
        wins, losses = int((gains > MAX_TIE).sum()), int((gains < -MAX_TIE).sum())
        swapped, score = self.swapped[other][system], self.metric.score
        trials = score(self.totals[other] + swapped) - score(self.totals[system] - swapped) if len(swapped) else swapped
        return Comparison(
            difference=observed,
            interval=_interval(differences),
            bootstrap_p=bootstrap_p_value(differences, observed) if len(differences) else None,
            randomisation_p=randomisation_p_value(trials, observed) if len(trials) else None,
            better=float(np.mean(sign * differences > 0)) if len(differences) else None,
            wins=wins,
            losses=losses,
            ties=len(gains) - wins - losses,
        )


def _interval(scores: FloatArray) -> Interval | None:
    return percentile_interval(scores) if len(scores) else None


def resample(
    statistics: Sequence[FloatArray],
    metrics: Sequence[Metric],
    groups: Sequence[Group],
    others: Collection[int],
    resampling: Resampling,
) -> Iterator[Samples]:
    """For each metric its statistics (systems, segments, S) with their resamples, which are the same for all metrics.

    `others` are the systems that any system is compared with.
    """
    stacked = np.concatenate(statistics, axis=2)  # (systems, segments, statistics of all metrics)
    if resampling.groups:
        if not groups:
            raise ConfigError("whole groups are to be resampled, but the segments have no groups")
        stacked = np.stack([stacked[:, list(group.segments)].sum(axis=1) for group in groups], axis=1)
    resampled = _drawn(bootstrap_totals, stacked, resampling.bootstrap, resampling.seed)
    swapped = {
        other: _drawn(swapped_totals, stacked - stacked[other], resampling.randomisation, resampling.seed)
        for other in others
    }
    columns = np.cumsum([0, *(array.shape[2] for array in statistics)]).tolist()
    for metric, own, (start, end) in zip(metrics, statistics, pairwise(columns), strict=True):
        moved = {other: totals[:, :, start:end] for other, totals in swapped.items()}
        yield Samples(metric, own, resampled[:, :, start:end], moved)


def _drawn(
    draw: Callable[[FloatArray, int, np.random.Generator], FloatArray], stacked: FloatArray, samples: int, seed: int
) -> FloatArray:
    """(systems, samples, K): the totals that `draw` makes of statistics (systems, segments, K)."""
    systems, segments, width = stacked.shape
    flat = stacked.transpose(1, 0, 2).reshape(segments, systems * width)
    totals = draw(flat, samples, np.random.default_rng(seed))
    return totals.reshape(samples, systems, width).transpose(1, 0, 2)
