"""MERT: envelopes and line search against brute force and a dense grid; the provably best weight of a pair."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_adapters.tuners.line_search import Line, metric_on_line, upper_envelopes
from rerank_adapters.tuners.mert import REACH, Mert, _reach
from rerank_adapters.tuners.problem import Problem
from rerank_adapters.tuning.problem import prepare, run_tuner
from rerank_plugins.core.feature_table import FeatureTable
from tests.tuners import naive_tuners as naive

METRICS = [naive.ErrorRate(), naive.FScore()]
LINES = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=9)


@settings(deadline=None, max_examples=100)
@given(LINES, st.floats(0.1, 5.0))
def test_envelope_on_a_grid_of_integers_equals_brute_force(lines, high):
    scores, slopes = np.array(lines, float).T
    first, at, before, after = upper_envelopes(scores, slopes, np.array([0, len(lines)]), -2.7, high)
    wanted = naive.changes_of_one_best(scores, slopes, -2.7, high)
    assert first[0] == wanted[0][1]
    assert [int(row) for row in after] == [row for _, row in wanted[1:]]
    assert [int(row) for row in before] == [row for _, row in wanted[:-1]]
    np.testing.assert_allclose(at, [t for t, _ in wanted[1:]], atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_envelopes_of_many_random_lists_equal_brute_force(seed):
    rng = np.random.default_rng(seed)
    table, _ = naive.random_data(rng, METRICS[0], segments=20, longest=60, features=2)
    scores, slopes = table.values.T.copy()
    first, at, before, after = upper_envelopes(scores, slopes, table.offsets, -4.0, 4.0)
    changes = iter(zip(at, before, after, strict=True))
    for s, (begin, end) in enumerate(itertools.pairwise(table.offsets)):
        wanted = naive.changes_of_one_best(scores[begin:end], slopes[begin:end], -4.0, 4.0)
        assert first[s] - begin == wanted[0][1]
        for (_, previous), (t, row) in itertools.pairwise(wanted):
            found = next(changes)
            assert (found[1] - begin, found[2] - begin) == (previous, row)
            assert found[0] == pytest.approx(t, abs=1e-10)
    assert next(changes, None) is None


def test_envelope_survives_values_far_apart():
    scores = np.array([1e9, 1e9, -1e9, 1e9 - 1e-3])
    slopes = np.array([-1e-6, 1e-6, 1e6, 0.0])
    first, at, _, after = upper_envelopes(scores, slopes, np.array([0, 4]), -1e4, 1e4)
    assert first[0] == 0
    assert after.tolist() == [1, 2]
    np.testing.assert_allclose(at, [0.0, 2e3], atol=1e-3)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.signature())
@pytest.mark.parametrize("grid", [None, 2])
def test_line_search_equals_a_dense_grid(metric, grid):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        table, statistics = naive.random_data(rng, metric, features=2, grid=grid)
        scores, slopes = table.values.T.copy()
        line = metric_on_line(scores, slopes, table.offsets, statistics, metric, -3.0, 3.0)
        for t in np.linspace(-2.9987, 2.9991, 600):
            here = np.searchsorted(line.edges, t, side="right") - 1
            if np.abs(line.edges - t).min() > 1e-9:
                wanted = naive.metric_on_line(scores, slopes, table.offsets, statistics, metric, t)
                assert line.scores[here] == pytest.approx(wanted)
        sign = 1 if metric.higher_is_better else -1
        t, reached = line.best(sign)
        assert reached == pytest.approx(naive.metric_on_line(scores, slopes, table.offsets, statistics, metric, t))
        assert sign * reached == pytest.approx((sign * line.scores).max())


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.signature())
def test_line_search_equals_the_one_in_plain_python(metric):
    for seed in range(5):
        table, statistics = naive.random_data(np.random.default_rng(seed), metric, segments=30, features=2)
        scores, slopes = table.values.T.copy()
        line = metric_on_line(scores, slopes, table.offsets, statistics, metric, -2.0, 2.0)
        wanted = naive.line_search_in_python(scores, slopes, table.offsets, statistics, metric, -2.0, 2.0)
        kept = [wanted[0], *(b for a, b in itertools.pairwise(wanted) if a[1] != b[1])]
        np.testing.assert_allclose(line.scores, [score for _, score in kept])
        np.testing.assert_allclose(line.edges[:-1], [t for t, _ in kept], atol=1e-12)


def test_lines_that_meet_at_the_low_end_but_for_rounding():
    """The steeper of two lines is on top from there on, whichever of them rounding puts higher at `low`."""
    rng, low = np.random.default_rng(0), -2.7
    for _ in range(200):
        slopes = rng.permutation(rng.normal(size=2))
        scores = rng.normal() - low * slopes
        first, at, _, after = upper_envelopes(
            np.array([0.0, *scores]), np.array([0.0, *slopes]), np.array([0, 1, 3]), low, 4.0
        )
        steeper = 1 + int(np.argmax(slopes))
        assert first[0] == 0
        assert [first[1], *after][-1] == steeper
        np.testing.assert_allclose(at, low, atol=1e-12)


@pytest.mark.parametrize("fixed", [[], ["f0"]], ids=["free", "fixed"])
def test_a_line_ends_at_a_bound_or_at_a_multiple_of_the_weights_length(fixed):
    rng = np.random.default_rng(2)
    table, statistics = naive.random_data(rng, naive.ErrorRate(), features=4)
    data = prepare(table, statistics, naive.ErrorRate(), fixed=fixed)
    problem = Problem.of(data, np.array([2.0, 1, 1, 1]))
    weights, direction = rng.normal(size=problem.size), rng.normal(size=problem.size)
    direction[1] = 0.0
    length = np.sqrt(weights @ weights + np.var(problem.base))
    low, high = _reach(problem, weights, direction)
    assert (-low, high) == pytest.approx((REACH * length, REACH * length))
    if not fixed:
        assert _reach(problem, np.zeros(problem.size), direction) == (-REACH, REACH)
    bounded = dataclasses.replace(problem, lower=weights - 0.3, upper=weights + 0.2)
    low, high = _reach(bounded, weights, direction)
    for end in (low, high):  # there one weight is at its bound, and none beyond
        room = np.minimum(weights + end * direction - bounded.lower, bounded.upper - weights - end * direction)
        assert room.min() == pytest.approx(0, abs=1e-12)
    assert low < 0 < high


def test_the_widest_of_the_best_intervals_wins():
    line = Line(np.array([0.0, 1.0, 2.0, 4.0, 5.0]), np.array([7.0, 3.0, 7.0, 1.0]))
    assert line.best(1.0) == (3.0, 7.0)
    assert line.best(-1.0) == (4.5, 1.0)


def test_changes_at_nearly_the_same_place_count_as_one():
    """Two lists change at 1 and 1 + 1e-12; between the two lies the best score, and no weight should aim there."""
    scores, slopes = np.array([1.0, 0.0, 1.0 + 1e-12, 0.0]), np.array([0.0, 1.0, 0.0, 1.0])
    statistics = np.array([[5.0, 10.0], [0.0, 10.0], [0.0, 10.0], [6.0, 10.0]])
    line = metric_on_line(scores, slopes, np.array([0, 2, 4]), statistics, naive.ErrorRate(), -2.0, 4.0)
    np.testing.assert_allclose(line.edges, [-2.0, 1.0, 4.0])
    np.testing.assert_allclose(line.scores, [25.0, 30.0])
    assert line.best(-1.0) == pytest.approx((-0.5, 25.0))


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.signature())
def test_of_one_pair_of_features_it_finds_the_provably_best_weights(metric):
    """With two features the choices change only at angles where two hypotheses of a list tie: try all between."""
    for seed in range(8):
        table, statistics = naive.random_data(np.random.default_rng(seed), metric, segments=6, features=2)
        angles = {0.0}
        for begin, end in itertools.pairwise(table.offsets):
            for i, j in itertools.combinations(range(begin, end), 2):
                x, y = table.values[i] - table.values[j]
                angles |= {np.arctan2(-x, y) % (2 * np.pi), np.arctan2(x, -y) % (2 * np.pi)}
        edges = sorted(angles)
        middles = [(a + b) / 2 for a, b in itertools.pairwise([*edges, edges[0] + 2 * np.pi])]
        sign = 1 if metric.higher_is_better else -1
        best = max(
            sign * naive.corpus_score(table, statistics, metric, np.array([np.cos(a), np.sin(a)])) for a in middles
        )
        result = run_tuner(prepare(table, statistics, metric), Mert(restarts=30), np.ones(2), seed)
        assert sign * result.score == pytest.approx(best)


@pytest.mark.slow
def test_one_line_search_finds_the_best_free_weight_next_to_a_fixed_one():
    metric = naive.FScore()
    for seed in range(8):
        table, statistics = naive.random_data(np.random.default_rng(seed), metric, features=2)
        data = prepare(table, statistics, metric, fixed=["f0"], lower={"f1": -2.0}, upper={"f1": 2.0})
        result = run_tuner(data, Mert(restarts=1), np.array([1.0, 0.3]), 0)
        grid = [naive.corpus_score(table, statistics, metric, np.array([1.0, w])) for w in np.linspace(-2, 2, 4001)]
        assert result.weights[0] == 1.0
        assert -2 <= result.weights[1] <= 2
        assert result.score >= max(grid) - 1e-9


def test_more_is_found_with_every_restart_and_rounds_never_lose():
    metric = naive.ErrorRate()
    table, statistics = naive.random_data(np.random.default_rng(3), metric, segments=40, longest=20, features=6)
    data = prepare(table, statistics, metric)
    one, many = (run_tuner(data, Mert(restarts=n), np.ones(6), 1) for n in (1, 10))
    assert many.score <= one.score
    for restart in range(10):
        scores = [step.score for step in many.trace if step.restart == restart]
        assert scores == sorted(scores, reverse=True)


def test_random_directions_leave_valleys_that_coordinates_cannot():
    """Only f0 + f1 together tell the good from the bad: each alone makes things worse."""
    metric = naive.ErrorRate()
    rng = np.random.default_rng(5)
    table, statistics = naive.random_data(rng, metric, segments=60, longest=30, features=8)
    data = prepare(table, statistics, metric)
    plain = run_tuner(data, Mert(restarts=3), np.ones(8), 0)
    more = run_tuner(data, Mert(restarts=3, directions=16), np.ones(8), 0)
    assert more.score <= plain.score


def test_sparse_features_stay_at_their_start_and_the_result_says_so():
    metric = naive.ErrorRate()
    table, statistics = naive.random_data(np.random.default_rng(0), metric, segments=20, sparse=6)
    start = np.concatenate([np.ones(3), np.linspace(-1, 1, len(table.sparse.names))])
    result = run_tuner(prepare(table, statistics, metric), Mert(restarts=3), start, 0)
    assert any("sparse" in note for note in result.notes)
    np.testing.assert_array_equal(result.weights[3:], start[3:])
    zero = np.concatenate([np.ones(3), np.zeros(len(table.sparse.names))])
    dense_only = FeatureTable.dense(table.names, table.values, table.offsets)
    alone = run_tuner(prepare(dense_only, statistics, metric), Mert(restarts=3), np.ones(3), 0)
    both = run_tuner(prepare(table, statistics, metric), Mert(restarts=3), zero, 0)
    np.testing.assert_allclose(both.weights[:3], alone.weights)
