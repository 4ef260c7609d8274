"""Cross-validates tuners on the tuning set alone, beside baselines that need no tuning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rerank_adapters.chain.families import selecting
from rerank_adapters.chain.job import Data, Job
from rerank_adapters.chain.provenance import check_same_lists
from rerank_adapters.chain.tune import baseline_weights, start_weights, tuning_data
from rerank_adapters.chain.tuning import CrossValidation, cross_validate
from rerank_plugins import FeatureTable, Tuner


def compare_tuners(
    job: Job,
    tuners: Mapping[str, Tuner],
    data: Data,
    table: FeatureTable,
    folds: int,
    seeds: Sequence[int],
    progress: Callable[[str, int, int], None] = lambda name, seed, fold: None,
) -> CrossValidation:
    """The held-out scores of the tuners and of the baselines (see `baseline_weights`).

    `progress` is called with the tuner's name, the seed and the fold before each run. Raises ConfigError where lists
    and table do not belong together, and for fewer than two folds or more folds than segments.
    """
    check_same_lists(data.nbests, table)
    problem = tuning_data(job, data, table)
    start = start_weights(job, data, table)
    tuners = {name: selecting(job, tuner, table) for name, tuner in tuners.items()}
    return cross_validate(
        problem, tuners, start, folds, seeds, baselines=baseline_weights(job, data, table), progress=progress
    )
