"""Ablation: gains and their tests against `evaluate`, weights and correlations against loops, and the command."""

import json
from itertools import pairwise

import numpy as np
import pytest

from rerank_adapters.evaluation import Resampling, evaluate
from rerank_adapters.evaluation.comparisons import paired_gains
from rerank_adapters.evaluation.significance import holm
from rerank_adapters.features.processes import Processes
from rerank_adapters.job.config import EvaluationSettings
from rerank_adapters.report.ablation import ablation_records, ablation_tables
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuners.within_lists import correlations_within_lists
from rerank_adapters.tuning.ablation import PARTS, ablate, trials_needed
from rerank_adapters.tuning.families import Trials, contributions
from rerank_adapters.tuning.problem import prepare, take_segments
from rerank_adapters.tuning.weight_intervals import resampled_weights, standardised
from tests.command_line import done, refused
from tests.tuners import naive_tuners as naive

METRIC = naive.ErrorRate()
TUNER = Mira(passes=2)
FAMILIES = {"first": ["f0", "f1"], "second": ["f2"], "sparse": ["s0", "s1", "s2", "s3"]}


@pytest.fixture(scope="module")
def data():
    table, statistics = naive.random_data(np.random.default_rng(3), METRIC, segments=20, longest=8, sparse=4)
    return prepare(table, statistics, METRIC)


@pytest.fixture(scope="module")
def ablation(data):
    tuned = []
    trials = Trials(data, FAMILIES, TUNER, np.ones(7), 4, (1,), progress=tuned.append)
    settings = EvaluationSettings(bootstrap=50, randomisation=60)
    result = ablate(trials, ["first"], PARTS, settings, samples=6, seed=1)
    assert sum(tuned) <= 4 * trials_needed(3, 1, PARTS) + 1 + 6
    return result


@pytest.mark.parametrize("metric", [METRIC, naive.FScore()])
def test_gains_are_those_of_an_evaluation(metric):
    rng = np.random.default_rng(1)
    texts = {name: [" ".join(map(str, rng.integers(3, 9, metric.width))) for _ in range(25)] for name in "abc"}
    for outputs in texts.values():
        outputs[:5] = texts["a"][:5]
    evaluation = evaluate(
        texts, [["1"]] * 25, {"m": metric}, Resampling(bootstrap=100, randomisation=80, seed=4), baseline="b"
    )
    choices = [metric.statistics([outputs], [["1"]]) for outputs in texts.values()]
    gains = paired_gains(choices, [(0, 1), (2, 1)], metric, Resampling(100, 80, 4))
    for gain, system in zip(gains, "ac", strict=True):
        comparison = evaluation.metrics[0].of(system).comparison
        sign = 1 if metric.higher_is_better else -1
        assert gain.value == pytest.approx(sign * comparison.difference)
        assert sorted(sign * x for x in gain.interval) == pytest.approx(comparison.interval)
        assert gain.p == comparison.randomisation_p
    assert paired_gains(choices, [], metric) == []
    untested = paired_gains(choices, [(0, 1)], metric, Resampling(0, 0))[0]
    assert (untested.interval, untested.p) == (None, None)


def test_losses_are_the_contributions(data, ablation):
    expected = contributions(Trials(data, FAMILIES, TUNER, np.ones(7), 4, (1,)), np.ones(7))
    assert ablation.whole == expected.held_out
    for trial, row in zip(ablation.trials["left-out"], expected.rows, strict=True):
        assert (trial.family, trial.features, trial.score) == (row.family, row.features, row.score)
        assert trial.gain.value == pytest.approx(row.gain.value)
        assert trial.gain.interval.low <= trial.gain.interval.high
    assert [t.holm for t in ablation.trials["left-out"]] == holm(
        [t.gain.p for t in ablation.trials["left-out"]]
    ).tolist()


def test_added_and_selected(ablation):
    assert [trial.family for trial in ablation.trials["added"]] == ["second", "sparse"]
    for trial in ablation.trials["added"]:
        assert trial.gain.value == pytest.approx(ablation.base - trial.score)  # an error rate
    best = min(ablation.trials["added"], key=lambda trial: trial.score)
    assert (ablation.trials["selection"][0].family, ablation.trials["selection"][0].score) == (best.family, best.score)
    assert ablation.trials["selection"][-1].score == ablation.whole
    gains = sum(trial.gain.value for trial in ablation.trials["selection"])
    assert gains == pytest.approx(ablation.base - ablation.whole)


@pytest.mark.parametrize(
    ("parts", "sets"),
    [
        (("left-out",), ["abcde", "ab", "bcde", "acde", "abde", "abce", "abcd"]),
        (("added",), ["abcde", "ab", "abc", "abd", "abe"]),
        (("selection",), ["abcde", "ab", "abc", "abd", "abe", "abcd", "abce", "abcde"]),
        (("added", "selection"), ["abcde", "ab", "abc", "abd", "abe", "abcd", "abce", "abcde"]),
        (("correlations",), ["abcde", "ab"]),
    ],
)
def test_the_trials_that_are_needed_are_those_of_all_sets_that_may_be_tried(parts, sets):
    """Of five families, to two of which the others are added; c is selected first, then d, then e."""
    assert trials_needed(5, 2, parts) == len(sets)


