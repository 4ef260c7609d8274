"""Data made ready, start weights, runs with their record, cross-validation."""

import dataclasses
import json

import numpy as np
import pytest

from rerank_adapters.features.processes import Processes
from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.report.held_out import cross_validation_table
from rerank_adapters.tuners.mbr import Mbr
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuners.pro import Pro
from rerank_adapters.tuning.cross_validation import cross_validate
from rerank_adapters.tuning.problem import prepare, run_tuner, take_segments
from rerank_adapters.tuning.start import start_vector
from rerank_adapters.tuning.tune import provenance_of
from rerank_plugins.core.errors import ConfigError, PluginError, RerankError
from rerank_plugins.core.feature_table import FeatureTable
from rerank_plugins.core.metrics_and_tuners import Tuner, TuningResult
from tests.tuners import naive_tuners as naive

METRIC = naive.ErrorRate()


@pytest.fixture
def data():
    table, statistics = naive.random_data(np.random.default_rng(0), METRIC, segments=20, longest=12, sparse=4)
    return prepare(table, statistics, METRIC)


class Constant(Tuner):
    """Gives back what it was made with."""

    def __init__(self, weights):
        self.weights = np.array(weights, float)

    def tune(self, data, start, rng, report=lambda step: None):
        return TuningResult(self.weights, 0.0)


# --- prepare ----------------------------------------------------------------------------------------------------------


def test_constraints_go_by_name():
    table, statistics = naive.random_data(np.random.default_rng(0), METRIC, sparse=4)
    data = prepare(table, statistics, METRIC, fixed=["f1", "s2"], lower={"s0": -1.0}, upper={"f0": 2.0})
    by_name = dict(zip(table.all_names, zip(data.fixed, data.lower, data.upper, strict=True), strict=True))
    inf = np.inf
    assert by_name["f0"] == (False, -inf, 2.0)
    assert by_name["f1"] == by_name["s2"] == (True, -inf, inf)
    assert by_name["s0"] == (False, -1.0, inf)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"fixed": ["f9"]}, ConfigError, "fixed: no feature named 'f9'"),
        ({"lower": {"g": 0.0}}, ConfigError, "lower: no feature named 'g'"),
        ({"lower": {"f0": 1.0}, "upper": {"f0": 0.0}}, ConfigError, "f0: lower bound 1 and upper bound 0"),
        ({"upper": {"f0": float("nan")}}, ConfigError, "f0: lower bound -inf and upper bound nan"),
        ({"hypotheses": [["a"]]}, RerankError, "do not match the rows"),
    ],
)
def test_constraints_that_make_no_sense(change, error, words):
    table, statistics = naive.random_data(np.random.default_rng(0), METRIC)
    with pytest.raises(error, match=words):
        prepare(table, statistics, METRIC, **change)


def test_rows_that_do_not_match_and_values_that_are_not_finite():
    table, statistics = naive.random_data(np.random.default_rng(0), METRIC, sparse=3)
    with pytest.raises(RerankError, match=r"statistics of \d+ hypotheses, but \d+ rows"):
        prepare(table, statistics[1:], METRIC)
    with pytest.raises(RerankError, match="statistics of the metric contain"):
        prepare(table, statistics + np.inf, METRIC)
    values = table.values.copy()
    values[3, 1] = np.nan
    with pytest.raises(RerankError, match="feature f1 has a value"):
        prepare(dataclasses.replace(table, values=values), statistics, METRIC)
    broken = dataclasses.replace(table.sparse, data=table.sparse.data + np.inf)
    with pytest.raises(RerankError, match="a sparse feature has"):
        prepare(dataclasses.replace(table, sparse=broken), statistics, METRIC)
    with pytest.raises(RerankError, match="segment 1 has no hypotheses"):
        prepare(FeatureTable.dense(("a",), np.ones((2, 1)), [0, 2, 2]), np.ones((2, 2)), METRIC)
    with pytest.raises(RerankError, match="no segments"):
        prepare(FeatureTable.dense(("a",), np.ones((0, 1)), [0]), np.ones((0, 2)), METRIC)


def test_taking_segments_takes_all_that_belongs_to_them():
    table, statistics = naive.random_data(np.random.default_rng(0), METRIC, sparse=3)
    texts = [[f"{s}-{i}" for i in range(n)] for s, n in enumerate(np.diff(table.offsets))]
    data = take_segments(prepare(table, statistics, METRIC, hypotheses=texts), np.array([5, 2]))
    assert data.table.segment_ids == ("5", "2")
    assert list(data.hypotheses) == [texts[5], texts[2]]
    begin, end = table.offsets[5:7]
    np.testing.assert_array_equal(data.statistics[: end - begin], statistics[begin:end])


