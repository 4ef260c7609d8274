"""Throughput of each tuner in hypotheses per second, and MERT's line search against the same in plain Python."""

import numpy as np
import pytest

from rerank_adapters.tuners.expected_risk import ExpectedRisk
from rerank_adapters.tuners.line_search import metric_on_line
from rerank_adapters.tuners.mbr_decision import expected_utilities
from rerank_adapters.tuners.mert import Mert
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuners.pro import Pro
from rerank_adapters.tuning.problem import prepare, run_tuner
from rerank_plugins.core.feature_table import FeatureTable
from tests.bench.timing import seconds
from tests.tuners import naive_tuners as naive

SEGMENTS, SIZE, FEATURES = 200, 100, 10


@pytest.fixture(scope="module")
def data():
    """Lists where the features, together and under noise, tell how many of 20 words are right."""
    rng = np.random.default_rng(0)
    rows = SEGMENTS * SIZE
    values = rng.normal(size=(rows, FEATURES))
    quality = values @ rng.normal(size=FEATURES) + 3 * rng.normal(size=rows)
    right = rng.binomial(20, 1 / (1 + np.exp(-0.3 * quality))).astype(float)
    statistics = np.stack([right, np.full(rows, 20.0), np.full(rows, 20.0)], axis=1)
    table = FeatureTable.dense([f"f{i}" for i in range(FEATURES)], values, np.arange(SEGMENTS + 1) * SIZE)
    return prepare(table, statistics, naive.FScore())


def test_line_search_against_plain_python(benchmark, data):
    values, offsets = data.table.values, data.table.offsets
    scores, slopes = values @ np.linspace(-1, 1, FEATURES), values[:, 0].copy()
    line = (scores, slopes, offsets, data.statistics, data.metric, -4.0, 4.0)
    metric_on_line(*line)  # compiled
    benchmark(metric_on_line, *line)
    slow = seconds(lambda: naive.line_search_in_python(*line))
    ratio = slow / seconds(lambda: metric_on_line(*line), 10)
    benchmark.extra_info["times as fast as plain Python"] = round(ratio)
    benchmark.extra_info["million hypotheses"] = len(values) / 1e6
    assert ratio > 30


@pytest.mark.parametrize(
    "tuner",
    [Mert(restarts=2), Mira(passes=10), Pro(rounds=2), ExpectedRisk(stages=2, quenching=0)],
    ids=["mert", "mira", "pro", "expected-risk"],
)
def test_throughput(benchmark, data, tuner):
    start = np.ones(FEATURES)
    result = run_tuner(data, tuner, start)  # compiled
    benchmark.pedantic(run_tuner, (data, tuner, start), rounds=3)
    visits = len(data.table.values) * len(result.trace)
    benchmark.extra_info["hypotheses visited per run, in iterations"] = visits
    before = naive.corpus_score(data.table, data.statistics, data.metric, start)
    assert result.score > before + 5


def test_one_pass_of_mira_against_plain_python(benchmark, data):
    """The twin visits 40 lists, the kernel all."""
    few, start = 40, np.ones(FEATURES)
    tuner = Mira(passes=1)
    run_tuner(data, tuner, start)
    benchmark(run_tuner, data, tuner, start)
    slope = np.array([1.0, -0.5, -0.5])

    def slow():
        naive.batch_mira(
            data.table.values, np.zeros(len(data.statistics)), data.table.offsets, data.statistics,
            lambda totals: slope, [range(few)], 50, 0.01, 0.999, start, data.statistics.mean(axis=0),
        )  # fmt: skip

    ratio = seconds(slow) * SEGMENTS / few / seconds(lambda: run_tuner(data, tuner, start), 5)
    benchmark.extra_info["times as fast as plain Python"] = round(ratio)
    assert ratio > 5


def test_mbr_decision_against_the_double_loop(benchmark):
    rng = np.random.default_rng(0)
    scores, utility = rng.normal(size=100), rng.random((100, 100))
    texts = list(range(100))
    benchmark(expected_utilities, scores, utility, 0.5)
    slow = seconds(lambda: naive.mbr_choice(scores.tolist(), texts, lambda i, j: utility[i, j], 0.5))
    ratio = slow / seconds(lambda: expected_utilities(scores, utility, 0.5), 10)
    benchmark.extra_info["times as fast as the double loop"] = round(ratio)
    assert ratio > 10


def test_a_thousand_lists_of_a_thousand_in_two_gigabytes(benchmark):
    """MERT on 1,000 x 1,000 hypotheses with 20 features: what it adds to memory stays small.

    Restarts are made one after the other: the usual 20 need the memory of these two.
    """
    import resource

    rng = np.random.default_rng(0)
    values = rng.normal(size=(1_000_000, 20))
    quality = values @ rng.normal(size=20) + 4 * rng.normal(size=1_000_000)
    right = np.round(20 / (1 + np.exp(-0.3 * quality)))
    statistics = np.stack([right, np.full(len(right), 20.0), np.full(len(right), 20.0)], axis=1)
    table = FeatureTable.dense([f"f{i}" for i in range(20)], values, np.arange(1001) * 1000)
    big = prepare(table, statistics, naive.FScore())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = benchmark.pedantic(run_tuner, (big, Mert(restarts=2), np.ones(20)), rounds=1)
    gigabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e6
    benchmark.extra_info["gigabytes added"] = round(gigabytes, 2)
    assert gigabytes < 1.5
    assert result.score > naive.corpus_score(table, statistics, big.metric, np.ones(20)) + 5
