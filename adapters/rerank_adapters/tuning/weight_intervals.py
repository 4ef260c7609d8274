"""Measures how much tuned weights depend on the segments they were tuned on, by a bootstrap over segments."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

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


def usual_samples(tuner: Tuner) -> int:
    """The number of resampled tuning sets where nobody names one: none for a tuner that cannot be quick."""
    return SAMPLES if tuner.quick() else 0


def resampled_weights(
    problem: TuningData,
    tuner: Tuner,
    start: FloatArray,
    samples: int,
    seed: int,
    *,
    processes: Processes = HERE,
    progress: Callable[[int], None] = lambda tuned: None,
) -> FloatArray:
    """(samples, features): the weights tuned on each of so many tuning sets, drawn from the problem with replacement.

    A tuning set has as many segments as the problem. The result does not depend on the number of processes; `progress`
    is called with 1 for each set that was tuned.
    """
    drawn = np.empty((samples, len(start)))
    for number, weights in processes.shared_results(partial(_resampled, problem, tuner, start, seed), range(samples)):
        drawn[number] = weights
        progress(1)
    return drawn


def _resampled(problem: TuningData, tuner: Tuner, start: FloatArray, seed: int, number: int) -> tuple[int, FloatArray]:
    rng, segments = np.random.default_rng([seed, number]), problem.table.segments
    sample = take_segments(problem, rng.integers(0, segments, segments))
    return number, checked_tuning(tuner, sample, start, rng).weights


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


def tuned_weights(table: FeatureTable, weights: FloatArray, drawn: FloatArray) -> tuple[TunedWeight, ...]:
    """The weights of the dense features of the table, with what `drawn` (samples, features) tells of each, if any."""
    parts, of_samples = standardised(table, weights), standardised(table, drawn)
    rows = []
    for column, name in enumerate(table.names):
        interval = same_sign = None
        if len(drawn):
            interval = percentile_interval(of_samples[:, column])
            same_sign = float(np.mean(np.sign(of_samples[:, column]) == np.sign(parts[column])))
        rows.append(TunedWeight(name, float(weights[column]), float(parts[column]), interval, same_sign))
    return tuple(rows)


def as_json(weights: tuple[TunedWeight, ...], samples: int) -> str:
    """The weights as JSON, with the number of resampled tuning sets."""
    rows = [[row.feature, row.weight, row.part, row.interval] for row in weights]
    return json.dumps({"samples": samples, "rows": rows}, ensure_ascii=False, indent=1) + "\n"


def from_json(text: str) -> tuple[tuple[TunedWeight, ...], int]:
    """The weights and the number of samples in a text that `as_json` has made."""
    record = json.loads(text)
    rows = (TunedWeight(name, weight, part, ends and Interval(*ends)) for name, weight, part, ends in record["rows"])
    return tuple(rows), record["samples"]
