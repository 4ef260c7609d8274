"""What holds for every tuner: contract, constraints, invariances, and that what it reports is so."""

import dataclasses
import itertools

import numpy as np
import pytest

from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.metrics.edit_rate import WER
from rerank_adapters.tuners.expected_risk import ExpectedRisk
from rerank_adapters.tuners.iterative import IterativeTuner
from rerank_adapters.tuners.mbr import Mbr
from rerank_adapters.tuners.mert import Mert
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuners.pro import Pro
from rerank_adapters.tuning.problem import prepare, run_tuner
from rerank_plugins.core.feature_table import FeatureTable, SparseBlock
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.testing import check_tuner
from tests.tuners import naive_tuners as naive

SMALL = {
    "mert": Mert(restarts=5),
    "mira": Mira(passes=15),
    "pro": Pro(rounds=4, pairs=300, interpolation=0.5),
    "expected-risk": ExpectedRisk(iterations=20),
    "sentence-risk": ExpectedRisk(target="sentence", stages=3),
}
SPARSE = [name for name in SMALL if name != "mert"]
METRICS = [naive.ErrorRate(), naive.FScore()]
both_metrics = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.signature())
every_tuner = pytest.mark.parametrize("name", SMALL)


def telling(rng, metric, segments=40, size=20, noise=1.0):
    """Lists where `good` says how good a hypothesis is, under noise; `noise` says nothing, `constant` is one per list."""
    offsets = np.arange(segments + 1) * size
    rows = segments * size
    errors = rng.integers(0, 8, rows).astype(float)
    values = np.stack(
        [-errors + noise * rng.normal(size=rows), rng.normal(size=rows), np.repeat(rng.normal(size=segments), size)],
        axis=1,
    )
    wanted = np.full(rows, 8.0)
    columns = [errors, wanted] if metric.width == 2 else [8 - errors, wanted, wanted]
    return FeatureTable.dense(("good", "noise", "constant"), values, offsets), np.stack(columns, axis=1)


def with_sparse(table, rng, statistics):
    """The same with sparse features: `bad` is there exactly when a hypothesis is bad, `odd` at random."""
    errors = statistics[:, 0]
    mappings = [{**({"bad": 1.0} if e >= 4 else {}), **({"odd": 1.0} if rng.random() < 0.3 else {})} for e in errors]
    return dataclasses.replace(table, sparse=SparseBlock.from_mappings(mappings))


def test_all_are_registered_with_a_description():
    registry = load_plugins(("rerank_adapters.tuners",), installed=False)
    entries = registry.entries["tuner"]
    assert set(entries) == {"mert", "pro", "mira", "expected-risk", "mbr", "grid"}
    for name, entry in entries.items():
        assert name == "grid" or "20" in entry.summary  # names its paper's year
        assert all(option.doc for option in entry.options())


@pytest.mark.parametrize("metric", [Bleu(tokenize="none"), WER()], ids=["bleu", "wer"])
@pytest.mark.parametrize("tuner", [*SMALL.values(), Mbr()], ids=[*SMALL, "mbr"])
def test_contract(tuner, metric):
    check_tuner(tuner, metric)


@every_tuner
@both_metrics
def test_what_it_reports_is_so(name, metric):
    table, statistics = naive.random_data(np.random.default_rng(1), metric, segments=20, features=4)
    steps = []
    result = run_tuner(prepare(table, statistics, metric), SMALL[name], np.ones(4), 3, report=steps.append)
    assert result.decision == "map"
    assert tuple(steps) == result.trace
    assert result.score == pytest.approx(naive.corpus_score(table, statistics, metric, result.weights))
    assert np.abs(result.weights).sum() == pytest.approx(1.0)
    assert len(result.restarts) == len(result.restart_scores) == SMALL[name].restarts
    for weights, score in zip(result.restarts, result.restart_scores, strict=True):
        assert score == pytest.approx(naive.corpus_score(table, statistics, metric, weights))
    sign = 1 if metric.higher_is_better else -1
    assert sign * result.score == pytest.approx(max(sign * np.array(result.restart_scores)))
    assert sign * result.score == pytest.approx(max(sign * step.score for step in result.trace))


