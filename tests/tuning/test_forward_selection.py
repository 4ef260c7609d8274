"""Forward selection of feature families against the obvious loop over cross-validations."""

import numpy as np
import pytest

from rerank_adapters.features.processes import Processes
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuning.cross_validation import cross_validate
from rerank_adapters.tuning.families import Trials
from rerank_adapters.tuning.problem import prepare
from rerank_adapters.tuning.selection import forward_selection
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.feature_table import FeatureTable
from tests.tuners import naive_tuners as naive

METRIC = naive.ErrorRate()
TUNER = Mira(passes=2)


@pytest.fixture(scope="module")
def data():
    """Five features, of which f3 is minus the errors, with noise, and f1 much noisier minus the errors."""
    rng = np.random.default_rng(0)
    table, statistics = naive.random_data(rng, METRIC, segments=30, longest=10, features=5)
    values = table.values.copy()
    values[:, 3] = -statistics[:, 0] + rng.normal(size=len(values))
    values[:, 1] = -statistics[:, 0] + 4 * rng.normal(size=len(values))
    return prepare(FeatureTable.dense(table.names, values, table.offsets), statistics, METRIC)


def trials_of(data, **options):
    families = {"rest": ["f0", "f4"], "noisy": ["f1"], "chance": ["f2"], "good": ["f3"]}
    options = {"folds": 3, "seeds": (1,), **options}
    return Trials(data, families, TUNER, np.ones(5), **options)


def test_is_the_loop_over_cross_validations(data):
    trials = trials_of(data)
    used, expected = [], []
    while len(used) < 4:
        scores = {}
        for family in trials.families:
            if family in used:
                continue
            names = {name for chosen in (*used, family) for name in trials.families[chosen]}
            fixed = [name for name in data.table.names if name not in names]
            start = np.array([float(name in names) for name in data.table.names])
            reduced = prepare(data.table, data.statistics, METRIC, fixed=fixed)
            scores[family] = cross_validate(reduced, {"mira": TUNER}, start, 3, [1]).rows[0].mean
        used.append(min(scores, key=scores.__getitem__))
        expected.append((used[-1], scores[used[-1]]))
    sets = forward_selection(trials)
    base, *scores = map(trials.score, trials.choices(sets))
    assert sets == [used[:number] for number in range(5)]
    assert list(zip(used, scores, strict=True)) == expected
    assert expected[0][0] == "good"
    first = data.statistics[data.table.offsets[:-1]]
    assert base == METRIC.score(first.sum(axis=0))


def test_base_patience_and_jobs(data):
    trials, alone = trials_of(data, processes=Processes(3)), trials_of(data)
    sets, whole = forward_selection(trials, ["good"], patience=1), forward_selection(alone, ["good"])
    scores = list(map(trials.score, trials.choices(sets)))
    assert len(sets) == min(scores.index(min(scores)) + 2, 4)
    assert sets == whole[: len(sets)]
    assert scores == list(map(alone.score, alone.choices(sets)))


def test_seeds_are_summed_and_counted(data):
    counted = []
    trials = trials_of(data, seeds=(1, 2), progress=counted.append)
    (both,) = trials.choices([["good"]])
    parts = [trials_of(data, seeds=(seed,)).choices([["good"]])[0] for seed in (1, 2)]
    assert (both == parts[0] + parts[1]).all()
    trials.choices([["good"], ["good"]])
    assert sum(counted) == 6  # nothing is tried twice


def test_unknown_features_are_refused(data):
    with pytest.raises(ConfigError, match="family a: no feature named 'f9'"):
        Trials(data, {"a": ["f9"]}, TUNER, np.ones(5), 3, (1,))
