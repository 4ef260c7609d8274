"""What keeps many correlated features in check: priors, bags, sentence gains, and the scales of features."""

import dataclasses

import numpy as np
import pytest

from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.tuners.expected_risk import ExpectedRisk
from rerank_adapters.tuners.line_search import Line
from rerank_adapters.tuners.mbr import Mbr
from rerank_adapters.tuners.mert import Mert
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuners.pro import Pro
from rerank_adapters.tuners.problem import Prior, Problem
from rerank_adapters.tuners.within_lists import one_best, spread
from rerank_adapters.tuning.problem import prepare, run_tuner
from tests.tuners import naive_tuners as naive

PULLED = {
    "mert": Mert(restarts=3),
    "mira": Mira(passes=20, C=0.01),
    "pro": Pro(rounds=2, pairs=100),
    "expected-risk": ExpectedRisk(stages=2, quenching=1),
}
every_tuner = pytest.mark.parametrize("name", PULLED)
METRIC = naive.FScore()


def data_of(**constraints):
    """Lists whose matches rise with the first two features, and not with the other two."""
    table, statistics = naive.random_data(np.random.default_rng(1), METRIC, segments=20, longest=12, features=4)
    matches = 4 + table.values[:, :2].sum(axis=1) + np.random.default_rng(2).normal(size=len(statistics))
    statistics[:, 0] = np.clip(np.round(matches), 0, statistics[:, 1:].min(axis=1))
    return prepare(table, statistics, METRIC, **constraints)


START = np.array([0.5, -0.2, 0.9, 0.1])


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


@pytest.mark.parametrize("ray", [True, False])
def test_the_residual_is_the_gradient_of_the_penalty(ray):
    rng = np.random.default_rng(0)
    start, weights = rng.normal(size=(2, 5))
    prior = Prior(start / np.linalg.norm(start) if ray else start, ray)
    for side in (1.0, -1.0):  # on either side of a right angle
        for k, step in enumerate(np.eye(5) * 1e-6):
            up, down = (prior.penalty(side * weights + s * step) for s in (1, -1))
            assert prior.residual(side * weights)[k] == pytest.approx((up - down) / 2e-6, abs=1e-6)


def test_weights_on_the_ray_of_the_start_lose_nothing_and_at_a_right_angle_all():
    prior = Prior(np.array([0.6, 0.8]), ray=True)
    weights = np.array([[3.0, 4.0], [-8.0, 6.0], [-3.0, -4.0], [1.0, 0.0]])
    np.testing.assert_allclose(prior.relative_penalty(weights), [0, 1, 1, 1 - 0.36], atol=1e-12)
    assert prior.penalty(weights[0]) == pytest.approx(0)
    assert prior.penalty(weights[1]) == pytest.approx(50)


def test_of_a_prior_that_is_a_point_the_penalty_is_the_squared_distance_in_its_lengths():
    prior = Prior(np.array([3.0, 4.0]), ray=False)
    weights = np.array([[3.0, 4.0], [0.0, 0.0], [6.0, 8.0], [3.0, -6.0]])
    np.testing.assert_allclose(prior.relative_penalty(weights), [0, 1, 1, 4])
    np.testing.assert_allclose([prior.penalty(row) for row in weights], [0, 12.5, 12.5, 50])


@every_tuner
def test_a_prior_pulls_the_weights_towards_the_start(name):
    data = data_of()
    problem = Problem.of(data, START)
    angles = []
    for prior in (0.0, 1e5):
        tuner = dataclasses.replace(PULLED[name], prior=prior)
        weights = problem.standardised(run_tuner(data, tuner, START, 0).weights)
        angles.append(cosine(weights, problem.standardised(START)))
    assert angles[0] < 0.8
    assert angles[1] > 0.995


@every_tuner
def test_where_a_fixed_weight_sets_the_scale_the_prior_is_the_start_itself(name):
    data = data_of(fixed=["f1"])
    free, bound = (run_tuner(data, dataclasses.replace(PULLED[name], prior=p), START, 0).weights for p in (0.0, 1e6))
    assert np.linalg.norm(bound - START) < 0.5 * np.linalg.norm(free - START)


def test_the_best_interval_of_a_line_is_that_with_the_best_score_less_its_penalty():
    line = Line(np.array([0.0, 1.0, 2.0, 3.0]), np.array([10.0, 12.0, 11.5]))
    assert line.best(1.0) == (1.5, 12.0)
    assert line.best(1.0, penalties=np.array([0.0, 1.0, 0.2])) == (2.5, pytest.approx(11.3))
    assert line.best(-1.0, penalties=np.array([3.0, 0.0, 0.0])) == (2.5, 11.5)