# --- start weights ----------------------------------------------------------------------------------------------------


def test_uniform_and_named_starts():
    table, _ = naive.random_data(np.random.default_rng(0), METRIC, sparse=3)
    assert start_vector(table, "uniform").tolist() == [1, 1, 1, 0, 0, 0]
    named = start_vector(table, {"f2": 3.0, "f0": 1.0, "f1": 2.0, "s1": 5.0})
    assert dict(zip(table.all_names, named, strict=True)) == {"f0": 1, "f1": 2, "f2": 3, "s0": 0, "s1": 5, "s2": 0}
    with pytest.raises(ConfigError, match="none for f1, f2"):
        start_vector(table, {"f0": 1.0})
    with pytest.raises(ConfigError, match="no feature named 'f3'"):
        start_vector(table, {"f0": 1.0, "f1": 1.0, "f2": 1.0, "f3": 1.0})
    with pytest.raises(ConfigError, match="'unifrom'"):
        start_vector(table, "unifrom")


@pytest.mark.parametrize("sparse", [0, 4])
def test_the_decoders_weights_are_found_from_its_totals(sparse):
    rng = np.random.default_rng(1)
    table, _ = naive.random_data(rng, METRIC, segments=30, features=4, sparse=sparse)
    wanted = rng.normal(size=len(table.all_names))
    wanted[1] = 0.0
    totals = np.round(table.scores(wanted), 5)
    found = start_vector(table, "decoder", totals, decoder_features=["f0", "f2", "f3"])
    np.testing.assert_allclose(found, wanted, atol=1e-3)
    assert found[1] == 0.0


def test_no_decoders_weights_without_totals_that_fit():
    rng = np.random.default_rng(1)
    table, _ = naive.random_data(rng, METRIC, segments=30)
    with pytest.raises(ConfigError, match="have no totals"):
        start_vector(table, "decoder")
    with pytest.raises(ConfigError, match="have no totals"):
        start_vector(table, "decoder", [1.0, None])
    with pytest.raises(ConfigError, match="the best ones miss a total by"):
        start_vector(table, "decoder", rng.normal(size=len(table.values)))


def test_sparse_features_that_overlap_with_dense_ones_are_fitted_too():
    """Of many weights that reproduce the totals, those are found that least squares over all columns finds."""
    rng = np.random.default_rng(2)
    table, _ = naive.random_data(rng, METRIC, segments=30, sparse=5)
    sparse = table.sparse
    full = np.hstack([table.values, np.stack([sparse.dot(unit) for unit in np.eye(len(sparse.names))], axis=1)])
    totals = full @ rng.normal(size=full.shape[1])
    found = start_vector(table, "decoder", totals)
    np.testing.assert_allclose(found, np.linalg.lstsq(full, totals, rcond=None)[0], atol=1e-8)


# --- running ----------------------------------------------------------------------------------------------------------


def test_a_record_can_be_written_and_repeats_the_run(data):
    start = start_vector(data.table, "uniform")
    tuner = Mira(passes=4, restarts=2)
    result = run_tuner(data, tuner, start, 11)
    noted = json.loads(json.dumps(provenance_of(data, tuner, start, 11, result)))
    assert noted["options"]["passes"] == 4
    assert noted["score"] == result.score
    assert noted["start"] == {"f0": 1.0, "f1": 1.0, "f2": 1.0}
    again = run_tuner(data, Mira(**noted["options"]), start_vector(data.table, noted["start"]), noted["seed"])
    np.testing.assert_array_equal(again.weights, result.weights)
    assert (run_tuner(data, tuner, start, 12).restarts != result.restarts).any()


def test_weights_that_break_the_contract_are_refused(data):
    start = start_vector(data.table, "uniform")
    size = len(start)
    with pytest.raises(ConfigError, match=f"2 values for {size} features"):
        run_tuner(data, Mira(), np.ones(2))
    with pytest.raises(ConfigError, match="f1 is not finite"):
        run_tuner(data, Mira(), np.where(np.arange(size) == 1, np.nan, start))
    with pytest.raises(
        PluginError, match=r"Constant: tune, weights: found .*, wanted a float64 array of shape \(features\)"
    ):
        run_tuner(data, Constant([1, 2]), start)
    held = dataclasses.replace(data, fixed=np.arange(size) == 0)
    with pytest.raises(PluginError, match="found 2 for the fixed feature 'f0', wanted its start value 1"):
        run_tuner(held, Constant(2 * start), start)
    with pytest.raises(ConfigError, match="f0 is fixed outside its bounds"):
        run_tuner(dataclasses.replace(held, upper=np.full(size, 0.5)), Mira(), start)


