"""The parts of the tuners, each against a slow twin or a closed form."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.tuners import mira
from rerank_adapters.tuners.expected_risk import ExpectedRisk, Posterior
from rerank_adapters.tuners.mbr import Mbr, middle_of_longest_run
from rerank_adapters.tuners.mbr_decision import evidence_of, expected_scores, expected_utilities
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuners.pro import PairSampler, Pro
from rerank_adapters.tuners.problem import Prior, Problem
from rerank_adapters.tuners.within_lists import FeatureRows, centred, gains_of, metric_slope, one_best, spread
from rerank_adapters.tuning.problem import prepare, run_tuner
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.feature_table import FeatureTable
from tests.tuners import naive_tuners as naive

METRICS = [naive.ErrorRate(), naive.FScore()]
both_metrics = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.signature())


def problem_of(table, statistics, metric, **constraints):
    data = prepare(table, statistics, metric, **constraints)
    return Problem.of(data, np.linspace(1, 2, len(table.all_names)))


# --- 1-bests and problems ---------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=6))
def test_one_best_takes_the_earlier_of_equals(lists):
    offsets = np.cumsum([0, *map(len, lists)])
    scores = np.array([score for scores in lists for score in scores], float)
    assert one_best(scores, offsets).tolist() == naive.one_best(scores, offsets)


def test_a_problem_is_standardised_and_leads_back_to_the_same_choices():
    metric = naive.ErrorRate()
    rng = np.random.default_rng(0)
    table, statistics = naive.random_data(rng, metric, segments=20, features=4, sparse=5)
    values = table.values * [1, 1000, 0.01, 1] + [0, 5, 1e6, 0]
    values[:, 3] = np.repeat(rng.normal(size=20), np.diff(table.offsets))  # constant in every list
    table = dataclasses.replace(table, values=values)
    problem = problem_of(table, statistics, metric, fixed=["f0"])
    assert problem.size == 2 + len(table.sparse.names)
    for column in problem.features.dense.T:
        np.testing.assert_allclose(np.add.reduceat(column, table.offsets[:-1]), 0, atol=1e-6)  # of 1e6 / 0.01
        assert np.mean(column**2) == pytest.approx(1.0)
    weights = rng.normal(size=problem.size)
    raw = problem.unfolded(weights)
    assert raw[0] == 1.0
    assert raw[3] == 0.0
    expected = centred(table.scores(raw), table.offsets)
    np.testing.assert_allclose(centred(problem.scores(weights), table.offsets), expected, atol=1e-7)
    np.testing.assert_allclose(problem.standardised(raw), weights)


def test_sparse_products_equal_those_of_the_full_matrix():
    metric = naive.ErrorRate()
    rng = np.random.default_rng(0)
    table, _ = naive.random_data(rng, metric, sparse=5)
    rows = FeatureRows(table.values, table.sparse)
    full = np.zeros((len(table.values), len(table.all_names)))
    full[:, :3] = table.values
    for row, (begin, end) in enumerate(itertools.pairwise(table.sparse.indptr)):
        full[row, 3 + table.sparse.indices[begin:end]] = table.sparse.data[begin:end]
    weights, amounts = rng.normal(size=full.shape[1]), rng.normal(size=full.shape[0])
    np.testing.assert_allclose(rows.dot(weights), full @ weights)
    np.testing.assert_allclose(rows.pull(amounts), amounts @ full)
    some = np.array([3, 0, 7])
    np.testing.assert_allclose(rows.rows(some).dot(weights), full[some] @ weights)


# --- minima -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_a_minimum_is_within_the_bounds_of_the_features(seed):
    """No point of a fine grid around it, moved into the bounds, is lower."""
    rng = np.random.default_rng(seed)
    table, statistics = naive.random_data(rng, naive.ErrorRate(), features=4)
    bounds = {"lower": {"f0": -0.3, "f1": -0.2}, "upper": {"f1": 0.2, "f3": 0.1}}
    problem = problem_of(table, statistics, naive.ErrorRate(), **bounds)
    root = rng.normal(size=(4, 4))
    curvature, target = root @ root.T + 0.1 * np.eye(4), rng.normal(size=4)

    def bowl(x):
        return float((x - target) @ curvature @ (x - target)) / 2, curvature @ (x - target)

    found = problem.minimum(bowl, np.zeros(4))
    assert ((found >= problem.lower) & (found <= problem.upper)).all()
    for step in (0.1, 0.01, 0.001):
        for move in itertools.product((-step, 0, step), repeat=4):
            assert bowl(np.clip(found + move, problem.lower, problem.upper))[0] >= bowl(found)[0] - 1e-6


# --- gains and posteriors ---------------------------------------------------------------------------------------------


@both_metrics
def test_gains_are_the_change_that_a_segment_makes_to_a_large_document(metric):
    rng = np.random.default_rng(0)
    _, statistics = naive.random_data(rng, metric, segments=50)
    segments = 5000.0
    totals = statistics.mean(axis=0) * segments
    gains = gains_of(statistics, metric_slope(metric, totals, segments))
    sign = 1 if metric.higher_is_better else -1
    for i, j in rng.integers(0, len(statistics), (50, 2)):
        wanted = sign * segments * (metric.score(totals + statistics[i]) - metric.score(totals + statistics[j]))
        assert gains[i] - gains[j] == pytest.approx(wanted, rel=0.01, abs=0.05)


def test_the_slope_of_bleu_counts_length_only_where_the_document_is_short():
    metric = Bleu(tokenize="none")
    matches = np.array([60.0, 40, 25, 15, 100, 90, 80, 70])
    short = metric_slope(metric, np.array([100.0, 120, *matches]), 10)
    long = metric_slope(metric, np.array([120.0, 100, *matches]), 10)
    assert short[0] > 0 > short[1]
    assert long[0] == long[1] == 0
    assert (short[2:6] > 0).all()
    assert (short[6:] < 0).all()


class Cube(naive.ErrorRate):
    """The sum of the cubes of the totals: the central difference of x³ over 2w is 3x² + w²."""

    higher_is_better = True

    def score(self, totals):
        return (np.asarray(totals, float) ** 3).sum(axis=-1)


def test_slopes_are_central_differences_as_wide_as_a_segment_s_part():
    totals = np.array([6.0, -1.5, 0.0])
    for width in (0.5, 2.0):
        half = width * np.array([2.0, 0.5, 1e-3])  # of three segments; at least a thousandth
        np.testing.assert_allclose(metric_slope(Cube(), totals, 3, width), 3 * (3 * totals**2 + half**2), rtol=1e-4)
    np.testing.assert_allclose(metric_slope(Cube(), totals, 3), metric_slope(Cube(), totals, 3, 1.0))


@both_metrics
@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_expected_metric_and_its_gradient(metric, temperature):
    table, statistics = naive.random_data(np.random.default_rng(1), metric, segments=15)
    problem = problem_of(table, statistics, metric)
    posterior = Posterior(problem, corpus=True)
    weights = np.array([0.5, -0.2, 0.8])
    value, gradient = posterior.objective(weights, temperature)
    dense = problem.features.dense
    score, entropy = naive.expected_score(dense, table.offsets, statistics, metric, weights)
    sign = 1 if metric.higher_is_better else -1
    assert value == pytest.approx(sign * score / posterior.unit + temperature * entropy)
    for k, step in enumerate(np.eye(3) * 1e-5):
        up, down = (posterior.objective(weights + side * step, temperature)[0] for side in (1, -1))
        assert gradient[k] == pytest.approx((up - down) / 2e-5, rel=1e-3, abs=1e-6)


def test_expected_sentence_score_and_its_gradient():
    metric = naive.FScore()
    table, statistics = naive.random_data(np.random.default_rng(1), metric, segments=15, sparse=4)
    problem = problem_of(table, statistics, metric)
    posterior = Posterior(problem, corpus=False)
    assert spread(posterior.gains, table.offsets) == pytest.approx(1.0)
    weights = np.random.default_rng(0).normal(size=problem.size)
    _, gradient = posterior.objective(weights, 0.3)
    for k, step in enumerate(np.eye(problem.size) * 1e-5):
        up, down = (posterior.objective(weights + side * step, 0.3)[0] for side in (1, -1))
        assert gradient[k] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("target", ["corpus", "sentence"])
def test_each_stage_ends_where_its_risk_is_least(target):
    """Three stages of annealing, then two of quenching: temperature and sharpness of each, with L2 and the prior."""
    metric = naive.FScore()
    table, statistics = naive.random_data(np.random.default_rng(1), metric, segments=15)
    problem = problem_of(table, statistics, metric)
    tuner = ExpectedRisk(target=target, temperature=0.8, stages=3, quenching=2, l2=0.3, prior=0.2, iterations=500)
    start = np.array([0.5, -0.2, 0.8])
    ends = list(tuner.search(problem)(start, np.random.default_rng(0), 0))
    posterior, prior = Posterior(problem, corpus=target == "corpus"), Prior.of(problem, start)
    stages = [(0.8, 1), (0.4, 1), (0.0, 1), (0.0, 2), (0.0, 4)]
    for (temperature, sharpness), weights in zip(stages, ends, strict=True):

        def risk(weights, temperature=temperature, sharpness=sharpness):
            value, _ = posterior.objective(sharpness * weights, temperature)
            return 0.3 / 2 * weights @ weights + 0.2 * prior.penalty(weights) - value

        for step in np.eye(3) * 1e-5:
            assert (risk(weights + step) - risk(weights - step)) / 2e-5 == pytest.approx(0, abs=2e-3)


# --- MIRA -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [0.0, 3.0])
@both_metrics
def test_mira_equals_its_twin(metric, prior, monkeypatch):
    monkeypatch.setattr(mira, "LISTS_OF_ONE_SLOPE", 4)
    monkeypatch.setattr(mira, "PULL", 2)
    table, statistics = naive.random_data(np.random.default_rng(3), metric, segments=14)
    problem = problem_of(table, statistics, metric, fixed=["f2"])
    start, tuner = np.array([0.3, -0.4]), Mira(passes=3, C=0.05, decay=0.9, prior=prior)
    found = list(tuner.search(problem)(start, np.random.default_rng(5), 0))
    rng = np.random.default_rng(5)
    orders = [rng.permutation(14) for _ in range(3)]
    memory = 1 / (1 - 0.9)
    background = statistics[naive.one_best(problem.scores(start), table.offsets)].mean(axis=0) * memory
    unit = spread(statistics @ metric_slope(metric, background, memory), table.offsets)
    wanted = naive.batch_mira(
        problem.features.dense, problem.base, table.offsets, statistics,
        lambda totals: metric_slope(metric, totals, memory) / unit, orders, 4, 0.05, 0.9, start, background, 2, prior,
    )  # fmt: skip
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_of_equal_hopes_and_fears_the_earlier_are_taken(monkeypatch):
    """Without weights, hypotheses of equal statistics are equal, but not their features."""
    monkeypatch.setattr(mira, "LISTS_OF_ONE_SLOPE", 8)
    metric = naive.ErrorRate()
    rng = np.random.default_rng(3)
    table = FeatureTable.dense(("a", "b"), rng.normal(size=(48, 2)), np.arange(9) * 6)
    statistics = np.stack([np.tile([1.0, 2, 0, 2, 0, 1], 8), np.full(48, 5.0)], axis=1)
    problem = problem_of(table, statistics, metric)
    start = np.zeros(2)
    found = list(Mira(passes=2, C=0.05, decay=0.9).search(problem)(start, np.random.default_rng(5), 0))
    rng = np.random.default_rng(5)
    orders = [rng.permutation(8) for _ in range(2)]
    background = statistics[::6].mean(axis=0) * 10
    unit = spread(statistics @ metric_slope(metric, background, 10), table.offsets)
    wanted = naive.batch_mira(
        problem.features.dense, problem.base, table.offsets, statistics,
        lambda totals: metric_slope(metric, totals, 10) / unit, orders, 8, 0.05, 0.9, start, background,
    )  # fmt: skip
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_mira_sees_sparse_features_as_it_sees_dense_ones():
    """The same values in the dense block (unscaled there) and in the sparse one give the same weights."""
    metric = naive.ErrorRate()
    table, statistics = naive.random_data(np.random.default_rng(3), metric, segments=14, sparse=5)
    problem = problem_of(table, statistics, metric)
    sparse = problem.features.sparse
    full = np.stack([sparse.dot(unit) for unit in np.eye(len(sparse.names))], axis=1)
    rows = FeatureRows(np.hstack([problem.features.dense, full]), sparse.renamed([]))
    dense = dataclasses.replace(problem, features=rows)
    start = np.zeros(problem.size)
    start[0] = 1.0
    one, other = (list(Mira(passes=3).search(p)(start, np.random.default_rng(5), 0)) for p in (problem, dense))
    np.testing.assert_allclose(one, other, atol=1e-12)


# --- PRO --------------------------------------------------------------------------------------------------------------


def test_pairs_are_of_one_list_and_differ_as_asked():
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 30, 50)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    goodness = rng.normal(size=offsets[-1])
    sampler = PairSampler(goodness, offsets, drawn=200, kept=20, threshold=0.5, ceiling=2.0)
    better, worse = sampler.sample(np.random.default_rng(1))
    lists = np.searchsorted(offsets, better, side="right")
    np.testing.assert_array_equal(lists, np.searchsorted(offsets, worse, side="right"))
    differences = goodness[better] - goodness[worse]
    assert ((differences >= 0.5) & (differences <= 2.0)).all()
    assert np.bincount(lists).max() == 20
    assert differences.mean() > 1.5  # the most different ones


def test_all_pairs_of_a_list_are_as_likely():
    offsets = np.array([0, 4])
    goodness = np.array([0.0, 1.0, 2.0, 3.0])
    sampler = PairSampler(goodness, offsets, drawn=60_000, kept=60_000, threshold=0.0, ceiling=np.inf)
    better, worse = sampler.sample(np.random.default_rng(1))
    counts = np.bincount(better * 4 + worse)
    counts = counts[counts > 0]
    assert len(counts) == 6
    np.testing.assert_allclose(counts / 60_000, 2 / 16, atol=0.01)


def test_pro_fits_the_logistic_regression_of_its_pairs():
    """At the fitted weights the gradient of the plain sum over pairs, differences formed one by one, is 0."""
    metric = naive.FScore()
    table, statistics = naive.random_data(np.random.default_rng(1), metric, segments=30, longest=15, sparse=3)
    problem = problem_of(table, statistics, metric, fixed=["f1"])
    goodness = metric.sentence_scores(statistics)
    pairs = PairSampler(goodness, table.offsets, 100, 20, 1.0, np.inf).sample(np.random.default_rng(0))
    tuner = Pro(l2=0.01, prior=0.3)
    mean = np.linspace(-1, 1, problem.size)
    weights = tuner._fit(problem, pairs, np.zeros(problem.size), Prior(mean, ray=False))
    sparse = problem.features.sparse
    full = np.hstack([problem.features.dense, np.stack([sparse.dot(unit) for unit in np.eye(len(sparse.names))], 1)])
    gradient = 0.01 * weights + 0.3 * (weights - mean)
    for better, worse in zip(*pairs, strict=True):
        margin = problem.base[better] - problem.base[worse] + (full[better] - full[worse]) @ weights
        gradient -= (full[better] - full[worse]) / (1 + np.exp(margin)) / len(pairs.better)
    np.testing.assert_allclose(gradient, 0, atol=1e-4)


@both_metrics
def test_rounds_move_part_of_the_way_to_the_fitted_weights(metric):
    """All of the way in the first round, and the fit of each begins with the weights before it."""
    table, statistics = naive.random_data(np.random.default_rng(1), metric, segments=30, longest=15)
    problem, start = problem_of(table, statistics, metric), np.array([0.5, 0.1, -0.3])
    tuner = Pro(rounds=3, pairs=200, kept=20, interpolation=0.3)
    found = list(tuner.search(problem)(start, np.random.default_rng(7), 0))
    goodness = (1 if metric.higher_is_better else -1) * metric.sentence_scores(statistics)
    sampler = PairSampler(goodness / spread(goodness, table.offsets), table.offsets, 200, 20, 1.0, 5.0)
    rng, prior = np.random.default_rng(7), Prior.of(problem, start)
    first = tuner._fit(problem, sampler.sample(rng), prior.weights, prior)
    second = 0.7 * first + 0.3 * tuner._fit(problem, sampler.sample(rng), first, prior)
    third = 0.7 * second + 0.3 * tuner._fit(problem, sampler.sample(rng), second, prior)
    np.testing.assert_allclose(found, [first, second, third], rtol=1e-10)


def test_pairs_that_differ_by_exactly_the_limits_are_kept_and_equals_never():
    goodness = np.array([0.0, 0.0, 1.0, 3.0])
    sampler = PairSampler(goodness, np.array([0, 4]), drawn=2000, kept=2000, threshold=1.0, ceiling=2.0)
    better, worse = sampler.sample(np.random.default_rng(1))
    assert set(zip(better.tolist(), worse.tolist(), strict=True)) == {(2, 0), (2, 1), (3, 2)}
    sampler = dataclasses.replace(sampler, threshold=0.0, ceiling=0.0)
    assert len(sampler.sample(np.random.default_rng(1)).better) == 0


def test_of_equally_different_pairs_the_first_drawn_are_kept():
    goodness = np.arange(2.0)
    sampler = PairSampler(goodness, np.array([0, 2]), drawn=100, kept=7, threshold=0.0, ceiling=9.0)
    better, worse = sampler.sample(np.random.default_rng(1))
    assert better.tolist() == [1] * 7
    assert worse.tolist() == [0] * 7


# --- MBR --------------------------------------------------------------------------------------------------------------

TEXTS = ["the cat sat", "the cat sits here", "a dog sat", "the cat sat here", "the cat sat"]


@pytest.mark.parametrize("scale", [0.0, 0.3, 1.0, 10.0])
def test_expected_utilities_equal_the_double_loop(scale):
    metric = Bleu(tokenize="none")
    scores = np.array([0.5, 0.1, 1.2, -0.3, 0.2])

    def utility(text, other):
        return float(metric.sentence_scores(metric.statistics([[text]], [[other]]))[0])

    expected = expected_scores(scores, TEXTS, metric, scale)
    assert int(np.argmax(expected)) == naive.mbr_choice(scores, TEXTS, utility, scale)
    weights = np.exp(scale * scores) / np.exp(scale * scores).sum()
    wanted = [sum(w * utility(a, b) for w, b in zip(weights, TEXTS, strict=True)) for a in TEXTS]
    np.testing.assert_allclose(expected, wanted)
    both = expected_utilities(scores, metric.pairwise(TEXTS), np.array([scale, 2 * scale]))
    np.testing.assert_allclose(both[:, 0], wanted)


def test_large_scores_are_no_trouble():
    utility = np.array([[1.0, 0.5], [0.25, 1.0]])
    shifted = expected_utilities(np.array([2000.0, 2001.0]), utility, 1.0)
    np.testing.assert_allclose(shifted, expected_utilities(np.array([0.0, 1.0]), utility, 1.0))


def test_only_the_evidence_votes():
    metric = Bleu(tokenize="none")
    scores = np.array([0.5, 0.1, 1.2, -0.3, 0.5])
    some = expected_scores(scores, TEXTS, metric, 1.0, evidence=2)
    np.testing.assert_allclose(some, expected_utilities(scores[[0, 2]], metric.pairwise(TEXTS)[:, [0, 2]], 1.0))
    one = expected_scores(scores, TEXTS, metric, 1.0, evidence=1)
    np.testing.assert_allclose(one, metric.pairwise(TEXTS)[:, 2])


def test_mbr_chooses_the_scale_whose_choices_score_best():
    metric = Bleu(tokenize="none")
    rng = np.random.default_rng(0)
    words = np.array(list("abcdefgh"))
    references = [[" ".join(rng.choice(words, 8))] for _ in range(15)]
    lists = [[" ".join(w if rng.random() > 0.4 else "x" for w in r.split()) for _ in range(6)] for (r,) in references]
    statistics = metric.statistics(lists, references)
    table = FeatureTable.dense(("f",), rng.normal(size=(90, 1)), np.arange(16) * 6)
    data = prepare(table, statistics, metric, hypotheses=lists)
    result = run_tuner(data, Mbr(scales=25), np.array([1.0]), 0)
    assert result.decision == "mbr"
    assert result.weights.tolist() == [1.0]

    def utility(text, other):
        return float(metric.sentence_scores(metric.statistics([[text]], [[other]]))[0])

    def score(scale):
        rows = [
            6 * s + naive.mbr_choice(table.values[6 * s : 6 * s + 6, 0], texts, utility, scale)
            for s, texts in enumerate(lists)
        ]
        return float(metric.score(statistics[rows].sum(axis=0)))

    assert result.score == pytest.approx(score(result.scale))
    assert result.score == pytest.approx(max(step.score for step in result.trace))
    assert result.score > naive.corpus_score(table, statistics, metric, np.array([1.0])) + 5


def test_equal_scores_and_utilities_go_to_the_earlier():
    metric = Bleu(tokenize="none")
    assert evidence_of(np.tile([0.0, 1.0], 20), 25).tolist() == sorted([*range(1, 40, 2), *range(0, 10, 2)])
    texts = ["x y", "a b c d", "a b c d", "x y", "x y", "a b c d"]
    assert Mbr()._choices(np.zeros(6), texts, metric, np.array([0.0, 1.0])).tolist() == [0, 0]


def test_mbr_needs_texts():
    table, statistics = naive.random_data(np.random.default_rng(0), naive.ErrorRate())
    with pytest.raises(ConfigError, match="texts"):
        run_tuner(prepare(table, statistics, naive.ErrorRate()), Mbr(), np.ones(3), 0)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=12))
def test_middle_of_the_longest_run_of_the_best(values):
    place = middle_of_longest_run(np.array(values, float))
    runs = [(len(list(run)), value) for value, run in itertools.groupby(values)]
    longest = max(length for length, value in runs if value == max(values))
    begins = list(itertools.accumulate([0, *(length for length, _ in runs)]))
    best = next(
        b for b, (length, value) in zip(begins, runs, strict=False) if (length, value) == (longest, max(values))
    )
    assert place == best + (longest - 1) // 2


def with_monsters(rng, segments=150, size=40):
    """Lists of translations of 20 words that differ by a word or two; every fifth has a monster of 100 words.

    Features: how good a translation is, under noise, and its length, which tells nothing but the monsters.
    """
    rows = segments * size
    length = 20.0 + rng.integers(-2, 3, rows)
    right = rng.binomial(20, 0.8, rows).clip(13, 19).astype(float)
    good = right + 2 * rng.normal(size=rows)
    monsters = np.arange(segments)[::5] * size + 7
    found = np.full(rows, 20.0)
    length[monsters], right[monsters], found[monsters] = 100.0, 2.0, 100.0
    table = FeatureTable.dense(("good", "length"), np.stack([good, length], 1), np.arange(segments + 1) * size)
    return table, np.stack([right, found, np.full(rows, 20.0)], axis=1)


def test_pro_keeps_monsters_out():
    """The most different pairs of a list with a monster hold it, and length gets the blame; under the ceiling, not."""
    metric = naive.FScore()
    table, statistics = with_monsters(np.random.default_rng(0))
    problem = problem_of(table, statistics, metric)
    goodness = metric.sentence_scores(statistics)
    goodness /= spread(goodness, table.offsets)
    monsters = np.arange(30) * 5 * 40 + 7
    blamed, held = [], []
    for ceiling in (np.inf, Pro().ceiling):
        sampler = PairSampler(goodness, table.offsets, 5000, 50, 0.3, ceiling)
        pairs = sampler.sample(np.random.default_rng(1))
        held.append(np.isin(pairs.worse, monsters).sum())
        *_, weights = Pro(ceiling=ceiling).search(problem)(np.array([1.0, 0.0]), np.random.default_rng(2), 0)
        good, length = weights / problem.scales
        blamed.append(-length / good)
    assert held[0] == 30 * 50  # every pair of these lists
    assert held[1] == 0
    assert blamed[0] > 3 * abs(blamed[1])
