"""What tuned weights choose on segments that they were not tuned on: each fold by weights tuned on the others.

The folds are those of `cross_validate` with the same seed; here the choices themselves are wanted, not their score.
"""

from __future__ import annotations

import numpy as np

from rerank_adapters.tuning.choosing import chosen_rows
from rerank_adapters.tuning.data import take_segments
from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.errors import ConfigError
from rerank_plugins.interfaces import Tuner, TuningData


def held_out_choices(data: TuningData, tuner: Tuner, start: FloatArray, folds: int, seed: int) -> LongArray:
    """(segments): the position in its list of what is chosen for each segment.

    Raises ConfigError for fewer than two folds or more folds than segments.
    """
    segments = data.table.segments
    if not 2 <= folds <= segments:
        raise ConfigError(f"{folds} folds of {segments} segments; wanted at least 2, at most one per segment")
    shuffled = np.random.default_rng(seed).permutation(segments)
    choices = np.empty(segments, np.int64)
    for fold in range(folds):
        aside = np.sort(shuffled[fold::folds])
        rest = np.setdiff1d(shuffled, aside)
        result = tuner.tune(take_segments(data, rest), start, np.random.default_rng([seed, fold]))
        held_out = take_segments(data, aside)
        choices[aside] = chosen_rows(held_out, result) - held_out.table.offsets[:-1]
    return choices