@every_tuner
def test_bagged_weights_are_the_mean_of_the_bags(name, monkeypatch):
    data, start = data_of(), START
    tuner = dataclasses.replace(PULLED[name], bags=3, restarts=1)
    result = run_tuner(data, tuner, start, 4)
    problem = Problem.of(data, start)
    assert len(result.restarts) == 3
    ends = result.restarts * problem.scales
    mean = (ends / np.linalg.norm(ends, axis=1, keepdims=True)).mean(axis=0) / problem.scales
    np.testing.assert_allclose(result.weights, mean / np.abs(mean).sum(), rtol=1e-9)
    # The first bag by hand: of the iterates on its sample, the one that is best on all lists.
    rng = np.random.default_rng(4).spawn(3)[0]
    sample = problem.take(np.sort(rng.integers(0, 20, 20)))
    initial = problem.standardised(start)
    iterates = [initial, *tuner.search(sample)(initial, rng.spawn(1)[0], 0)]
    best = max(iterates, key=problem.corpus_score)
    assert cosine(best, ends[0]) == pytest.approx(1)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    np.testing.assert_array_equal(run_tuner(data, tuner, start, 4).weights, result.weights)


def test_restarts_of_bags_are_numbered_one_after_another():
    tuner = dataclasses.replace(next(iter(PULLED.values())), bags=3, restarts=2)
    steps = [step.restart for step in run_tuner(data_of(), tuner, START, 4).trace]
    assert list(dict.fromkeys(steps)) == [0, 1, 2, 3, 4, 5]


def test_mira_with_sentence_gains_is_mira_with_them_as_statistics():
    """Where the metric is a mean of sentence scores, they are the only statistic there is."""
    metric = Bleu(tokenize="none")
    rng = np.random.default_rng(0)
    table, _ = naive.random_data(rng, METRIC, segments=15, features=3)
    statistics = metric.statistics(
        [[" ".join(rng.choice(list("abc"), 6)) for _ in range(n)] for n in np.diff(table.offsets)],
        [["a b c a b c"]] * 15,
    )
    data = prepare(table, statistics, metric)
    problem = Problem.of(data, np.ones(3))
    found = list(Mira(gain="sentence", passes=2).search(problem)(np.ones(3), np.random.default_rng(1), 0))

    class Mean(naive.Counts):
        def score(self, totals):
            return np.asarray(totals)[..., 0]

    scores = metric.sentence_scores(statistics)[:, None]
    twin = dataclasses.replace(problem, statistics=scores, metric=Mean())
    means = list(Mira(passes=2).search(twin)(np.ones(3), np.random.default_rng(1), 0))
    # The slope of the mean is the number of lists that the background amounts to: a factor that the unit removes.
    np.testing.assert_allclose(found, means, rtol=1e-6)
    result = run_tuner(data, Mira(gain="sentence", passes=2), np.ones(3))
    assert "sentence scores of" in result.notes[0]


@pytest.mark.parametrize(
    "tuner",
    [*PULLED.values(), Mira(passes=5, bags=2, prior=0.1, gain="sentence"), Mert(restarts=2, prior=0.5), Mbr()],
    ids=[*PULLED, "bagged", "mert with prior", "mbr"],
)
def test_a_feature_times_1000_changes_no_choice(tuner):
    """The start weight is divided by 1000 with it: start weights have the unit of their features."""
    metric = Bleu(tokenize="none")
    rng = np.random.default_rng(5)
    table, _ = naive.random_data(rng, METRIC, segments=15, features=3)
    texts = [[" ".join(rng.choice(list("abc"), 6)) for _ in range(n)] for n in np.diff(table.offsets)]
    statistics = metric.statistics(texts, [["a b c a b c"]] * 15)
    scales = np.array([1.0, 1000.0, 1.0])
    larger = dataclasses.replace(table, values=table.values * scales)
    one, other = (
        run_tuner(prepare(lists, statistics, metric, hypotheses=texts), tuner, start, 0)
        for lists, start in ((table, np.ones(3)), (larger, 1 / scales))
    )
    chosen = one_best(table.scores(one.weights), table.offsets)
    np.testing.assert_array_equal(chosen, one_best(larger.scores(other.weights), table.offsets))
    spreads = [spread(lists.scores(r.weights), lists.offsets) for lists, r in ((table, one), (larger, other))]
    if one.decision == "mbr":
        assert one.scale * spreads[0] == pytest.approx(other.scale * spreads[1], rel=1e-6)


@pytest.mark.parametrize(("options", "word"), [({"bags": -1}, "bags"), ({"prior": -1.0}, "prior")])  # fmt: skip
def test_options_that_make_no_sense_are_refused(options, word):
    with pytest.raises(ValueError, match=word):
        Mira(**options)