@every_tuner
@both_metrics
def test_finds_what_tells_good_from_bad_and_does_not_need_the_start(name, metric):
    table, statistics = telling(np.random.default_rng(0), metric, segments=150)
    data = prepare(table, statistics, metric)
    alone = naive.corpus_score(table, statistics, metric, np.array([1.0, 0.0, 0.0]))
    for start in ([1.0, 1.0, 1.0], [-1.0, 1.0, 0.0]):
        result = run_tuner(data, SMALL[name], np.array(start), 0)
        good, noise, constant = result.weights
        assert constant == 0
        assert good > 2.5 * abs(noise)  # of deviations 2.5 and 1: six times as loud
        worse = (alone - result.score) * (1 if metric.higher_is_better else -1)
        assert worse <= 0.5


@every_tuner
def test_scaling_the_start_changes_nothing(name):
    metric = naive.ErrorRate()
    table, statistics = naive.random_data(np.random.default_rng(2), metric, segments=20)
    data = prepare(table, statistics, metric)
    start = np.array([0.3, -0.2, 0.9])
    one, other = (run_tuner(data, SMALL[name], c * start, 5) for c in (1.0, 128.0))
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-9)


@every_tuner
def test_scaling_and_shifting_a_feature_scales_its_weight_back(name):
    """Features are standardised inside; adding a constant to a list's values cannot change a choice."""
    metric = naive.FScore()
    rng = np.random.default_rng(4)
    table, statistics = naive.random_data(rng, metric, segments=20, longest=12)
    scales = np.array([1.0, 1024.0, 1 / 64])
    shifts = np.repeat(rng.integers(-3, 4, (table.segments, 3)), np.diff(table.offsets), axis=0)
    moved = dataclasses.replace(table, values=table.values * scales + shifts)
    start = np.ones(3)
    one = run_tuner(prepare(table, statistics, metric), SMALL[name], start, 0)
    other = run_tuner(prepare(moved, statistics, metric), SMALL[name], start / scales, 0)
    back = other.weights * scales
    np.testing.assert_allclose(one.weights, back / np.abs(back).sum(), rtol=1e-4, atol=1e-6)


@every_tuner
def test_fixed_weights_stay_and_bounds_hold(name):
    metric = naive.ErrorRate()
    for seed in range(3):
        rng = np.random.default_rng(seed)
        table, statistics = naive.random_data(rng, metric, segments=20, longest=12, features=5)
        data = prepare(
            table, statistics, metric, fixed=["f1"], lower={"f0": 0.0, "f2": 0.2}, upper={"f2": 0.4, "f3": -0.1}
        )
        start = np.array([0.5, -0.75, 0.3, -0.5, 0.1])
        result = run_tuner(data, SMALL[name], start, seed)
        assert result.weights[1] == -0.75
        assert (result.weights >= data.lower).all()
        assert (result.weights <= data.upper).all()
        assert result.score <= naive.corpus_score(table, statistics, metric, start) + 1e-9


@every_tuner
def test_bounds_that_are_signs_leave_the_length_free(name):
    metric = naive.ErrorRate()
    table, statistics = naive.random_data(np.random.default_rng(1), metric, segments=20)
    result = run_tuner(prepare(table, statistics, metric, lower={"f0": 0.0}), SMALL[name], np.ones(3), 0)
    assert np.abs(result.weights).sum() == pytest.approx(1.0)
    assert result.weights[0] >= 0


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_features_are_tuned(name):
    metric = naive.ErrorRate()
    rng = np.random.default_rng(0)
    table, statistics = telling(rng, metric, noise=6.0)
    both = with_sparse(table, rng, statistics)
    dense = run_tuner(prepare(table, statistics, metric), SMALL[name], np.ones(3), 0)
    start = np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    result = run_tuner(prepare(both, statistics, metric), SMALL[name], start, 0)
    bad, odd = result.weights[3:]
    assert both.sparse.names == ("bad", "odd")
    assert bad < -abs(odd)
    assert result.score < 0.8 * dense.score
    kept = run_tuner(prepare(both, statistics, metric, fixed=["bad"]), SMALL[name], start, 0)
    assert kept.weights[3] == 0


