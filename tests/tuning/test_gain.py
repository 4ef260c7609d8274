"""The gain on held-out tuning lists, and the margin that is tuned there."""

import math
from itertools import pairwise

import numpy as np
import pytest

from rerank_adapters.evaluation.baselines import FIRST
from rerank_adapters.features.processes import Processes
from rerank_adapters.tuners.mbr import Mbr
from rerank_adapters.tuners.mert import Mert
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuning import held_out as held_out_module
from rerank_adapters.tuning.cross_validation import CrossValidationRow, cross_validate
from rerank_adapters.tuning.held_out import (
    HeldOut,
    WithMargin,
    gain_over,
    held_out,
    raw_margin,
    tuner_with_margin,
    usual_folds,
)
from rerank_adapters.tuning.problem import prepare, take_segments
from rerank_plugins.core.metrics_and_tuners import Tuner, TuningResult
from tests.tuners import naive_margin
from tests.tuners import naive_tuners as naive

METRIC = naive.ErrorRate()
FOLDS, SEED = 4, 3


def gain_of(held, margin, seed, groups=None):
    """The gain over the first hypotheses alone."""
    return gain_over({FIRST: held.first}, held, METRIC, margin, seed, groups)


@pytest.fixture(scope="module")
def data():
    table, statistics = naive.random_data(np.random.default_rng(1), METRIC, segments=30, longest=9)
    return prepare(table, statistics, METRIC)


@pytest.fixture(scope="module")
def start(data):
    return np.ones(len(data.table.all_names))


@pytest.fixture(scope="module")
def leads(data, start):
    return held_out(data, Mira(passes=5), start, FOLDS, SEED)


def fold_of(data, number):
    return np.sort(np.random.default_rng(SEED).permutation(data.table.segments)[number::FOLDS])


def test_leads_are_those_of_weights_that_have_not_seen_the_list(data, start, leads):
    for number in range(FOLDS):
        aside = fold_of(data, number)
        rest = take_segments(data, np.setdiff1d(np.arange(data.table.segments), aside))
        result = Mira(passes=5).tune(rest, start, np.random.default_rng([SEED, number]))
        scores = result.scores(rest.table)
        lists = [scores[begin:end] for begin, end in pairwise(rest.table.offsets)]
        deviation = np.sqrt(np.mean(np.concatenate([of_list - of_list.mean() for of_list in lists]) ** 2))
        totals = result.scores(data.table)
        for segment in aside.tolist():
            begin, end = data.table.offsets[segment : segment + 2]
            best = begin + int(np.argmax(totals[begin:end]))
            assert leads.leads[segment] == pytest.approx((totals[best] - totals[begin]) / deviation)
            np.testing.assert_array_equal(leads.leading[segment], data.statistics[best])
            assert leads.fold[segment] == number


def test_one_process_or_two_find_the_same(data, start, leads):
    two = held_out(data, Mira(passes=5), start, FOLDS, SEED, Processes(2))
    for name in ("chosen", "leading", "first", "leads", "positions", "fold", "training"):
        np.testing.assert_array_equal(getattr(two, name), getattr(leads, name))


def test_the_score_is_that_of_cross_validation(data, start, leads):
    rows = cross_validate(data, {"mira": Mira(passes=5)}, start, FOLDS, (SEED,), baselines={"1-best": 0 * start}).rows
    result = gain_of(leads, 0.0, seed=1)
    assert result.score == pytest.approx(rows[0].mean)
    assert result.first == pytest.approx(rows[1].mean)
    assert result.gain == pytest.approx(result.first - result.score)  # lower is better
    assert result.interval.low <= result.gain <= result.interval.high
    assert result.changed == np.mean(leads.leads > 0)


def test_the_margin_of_a_fold_is_tuned_on_the_others(leads):
    result = gain_of(leads, "tuned", seed=1)
    chosen = np.empty_like(leads.first)
    for number in range(FOLDS):
        own, others = leads.fold == number, leads.fold != number
        of_others = leads.leads[others], leads.first[others], leads.leading[others]
        low, high = naive_margin.best_margin(*of_others, METRIC, 1.0)
        margin = low if math.isinf(high) else (low + high) / 2
        margin = math.inf if math.isinf(high) else margin if low else 0.0
        chosen[own] = naive_margin.statistics_with(margin, leads.leads[own], leads.first[own], leads.leading[own])
    assert result.score == pytest.approx(float(METRIC.score(chosen.sum(axis=0))))
    assert result.without_margin == pytest.approx(gain_of(leads, 0.0, seed=1).score)


def held_out_of(better, worse, folds=2, segments=20):
    """Held-out choices that mend an error in so many segments, and make one in others, all with the same lead."""
    changed = np.arange(segments) < better + worse
    first = np.column_stack([np.ones(segments), np.full(segments, 4.0)])
    leading = first.copy()
    leading[:better, 0], leading[better : better + worse, 0] = 0.0, 2.0
    positions, fold = changed.astype(np.int64), np.arange(segments) % folds
    return HeldOut(leading, first, leading, changed * 1.0, positions, fold, np.zeros(folds))


@pytest.mark.parametrize(("better", "worse", "used"), [(10, 0, True), (8, 4, False), (0, 0, False), (2, 6, False)])
def test_a_tuned_margin_that_may_harm_is_not_used(better, worse, used):
    """Of 8 better and 4 worse choices, the gain is above one standard error, but its interval includes zero."""
    held = held_out_of(better, worse)
    if (better, worse) == (8, 4):
        assert held.best_margin(METRIC) == 0
    found = gain_of(held, "tuned", seed=1)
    assert found.certain is used
    assert math.isinf(found.margin) is not used
    assert found.replaced == (0 if not used else better / 20)


