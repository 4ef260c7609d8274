"""k-fold splits of a tuning set: each fold is chosen on by weights that were tuned on the other folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from rerank_adapters.chain.tuning.choices import chosen_rows
from rerank_adapters.chain.tuning.data import take_segments
from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.metrics_and_tuners import Tuner, TuningData, TuningResult


class Fold(NamedTuple):
    """A fold that was held out.

    `segments`  its segments, ascending, as numbers in the whole set
    `data`      the tuning data of these segments
    `result`    what the tuner found on all other segments
    `rows`      (segments) the row of `data` that the result chooses in each list
    """

    segments: LongArray
    data: TuningData
    result: TuningResult
    rows: LongArray


def check_folds(folds: int, segments: int) -> None:
    """Raise ConfigError for fewer than two folds, and for more folds than segments."""
    if not 2 <= folds <= segments:
        raise ConfigError(f"{folds} folds of {segments} segments; wanted at least 2, at most one per segment")


def tuned_folds(
    data: TuningData,
    tuner: Tuner,
    start: FloatArray,
    folds: int,
    seed: int,
    progress: Callable[[int], None] = lambda fold: None,
) -> Iterator[Fold]:
    """Tune on all folds but one, for each fold in turn; `progress` is called with the fold's number before each run.

    The folds depend on `seed` and the number of segments alone. Raises ConfigError as `check_folds` does.
    """
    check_folds(folds, data.table.segments)
    shuffled = np.random.default_rng(seed).permutation(data.table.segments)
    for fold in range(folds):
        progress(fold)
        aside = np.sort(shuffled[fold::folds])
        rest = np.setdiff1d(shuffled, aside)
        result = tuner.tune(take_segments(data, rest), start, np.random.default_rng([seed, fold]))
        held_out = take_segments(data, aside)
        yield Fold(aside, held_out, result, chosen_rows(held_out, result))


def held_out_choices(data: TuningData, tuner: Tuner, start: FloatArray, folds: int, seed: int) -> LongArray:
    """(segments): the position in its list of the hypothesis that is chosen for each segment while it is held out.

    The folds are those of `cross_validate` with the same seed. Raises ConfigError as `check_folds` does.
    """
    choices = np.empty(data.table.segments, np.int64)
    for fold in tuned_folds(data, tuner, start, folds, seed):
        choices[fold.segments] = fold.rows - fold.data.table.offsets[:-1]
    return choices