@every_tuner
def test_averaging_restarts(name):
    metric = naive.ErrorRate()
    table, statistics = telling(np.random.default_rng(6), metric)
    tuner = dataclasses.replace(SMALL[name], restarts=4, average_restarts=True)
    result = run_tuner(prepare(table, statistics, metric), tuner, np.ones(3), 0)
    spread = np.array([np.sqrt(np.mean((c - c.reshape(40, 20).mean(1).repeat(20)) ** 2)) for c in table.values.T])
    ends = result.restarts * spread
    mean = (ends / np.linalg.norm(ends, axis=1, keepdims=True)).mean(axis=0)[:2] / spread[:2]
    np.testing.assert_allclose(result.weights[:2], mean / np.abs(mean).sum(), rtol=1e-6)


@every_tuner
def test_lists_of_one_and_of_equals_are_no_trouble(name):
    metric = naive.ErrorRate()
    table = FeatureTable.dense(("a", "b"), np.array([[1.0, 2], [3, 4], [3, 4], [0, 1], [1, 0]]), np.array([0, 1, 3, 5]))
    statistics = np.array([[1.0, 5], [0, 5], [2, 5], [3, 5], [1, 5]])
    result = run_tuner(prepare(table, statistics, metric), SMALL[name], np.array([1.0, 0.9]), 0)
    assert result.score == pytest.approx(100 * 2 / 15)  # of the equal ones the first, and then the better one


@every_tuner
def test_nothing_to_tune_is_said(name):
    metric = naive.ErrorRate()
    table = FeatureTable.dense(("a",), np.array([[2.0], [2.0], [5.0]]), np.array([0, 2, 3]))
    result = run_tuner(prepare(table, np.array([[1.0, 5], [2, 5], [0, 5]]), metric), SMALL[name], np.ones(1), 0)
    assert result.weights.tolist() == [0.0]
    assert "nothing to tune" in result.notes[0]
    assert result.score == pytest.approx(10.0)


@every_tuner
def test_the_order_of_lists_does_not_matter_to_what_is_chosen(name):
    metric = naive.ErrorRate()
    rng = np.random.default_rng(0)
    table, statistics = telling(rng, metric, noise=0.3)
    shuffled = rng.permutation(40)
    other, rows = table.take_segments(shuffled)
    one = run_tuner(prepare(table, statistics, metric), SMALL[name], np.ones(3), 0)
    two = run_tuner(prepare(other, statistics[rows], metric), SMALL[name], np.ones(3), 0)
    assert two.score == pytest.approx(one.score, abs=0.35)


@pytest.mark.parametrize(
    ("factory", "options", "word"),
    [
        (Mert, {"restarts": 0}, "restarts"),
        (Mira, {"decay": 1.0}, "decay"),
        (Mira, {"C": 0.0}, "C"),
        (Pro, {"interpolation": 0.0}, "interpolation"),
        (Pro, {"ceiling": 0.1}, "ceiling"),
        (Pro, {"kept": 0}, "kept"),
        (Mbr, {"evidence": 0}, "evidence"),
        (Mbr, {"lowest": 0.0}, "scales"),
        (ExpectedRisk, {"stages": 0}, "stages"),
        (ExpectedRisk, {"l2": -1.0}, "l2"),
    ],
)
def test_options_that_make_no_sense_are_refused(factory, options, word):
    with pytest.raises(ValueError, match=word):
        factory(**options)


def test_restarts_in_threads_give_the_same_as_one_after_the_other(monkeypatch):
    metric = naive.ErrorRate()
    table, statistics = naive.random_data(np.random.default_rng(9), metric, segments=30, longest=12, features=5)
    data = prepare(table, statistics, metric)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    results = [run_tuner(data, Mert(restarts=6), np.ones(5), 7)]
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    results.append(run_tuner(data, Mert(restarts=6), np.ones(5), 7))
    np.testing.assert_array_equal(results[0].weights, results[1].weights)
    assert results[0].trace == results[1].trace


def test_every_iterative_tuner_is_covered():
    assert {type(tuner) for tuner in SMALL.values()} == set(IterativeTuner.__subclasses__())
    assert all(a != b for a, b in itertools.pairwise(SMALL))