def test_groups_are_resampled_as_wholes(leads):
    alone = gain_of(leads, 0.0, 1)
    of_one = gain_of(leads, 0.0, 1, groups=["one"] * len(leads.leads))
    assert of_one.interval == (pytest.approx(of_one.gain), pytest.approx(of_one.gain))
    assert of_one.gain == alone.gain
    assert alone.interval.low < alone.interval.high


def test_groups_are_the_segments_of_the_bootstrap(leads):
    """Ten groups of three: their statistics are summed before they are drawn."""
    groups = [f"speaker {segment % 10}" for segment in range(30)]
    found = gain_of(leads, 0.25, 1, groups=groups)
    chosen = naive_margin.statistics_with(0.25, leads.leads, leads.first, leads.leading)
    sums = [
        np.array([statistics[first::10].sum(axis=0) for first in range(10)]) for statistics in (chosen, leads.first)
    ]
    drawn = np.random.default_rng(1).choice(10, size=(1000, 10))
    scores = [[float(METRIC.score(rows[row].sum(axis=0))) for row in drawn] for rows in sums]
    gains = np.sort(np.subtract(scores[1], scores[0]))  # lower is better
    assert found.interval == pytest.approx((gains[25], gains[-26]))
    assert found.gain == pytest.approx(METRIC.score(sums[1].sum(axis=0)) - METRIC.score(sums[0].sum(axis=0)))


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_a_fixed_margin_decides_in_all_folds(leads, margin):
    result = gain_of(leads, margin, seed=1)
    chosen = naive_margin.statistics_with(margin, leads.leads, leads.first, leads.leading)
    assert result.score == pytest.approx(float(METRIC.score(chosen.sum(axis=0))))
    assert result.changed == result.replaced == np.mean(leads.leads > margin)
    assert (result.margin, result.folds, result.segments) == (margin, FOLDS, 30)
    assert (result.without_margin is None) == (margin == 0)


def test_the_usual_number_of_folds(data, monkeypatch):
    """Five for tuners that are as quick as their quick form, three for others and for many hypotheses."""
    quick, slow = Mira(), Mert()
    assert (quick.quick(), slow.quick()) == (quick, None)
    assert [usual_folds(data, tuner) for tuner in (quick, slow)] == [5, 3]
    monkeypatch.setattr(held_out_module, "MAX_HYPOTHESES_OF_FOLDS", len(data.statistics))
    assert usual_folds(data, quick) == 5
    monkeypatch.setattr(held_out_module, "MAX_HYPOTHESES_OF_FOLDS", len(data.statistics) - 1)
    assert usual_folds(data, quick) == 3
    few = [take_segments(data, np.arange(segments)) for segments in (1, 2, 4)]
    monkeypatch.undo()
    assert [usual_folds(some, quick) for some in few] == [0, 2, 4]


def test_the_spread_over_seeds_is_the_sample_s_standard_deviation():
    row = CrossValidationRow("mira", (20.0, 23.0, 21.5), ((1.0,),) * 3, (0.0,) * 3)
    assert row.mean == pytest.approx(21.5)
    assert row.spread == pytest.approx(math.sqrt((1.5**2 + 1.5**2) / 2))
    assert CrossValidationRow("mira", (20.0,), ((1.0,),), (0.0,)).spread is None


class Constant(Tuner):
    """Returns the same weights whatever the lists."""

    def __init__(self, weights):
        self.weights = weights

    def tune(self, data, start, rng, report=lambda step: None):
        return TuningResult(self.weights, 0.0)


def test_margins_do_not_depend_on_the_scale_of_weights(data, start):
    weights = np.arange(1.0, 1 + len(start))
    both = [held_out(data, Constant(scale * weights), start, FOLDS, SEED) for scale in (1.0, 1000.0)]
    np.testing.assert_allclose(both[0].leads, both[1].leads)
    small, large = (raw_margin(data, TuningResult(scale * weights, 0.0), 0.5) for scale in (1.0, 1000.0))
    assert large == pytest.approx(1000 * small)


def test_the_margin_can_be_cross_validated(data, start):
    tuner = tuner_with_margin(Mira(passes=5), "tuned")
    assert isinstance(tuner, WithMargin)
    assert tuner_with_margin(Mira(), 0.0) == Mira()
    again = [tuner.tune(data, start, np.random.default_rng(1)).margin for _ in range(2)]
    assert again[0] == again[1] >= 0
    kept = cross_validate(data, {"kept": WithMargin(Mira(passes=5), math.inf)}, start, FOLDS, (SEED,)).rows[0]
    assert kept.mean == pytest.approx(float(METRIC.score(data.statistics[data.table.offsets[:-1]].sum(axis=0))))


def test_expected_utilities_keep_their_unit():
    rng = np.random.default_rng(2)
    table, statistics = naive.random_data(rng, METRIC, segments=12, longest=4)
    texts = [[f"w{rng.integers(3)}" for _ in range(n)] for n in np.diff(table.offsets)]

    class Words(naive.ErrorRate):
        def pairwise(self, hypotheses):
            return np.array([[float(a != b) for b in hypotheses] for a in hypotheses])

        def statistics(self, hypotheses, references):
            flat = [float(a != b[0]) for group, b in zip(hypotheses, references, strict=True) for a in group]
            return np.array([[value, 1.0] for value in flat])

        def sentence_scores(self, statistics):
            return statistics[:, 0]

    data = prepare(table, statistics, Words(), hypotheses=texts)
    result = Mbr(weights="start").tune(data, np.ones(len(table.all_names)), rng)
    assert raw_margin(data, result, 0.25) == 0.25