def test_resampled_weights_are_those_of_drawn_segments(data):
    told = []
    resampled = resampled_weights(data, TUNER, np.ones(7), 3, 5, Processes(2), told.append)
    assert sum(told) == 3
    for number, weights in enumerate(resampled):
        rng = np.random.default_rng([5, number])
        drawn = take_segments(data, rng.integers(0, 20, 20))
        assert (weights == TUNER.tune(drawn, np.ones(7), rng).weights).all()
    assert resampled_weights(data, TUNER, np.ones(7), 0, 5).shape == (0, 7)


def centred_in_python(values, offsets):
    return [v - np.mean(values[i:j]) for i, j in pairwise(offsets) for v in values[i:j]]


def test_shares_and_correlations(data):
    table = data.table
    weights = np.arange(1.0, 8.0)
    columns = [centred_in_python(column, table.offsets) for column in table.values.T]
    whole = np.std(centred_in_python(table.scores(weights), table.offsets))
    expected = [w * np.std(c) / whole for w, c in zip(weights, columns, strict=False)]
    assert standardised(table, weights) == pytest.approx(expected)
    assert standardised(table, np.stack([weights, 2 * weights]))[1] == pytest.approx(expected)
    assert (standardised(table, np.zeros(7)) == 0).all()
    constant = np.column_stack([table.values, np.repeat(np.arange(20) / 7, np.diff(table.offsets))])
    r = correlations_within_lists(constant, table.offsets)
    assert r[:3, :3] == pytest.approx(np.corrcoef(columns))
    assert np.isnan([r[3], r[:, 3]]).all()


def test_the_report_holds_all_parts(ablation):
    tables = ablation_tables(ablation, "errors")
    titles = [table.title for table in tables]
    assert [title.split(":")[0] for title in titles] == [
        *("Correlations of families", "Most correlated features", "Weights tuned on all lists"),
        *("Each family left out", "Each family added to first", "Forward selection"),
    ]
    for table in tables:
        assert all(len(row) == len(table.header) for row in table.rows)
    losses = [float(row[3]) for row in tables[3].rows]
    assert losses == sorted(losses, reverse=True)
    assert [row[0].removesuffix(" *") for row in tables[5].rows[1:]] == [
        f"+ {t.family}" for t in ablation.trials["selection"]
    ]
    records = list(ablation_records(ablation, "errors"))
    parts = ["whole", "base", *["left-out"] * 3, *["added"] * 2, *["selection"] * 2, *["weight"] * 3]
    assert [r["part"] for r in records] == [*parts, *["correlation of families"] * 3, *["correlation of features"] * 3]
    json.dumps(records, allow_nan=False)


CONFIG = """
[tune]
nbest = ["lists"]
references = ["references"]
[tuner]
use = "mira"
passes = 2
[evaluation]
bootstrap = 20
randomisation = 20
[[metric]]
use = "wer"
[[feature]]
use = "length"
"""


@pytest.fixture
def config(four_lists):
    (four_lists / "job.toml").write_text(CONFIG)
    return four_lists / "job.toml"


def test_command_on_a_config_and_on_lists(config, tmp_path):
    options = ["--folds", 2]
    ran = done("ablate", config, *options)
    assert "Each family added to decoder: wer" in ran.out
    assert "compared 2 families of features on 2 folds" in ran.err
    assert max(map(len, ran.out.splitlines())) <= 80
    lists = [tmp_path / "lists", "-r", tmp_path / "references", "-m", "wer", "-f", "length", "-t", "mira,passes=2"]
    records = json.loads(done("ablate", *lists, *options, "--as", "json", "--base", "none").out)
    assert {r["family"] for r in records if r["part"] == "added"} == {"decoder", "length"}
    alone = done("ablate", config, *options, "--part", "weights", "--by", "feature", "--as", "tsv").out
    assert {line.split("\t")[0] for line in alone.splitlines()[1:]} == {"whole", "base", "weight"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["job.toml", "-r", "references"], "job.toml names lists, references and source: give no -r or --source"),
        (["lists"], "the lists need references: give -r, or name a CONFIG instead of lists"),
        (["job.toml", "--base", "lenght"], "--base: no family named 'lenght'; did you mean 'length'?"),
        (["lists", "-r", "references"], "there is nothing to compare: 1 family of features"),
    ],
)
def test_wrong_arguments(config, monkeypatch, arguments, message):
    monkeypatch.chdir(config.parent)
    assert message in refused("ablate", *arguments)