# --- cross-validation -------------------------------------------------------------------------------------------------


def test_folds_are_pooled_into_one_corpus_score(data):
    """With constant weights the held-out choices together are those on the whole set, whatever the folds."""
    weights = np.linspace(-1, 1, len(data.table.all_names))
    uniform = start_vector(data.table, "uniform")
    tuned = []
    result = cross_validate(
        data, {"constant": Constant(weights)}, uniform, folds=4, seeds=(0, 1), baselines={"equal": uniform}, processes=Processes(2),
        progress=tuned.append,
    )  # fmt: skip
    constant, equal = result.rows
    whole = naive.corpus_score(data.table, data.statistics, METRIC, weights)
    assert constant.pooled == pytest.approx((whole, whole))
    assert constant.spread == pytest.approx(0.0)
    assert equal.mean == pytest.approx(naive.corpus_score(data.table, data.statistics, METRIC, uniform))
    assert [len(scores) for scores in constant.folds] == [4, 4]
    assert result.best is min(result.rows, key=lambda row: row.mean)  # errors: lower is better
    assert sum(tuned) == 8
    assert [line["name"] for line in result.table()] == ["constant", "equal"]


def test_one_seed_has_no_spread(data):
    """A standard deviation of one value is none, and the table has no column for it."""
    uniform = start_vector(data.table, "uniform")
    result = cross_validate(data, {"constant": Constant(uniform)}, uniform, folds=2, seeds=(3,))
    assert result.rows[0].spread is None
    table = cross_validation_table(result, "errors")
    assert table.header == ("tuner", "held out", "training", "lowest fold", "highest fold")
    assert [len(row) for row in table.rows] == [5]
    assert not any("seed" in note for note in table.notes)


def test_nothing_held_out_is_seen_in_tuning(data):
    """Every training set leaves out its fold, the folds are disjoint, and together they are all segments."""
    trained = []

    class Spy(Constant):
        def tune(self, data, start, rng, report=lambda step: None):
            trained.append(set(data.table.segment_ids))
            return super().tune(data, start, rng, report)

    cross_validate(data, {"spy": Spy(np.ones(len(data.table.all_names)))}, start_vector(data.table, "uniform"), folds=3)
    everything = set(data.table.segment_ids)
    aside = [everything - seen for seen in trained]
    assert sorted(segment for fold in aside for segment in fold) == sorted(everything)
    assert [len(fold) for fold in aside] == [7, 7, 6]


def test_a_useful_feature_is_preferred_to_overfitting(data):
    table = data.table
    told = dataclasses.replace(table, values=np.column_stack([-data.statistics[:, 0], table.values[:, 1:]]))
    informed = dataclasses.replace(data, table=told)
    start = start_vector(table, "uniform")
    rows = cross_validate(
        informed, {"mira": Mira(), "pro": Pro(rounds=3, interpolation=1.0)}, start, baselines={"equal": start}
    ).rows
    assert rows[0].mean < rows[2].mean
    assert rows[1].mean < rows[2].mean


def test_mbr_takes_part_with_its_own_decision():
    metric = Bleu(tokenize="none")
    rng = np.random.default_rng(0)
    words = np.array(list("abcdefgh"))
    references = [[" ".join(rng.choice(words, 8))] for _ in range(12)]
    lists = [[" ".join(w if rng.random() > 0.4 else "x" for w in r.split()) for _ in range(6)] for (r,) in references]
    table = FeatureTable.dense(("f",), rng.normal(size=(72, 1)), np.arange(13) * 6)
    data = prepare(table, metric.statistics(lists, references), metric, hypotheses=lists)
    start = np.ones(1)
    rows = cross_validate(data, {"mbr": Mbr(scales=9)}, start, folds=3, baselines={"equal": start}).rows
    assert rows[0].mean > rows[1].mean


@pytest.mark.parametrize("folds", [1, 21])
def test_folds_that_cannot_be(data, folds):
    with pytest.raises(ConfigError, match=f"{folds} folds of 20 segments"):
        cross_validate(data, {}, start_vector(data.table, "uniform"), folds=folds)


def test_a_name_for_one_thing_only(data):
    start = start_vector(data.table, "uniform")
    with pytest.raises(ConfigError, match="called 'equal'"):
        cross_validate(data, {"equal": Mira()}, start, baselines={"equal": start})
