"""A grid of 21 × 21 points over 5,000 lists of ten, against a loop over the points."""

import numpy as np
import pytest

from rerank_adapters.tuners.grid import Axis, grid_scores
from rerank_adapters.tuning.problem import prepare
from rerank_plugins.core.feature_table import FeatureTable
from tests.bench.timing import seconds
from tests.tuners import naive_tuners as naive

LISTS, SIZE, FEATURES, STEPS = 5000, 10, 4, 21


@pytest.mark.slow
def test_all_points_against_a_loop_over_points(benchmark):
    """The loop scores the lists at each point from the start; a few points stand for all."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(LISTS * SIZE, FEATURES))
    errors = rng.poisson(np.exp(0.5 - 0.3 * values[:, 0]))
    statistics = np.stack([errors, np.full(len(errors), 12)], axis=1).astype(float)
    table = FeatureTable.dense([f"f{i}" for i in range(FEATURES)], values, np.arange(LISTS + 1) * SIZE)
    data = prepare(table, statistics, naive.ErrorRate())
    axes = [Axis.read(f"f0=0:2:{STEPS}"), Axis.read(f"f1=-2:2:{STEPS}")]
    weights = np.ones(FEATURES)
    scores = grid_scores(data, weights, axes)
    assert scores.shape == (STEPS, STEPS)
    benchmark.pedantic(grid_scores, (data, weights, axes), rounds=3)

    points = [(0, 0), (10, 5), (20, 20)]
    expected = {}

    def loop():
        for i, j in points:
            moved = weights.copy()
            moved[:2] = axes[0].values[i], axes[1].values[j]
            expected[i, j] = naive.corpus_score(table, statistics, data.metric, moved)

    slow = seconds(loop) * STEPS * STEPS / len(points)
    assert [scores[point] for point in points] == [expected[point] for point in points]
    fast = seconds(lambda: grid_scores(data, weights, axes), 3)
    benchmark.extra_info["times as fast as a loop over points"] = round(slow / fast)
    benchmark.extra_info["seconds"] = round(fast, 2)
    assert slow / fast > 10
