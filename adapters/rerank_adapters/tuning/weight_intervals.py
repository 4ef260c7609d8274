"""Measures how much tuned weights depend on the segments they were tuned on, by a bootstrap over segments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rerank_adapters.evaluation.significance import Interval, percentile_interval
from rerank_adapters.features.processes import HERE, Processes
from rerank_adapters.tuners.within_lists import centred
from rerank_adapters.tuning.problem import take_segments
from rerank_plugins import FeatureTable, FloatArray, Tuner, TuningData
from rerank_plugins.core.contracts import checked_tuning

SAMPLES = 50  # of a tuner that can be quick, where nobody names a number


@dataclass(frozen=True)
class TunedWeight:
    """The weight of a dense feature, and its `part`: the weight times the deviation of the feature within lists,
    divided by the deviation of the whole score.

    `interval` (95 %), that of the part over resampled tuning sets, and `same_sign`, the proportion of these sets that
    give the weight the same sign, are None without resamples.
    """

    feature: str
    weight: float
    part: float
    interval: Interval | None = None
    same_sign: float | None = None


@dataclass(frozen=True)
class WeightIntervals:
    """The weights of the dense features, with intervals over so many resampled tuning sets."""

    rows: tuple[TunedWeight, ...] = ()
    samples: int = 0


def usual_samples(tuner: Tuner) -> int:
    """The number of resampled tuning sets where nobody names one: none for a tuner that cannot be quick."""
    return SAMPLES if tuner.quick() else 0


def weight_intervals(table: FeatureTable, weights: FloatArray, drawn: FloatArray) -> WeightIntervals:
    """The tuned `weights` (features of the table), with intervals over those of resampled sets, `drawn` (samples,
    features), if any.
    """
    parts, of_samples = standardised(table, weights), standardised(table, drawn)
    rows = []
    for column, name in enumerate(table.names):
        interval = same_sign = None
        if len(drawn):
            interval = percentile_interval(of_samples[:, column])
            same_sign = float(np.mean(np.sign(of_samples[:, column]) == np.sign(parts[column])))
        rows.append(TunedWeight(name, float(weights[column]), float(parts[column]), interval, same_sign))
    return WeightIntervals(tuple(rows), len(drawn))


def resampled_weights(
    problem: TuningData,
    tuner: Tuner,
    start: FloatArray,
    samples: int,
    seed: int,
    processes: Processes = HERE,
    progress: Callable[[int], None] = lambda tuned: None,
) -> FloatArray:
    """(samples, features): the weights tuned on each of so many tuning sets, drawn from the problem with replacement.

    A tuning set has as many segments as the problem. The result does not depend on the number of processes; `progress`
    is called with 1 for each set that was tuned.
    """

    def tuned(number: int) -> FloatArray:
        rng, segments = np.random.default_rng([seed, number]), problem.table.segments
        sample = take_segments(problem, rng.integers(0, segments, segments))
        return checked_tuning(tuner, sample, start, rng).weights

    drawn = processes.shared_results(tuned, range(samples), lambda number: progress(1))
    return np.array(drawn).reshape(samples, len(start))


def standardised(table: FeatureTable, weights: FloatArray) -> FloatArray:
    """(…, dense features): weights (…, features) times the deviation of their features within lists, as parts of the
    deviation of the whole score: how far one deviation of the feature moves the score, in deviations of the score.
    """
    deviations = np.array([np.std(centred(column, table.offsets)) for column in table.values.T])
    flat = weights.reshape(-1, weights.shape[-1])
    whole = np.array([np.std(centred(table.scores(row), table.offsets)) for row in flat])
    parts = flat[:, : len(table.names)] * deviations / np.where(whole > 0, whole, 1.0)[:, None]
    result: FloatArray = parts.reshape(*weights.shape[:-1], len(table.names))
    return result
