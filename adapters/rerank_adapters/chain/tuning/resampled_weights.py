"""Measures how much tuned weights depend on the segments they were tuned on, by a bootstrap over segments."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from rerank_adapters.chain.tuning.data import take_segments
from rerank_adapters.tuners.one_best import centred
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.feature_table import FeatureTable
from rerank_plugins.core.metrics_and_tuners import Tuner, TuningData


def resampled_weights(
    data: TuningData,
    tuner: Tuner,
    start: FloatArray,
    samples: int,
    seed: int,
    *,
    threads: int = 1,
    progress: Callable[[int], None] = lambda tuned: None,
) -> FloatArray:
    """(samples, features): the weights tuned on each of so many tuning sets, drawn from `data` with replacement.

    A tuning set has as many segments as `data`. The result does not depend on `threads`; `progress` is called with 1
    for each set that was tuned.
    """
    segments = data.table.segments

    def tuned(number: int) -> FloatArray:
        rng = np.random.default_rng([seed, number])
        weights = tuner.tune(take_segments(data, rng.integers(0, segments, segments)), start, rng).weights
        progress(1)
        return weights

    with ThreadPoolExecutor(threads) as pool:  # the kernels of the tuners release the interpreter's lock
        return np.array(list(pool.map(tuned, range(samples)))).reshape(samples, len(start))


def standardised(table: FeatureTable, weights: FloatArray) -> FloatArray:
    """(…, dense features): weights (…, features) times the deviation of their features within lists, as parts of the
    deviation of the whole score: how far one deviation of the feature moves the score, in deviations of the score.
    """
    deviations = np.array([np.std(centred(column, table.offsets)) for column in table.values.T])
    flat = weights.reshape(-1, weights.shape[-1])
    whole = np.array([np.std(centred(table.scores(row), table.offsets)) for row in flat])
    shares = flat[:, : len(table.names)] * deviations / np.where(whole > 0, whole, 1.0)[:, None]
    result: FloatArray = shares.reshape(*weights.shape[:-1], len(table.names))
    return result
