"""Measures how much tuned weights depend on the segments they were tuned on, by a bootstrap over segments."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

from rerank_adapters.chain.tune import start_weights, tuning_data
from rerank_adapters.chain.tuning import take_segments
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.evaluation.significance import Interval, percentile_interval
from rerank_adapters.job.job import Job
from rerank_adapters.report.facts import TunedWeight
from rerank_adapters.runtime.progress import CountingBar
from rerank_adapters.runtime.workers import shared_out
from rerank_adapters.tuners.within_lists import centred
from rerank_adapters.weights import Weights
from rerank_plugins import FeatureTable, FloatArray, Tuner, TuningData

SAMPLES = 50  # of a tuner that can be quick, where the config names no number


def resampled_weights(
    data: TuningData,
    tuner: Tuner,
    start: FloatArray,
    samples: int,
    seed: int,
    *,
    jobs: int = 1,
    progress: Callable[[int], None] = lambda tuned: None,
) -> FloatArray:
    """(samples, features): the weights tuned on each of so many tuning sets, drawn from `data` with replacement.

    A tuning set has as many segments as `data`. The result does not depend on `jobs`, the number of processes;
    `progress` is called with 1 for each set that was tuned.
    """
    segments = data.table.segments

    def tuned(number: int) -> FloatArray:
        rng = np.random.default_rng([seed, number])
        return tuner.tune(take_segments(data, rng.integers(0, segments, segments)), start, rng).weights

    drawn = np.empty((samples, len(start)))
    for number, weights in enumerate(shared_out(tuned, range(samples), jobs, "the tuner")):
        drawn[number] = weights
        progress(1)
    return drawn


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


def samples_of(job: Job) -> int:
    """The number of resampled tuning sets: that of the config, or SAMPLES for a tuner that can be quick, else 0."""
    wanted = job.config.evaluation.weight_samples
    return (SAMPLES if job.tuner.quick() else 0) if wanted is None else wanted


def weights_with_intervals(job: Job, data: Dataset, table: FeatureTable, weights: Weights) -> tuple[TunedWeight, ...]:
    """The tuned weight of each dense feature and its part in the score, with intervals over resampled sets, if any.

    `table` has the features of the weights. The resampled sets are tuned by the job's own tuner, quick where it can be:
    bags would resample what is resampled already.
    """
    vector = np.asarray(weights.vector_for(table))
    samples = samples_of(job)
    drawn = np.empty((0, len(vector)))
    if samples:
        problem, start = tuning_data(job, data, table), start_weights(job, data, table)
        tuner = job.tuner.quick() or job.tuner
        with CountingBar("tunings on resampled lists", samples) as bar:
            drawn = resampled_weights(
                problem, tuner, start, samples, job.config.seed, jobs=job.config.jobs, progress=bar.add
            )
    return tuned_weights(table, vector, drawn)


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
