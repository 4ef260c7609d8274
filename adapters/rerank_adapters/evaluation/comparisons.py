"""One system compared with another by a metric, on resamples that all systems and metrics share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rerank_adapters.evaluation.groups import by_name
from rerank_adapters.evaluation.significance import (
    MAX_TIE,
    Interval,
    bootstrap_p_value,
    bootstrap_totals,
    percentile_interval,
    randomisation_p_value,
    swapped_totals,
)
from rerank_plugins import ConfigError, FloatArray, Metric

LEVELS = ((0.01, "**"), (0.05, "*"))


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


@dataclass(frozen=True)
class Comparison:
    """A system compared with the baseline by one metric.

    `difference`       the score minus the baseline's score, whichever direction is better
    `interval`         the 95 % interval of the difference; None without a bootstrap, as are `bootstrap_p` and `better`
    `better`           the proportion of the resamples in which the system beats the baseline (Koehn 2004)
    `randomisation_p`  None without trials
    `wins`, `losses`, `ties`  numbers of segments with a better, worse and equal sentence score
    """

    difference: float
    interval: Interval | None
    bootstrap_p: float | None
    randomisation_p: float | None
    better: float | None
    wins: int
    losses: int
    ties: int

    def below(self, level: float) -> bool:
        """Whether every test that was run gives a p-value below `level` (False if none was)."""
        p_values = [p for p in (self.bootstrap_p, self.randomisation_p) if p is not None]
        return bool(p_values) and max(p_values) < level

    @property
    def excludes_zero(self) -> bool:
        """Whether zero lies outside the 95 % interval of the difference; True where there is no interval."""
        return self.interval is None or self.interval.excludes_zero

    @property
    def stars(self) -> str:
        """`**` or `*` where the interval excludes zero and every test that was run is below .01 or .05, else empty."""
        return next((stars for level, stars in LEVELS if self.excludes_zero and self.below(level)), "")


class Gain(NamedTuple):
    """By how much one system is better than another: above 0 is better, for error rates too.

    `interval` is the 95 % interval of the paired bootstrap, `p` the p-value of approximate randomisation; None where
    there are no resamples or no trials.
    """

    value: float
    interval: Interval | None
    p: float | None


class Samples:
    """The statistics of systems by one metric (systems, segments, S), with their resamples.

    `resampled` (systems, resamples, S) are the totals of each bootstrap resample; `swapped` has, for pairs of systems,
    what each trial swaps between them (trials, S).
    """

    def __init__(
        self,
        metric: Metric,
        statistics: FloatArray,
        resampled: FloatArray,
        swapped: Mapping[tuple[int, int], FloatArray],
    ) -> None:
        self.metric, self.statistics, self.swapped = metric, statistics, swapped
        self.sign = 1.0 if metric.higher_is_better else -1.0
        self.totals = statistics.sum(1)
        self.scores = metric.score(self.totals)
        self.resampled_scores = metric.score(resampled)

    @cached_property
    def sentences(self) -> list[FloatArray]:
        """The sentence scores (segments) of each system."""
        return [self.metric.sentence_scores(array) for array in self.statistics]

    def of_segments(self, segments: Sequence[int]) -> FloatArray:
        """(systems): the corpus scores on some of the segments."""
        return self.metric.score(self.statistics[:, list(segments)].sum(1))

    def interval(self, system: int) -> Interval | None:
        """The interval of a system's score; None without a bootstrap."""
        return _interval(self.resampled_scores[system])

    def comparison(self, system: int, other: int) -> Comparison:
        """A system compared with another; both are one of the pairs."""
        observed = float(self.scores[system] - self.scores[other])
        differences = self.resampled_scores[system] - self.resampled_scores[other]
        gains = self.sign * (self.sentences[system] - self.sentences[other])
        wins, losses = int((gains > MAX_TIE).sum()), int((gains < -MAX_TIE).sum())
        return Comparison(
            difference=observed,
            interval=_interval(differences),
            bootstrap_p=bootstrap_p_value(differences, observed) if len(differences) else None,
            randomisation_p=self._randomisation_p(system, other),
            better=float(np.mean(self.sign * differences > 0)) if len(differences) else None,
            wins=wins,
            losses=losses,
            ties=len(gains) - wins - losses,
        )

    def gain(self, system: int, other: int) -> Gain:
        """The gain of a system over another; both are one of the pairs."""
        differences = self.sign * (self.resampled_scores[system] - self.resampled_scores[other])
        observed = self.sign * float(self.scores[system] - self.scores[other])
        return Gain(observed, _interval(differences), self._randomisation_p(system, other))

    def _randomisation_p(self, system: int, other: int) -> float | None:
        moved, score = self.swapped[system, other], self.metric.score
        if not len(moved):
            return None
        trials = score(self.totals[other] + moved) - score(self.totals[system] - moved)
        return randomisation_p_value(trials, float(self.scores[system] - self.scores[other]))


def _interval(scores: FloatArray) -> Interval | None:
    return percentile_interval(scores) if len(scores) else None


def resample(
    statistics: Sequence[FloatArray],
    metrics: Sequence[Metric],
    pairs: Collection[tuple[int, int]],
    resampling: Resampling,
    groups: Sequence[str] | None = None,
) -> Iterator[Samples]:
    """For each metric its statistics (systems, segments, S) with their resamples, which are the same for all metrics.

    `pairs` are the systems that are compared with each other, `groups` (segments) the names of the segments' groups.
    Raises ConfigError for resampled groups without groups.
    """
    stacked = np.concatenate(statistics, axis=2)  # (systems, segments, statistics of all metrics)
    if resampling.groups:
        if not groups:
            raise ConfigError("whole groups are to be resampled, but the segments have no groups")
        members = [list(group.segments) for group in by_name(groups)]
        stacked = np.stack([stacked[:, segments].sum(axis=1) for segments in members], axis=1)
    first, second = np.array(list(pairs), np.int64).reshape(-1, 2).T
    resampled = _drawn(bootstrap_totals, stacked, resampling.bootstrap, resampling.seed)
    swapped = _drawn(swapped_totals, stacked[first] - stacked[second], resampling.randomisation, resampling.seed)
    columns = np.cumsum([0, *(array.shape[2] for array in statistics)]).tolist()
    for metric, own, (start, end) in zip(metrics, statistics, pairwise(columns), strict=True):
        moved = dict(zip(pairs, swapped[:, :, start:end], strict=True))
        yield Samples(metric, own, resampled[:, :, start:end], moved)


def _drawn(
    draw: Callable[[FloatArray, int, np.random.Generator], FloatArray], stacked: FloatArray, samples: int, seed: int
) -> FloatArray:
    """(items, samples, K): the totals that `draw` makes of statistics (items, segments, K)."""
    items, segments, width = stacked.shape
    flat = stacked.transpose(1, 0, 2).reshape(segments, items * width)
    totals = draw(flat, samples, np.random.default_rng(seed))
    return totals.reshape(samples, items, width).transpose(1, 0, 2)


def paired_gains(
    choices: Sequence[FloatArray],
    pairs: Sequence[tuple[int, int]],
    metric: Metric,
    resampling: Resampling = Resampling(),
    groups: Sequence[str] | None = None,
) -> list[Gain]:
    """The gain of each pair (first, second), which are numbers of `choices`.

    A choice is given by the statistics (segments, S) of the hypothesis that is chosen in each segment. With `groups`
    (segments), whole groups are resampled.
    """
    if not pairs:
        return []
    units = replace(resampling, groups=groups is not None)
    (samples,) = resample([np.stack(choices)], [metric], pairs, units, groups)
    return [samples.gain(first, second) for first, second in pairs]
