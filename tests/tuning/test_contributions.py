"""What families of features contribute: their share of the spread, and the held-out score without them."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from rerank_adapters import NBestList, Pipeline
from rerank_adapters.features.feature import Feature
from rerank_adapters.features.processes import Processes
from rerank_adapters.job.config import System
from rerank_adapters.report.held_out import contribution_table, is_certain
from rerank_adapters.run.run import families_together
from rerank_adapters.tuners.mert import Mert
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuning.cross_validation import cross_validate
from rerank_adapters.tuning.families import Trials, contributions, families_of, fast_tuner
from rerank_adapters.tuning.problem import prepare
from rerank_adapters.weights import read_weights
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.feature_table import FeatureTable
from rerank_plugins.lists.length import LengthFeature
from tests.command_line import done, one_line, rerank
from tests.tuners import naive_tuners as naive

METRIC = naive.ErrorRate()
FAMILIES = {"first": ["f0"], "second": ["f1", "f2"], "sparse": ["s0", "s1", "s2", "s3"]}


@pytest.fixture
def data():
    table, statistics = naive.random_data(np.random.default_rng(0), METRIC, segments=20, longest=12, sparse=4)
    return prepare(table, statistics, METRIC)


def measured(data, weights, folds=4, **options):
    trials = Trials(data, FAMILIES, Mira(passes=5), np.ones_like(weights), folds, (2,), **options)
    return contributions(trials, weights)


def test_spread_is_the_standard_deviation_within_lists(data):
    weights = np.arange(1.0, len(data.table.all_names) + 1)
    result = measured(data, weights)
    position = {name: i for i, name in enumerate(data.table.all_names)}

    def naive_spread(names):
        squares = []
        for begin, end in zip(data.table.offsets, data.table.offsets[1:], strict=False):
            sums = []
            for row in range(begin, end):
                dense = dict(zip(data.table.names, data.table.values[row], strict=True))
                block = data.table.sparse
                sparse = {block.names[block.indices[i]]: block.data[i] for i in range(*block.indptr[row : row + 2])}
                values = {**dense, **sparse}
                sums.append(sum(weights[position[name]] * values.get(name, 0.0) for name in names))
            squares += [(value - np.mean(sums)) ** 2 for value in sums]
        return np.sqrt(np.mean(squares))

    whole = naive_spread(data.table.all_names)
    for row in result.rows:
        assert row.features == len(FAMILIES[row.family])
        assert row.spread == pytest.approx(naive_spread(FAMILIES[row.family]) / whole)


def test_families_that_cancel_out_have_their_own_spread(data):
    """The whole has no spread then of which theirs could be a part."""
    values = data.table.values[:, :1] * [1.0, -1.0]
    table = FeatureTable.dense(["f0", "f1"], values, data.table.offsets)
    families = {"first": ["f0"], "second": ["f1"]}
    both = prepare(table, data.statistics, METRIC)
    result = contributions(Trials(both, families, Mira(passes=1), np.ones(2), 2, (2,)), np.ones(2))
    squares = np.concatenate([(part - part.mean()) ** 2 for part in np.split(values[:, 0], table.offsets[1:-1])])
    assert [row.spread for row in result.rows] == pytest.approx([np.sqrt(squares.mean())] * 2)


def test_the_loss_is_that_of_tuning_without_the_family(data):
    """The same as cross-validation on a table in which the family's features are zero and its weights are fixed."""
    weights = np.ones(len(data.table.all_names))
    result = measured(data, weights, processes=Processes(2))
    tuner = {"mira": Mira(passes=5)}
    assert result.held_out == cross_validate(data, tuner, weights, 4, [2]).rows[0].mean
    for row in result.rows:
        names = FAMILIES[row.family]
        without = prepare(data.table, data.statistics, METRIC, fixed=names)
        start = np.array([0.0 if name in names else 1.0 for name in data.table.all_names])
        alone = cross_validate(without, tuner, start, 4, [2]).rows[0].mean
        assert row.score == alone
        assert row.gain.value == pytest.approx(alone - result.held_out)  # an error rate: lower is better
    assert any(row.gain.value != 0 for row in result.rows)


def test_families_that_stand_in_for_each_other_are_judged_together(data):
    """Two copies of the only feature that tells hypotheses apart: neither is missed alone, and both are."""
    values = data.table.values.copy()
    values[:, 0] = values[:, 1] = -data.statistics[:, 0]
    values[:, 2] = np.random.default_rng(1).normal(size=len(values))
    table = FeatureTable.dense(data.table.names, values, data.table.offsets)
    copies = {"one": ["f0"], "other": ["f1"], "rest": ["f2"]}
    both = {"both": ["one", "other"]}
    copied = prepare(table, data.statistics, METRIC)
    result = contributions(Trials(copied, copies, Mira(passes=5), np.ones(3), 4, (2,)), np.ones(3), both)
    rows = {row.family: row for row in result.rows}
    assert not is_certain(rows["one"])
    assert not is_certain(rows["other"])
    assert is_certain(rows["both"])
    assert rows["both"].gain.value > 0
    assert rows["both"].features == 2
    without = prepare(table, data.statistics, METRIC, fixed=["f0", "f1"])
    alone = cross_validate(without, {"mira": Mira(passes=5)}, np.array([0.0, 0.0, 1.0]), 4, [2]).rows[0].mean
    assert rows["both"].score == alone


def test_the_features_that_a_system_leaves_out_are_judged_together():
    systems = [System(name="without syntax", without=["a", "b"]), System(name="plain", without=["a", "b", "c"])]
    labels = ["a", "c", "b"]
    together = {"all of syntax": ["a", "b"], "all that 'plain' lacks": labels}
    assert families_together(systems, labels) == together
    assert families_together([System(name="without a", without=["a"])], labels) == {}


def test_too_many_folds_are_refused(data):
    with pytest.raises(ConfigError, match="21 folds of 20 segments"):
        measured(data, np.ones(len(data.table.all_names)), folds=21)


def test_the_greatest_loss_comes_first(data):
    table = contribution_table(measured(data, np.ones(len(data.table.all_names))), "error rate")
    losses = [float(row[-1].partition(" ")[0]) for row in table.rows]
    assert losses == sorted(losses, reverse=True)


CONFIG = """
[tune]
nbest = ["lists"]
references = ["references"]
[[test]]
nbest = ["lists"]
references = ["references"]
[tuner]
use = "mira"
passes = 3
[tuning.lower]
"words" = 0.0
[evaluation]
bootstrap = 20
randomisation = 20
contribution_folds = 2
[[metric]]
use = "bleu"
tokenize = "none"
[[feature]]
use = "length"
label = "words"
[[feature]]
use = "reciprocal-rank"
[[system]]
name = "by rank alone"
without = ["words"]
"""


@pytest.fixture
def config(four_lists):
    (four_lists / "job.toml").write_text(CONFIG)
    return four_lists / "job.toml"


def test_a_system_leaves_features_out(config, tmp_path):
    work = tmp_path / "work"
    ran = done("run", config, "--work", work)
    assert "Contribution of each family: bleu" in ran.out
    assert json.loads((work / "contributions.json").read_text())["folds"] == 2
    assert "over by rank alone" in ran.out
    assert [line.split("│")[1].strip() for line in ran.out.splitlines() if "by rank alone" in line and "│" in line]
    left_out = (work / "weights.by-rank-alone.toml").read_text()
    assert "words" not in left_out.partition("[provenance")[0]
    assert "words" in (work / "weights.toml").read_text()
    assert "by rank alone: bleu on the tuning set" in ran.err
    applied = done("apply", tmp_path / "lists", "-w", work / "weights.by-rank-alone.toml", "-o", tmp_path / "best")
    assert "1-bests" in applied.err


def test_a_system_without_any_feature_has_those_of_the_decoder(config, tmp_path):
    config.write_text(CONFIG.replace('without = ["words"]', 'without = ["words", "reciprocal-rank"]'))
    done("run", config, "--work", tmp_path / "work")
    assert set(read_weights(tmp_path / "work" / "weights.by-rank-alone.toml").dense) == {"LM"}
    assert set(read_weights(tmp_path / "work" / "weights.toml").dense) == {"LM", "words", "reciprocal-rank"}
    lists = (tmp_path / "lists").read_text()
    (tmp_path / "lists").write_text(re.sub(r"LM= \S+", "", lists))
    done("check", config)
    done("run", config, "--work", tmp_path / "totals")
    assert set(read_weights(tmp_path / "totals" / "weights.by-rank-alone.toml").dense) == {"score"}
    (tmp_path / "lists").write_text(re.sub(r"LM= \S+ \|\|\| \S+", "", lists))
    done("check", config)
    done("run", config, "--work", tmp_path / "ranks")
    assert set(read_weights(tmp_path / "ranks" / "weights.by-rank-alone.toml").dense) == {"reciprocal-rank"}


def test_lists_without_any_feature_are_not_tuned():
    lists = [NBestList.from_texts(["so is it", "so it is"], scores=[-1.0, -2.0])] * 4
    with pytest.raises(ConfigError, match="there is no feature to tune"):
        Pipeline([]).fit(lists, ["so it is"] * 4)


def test_what_is_judged_together_is_measured_again_when_a_system_changes(config, tmp_path):
    work = tmp_path / "work"
    assert "all that" not in done("run", config, "--work", work).out
    config.write_text(CONFIG.replace('without = ["words"]', 'without = ["words", "reciprocal-rank"]'))
    assert "all that 'by rank alone' lacks" in done("run", config, "--work", work).out


def test_a_system_has_a_tuner_and_a_decision_of_its_own(config, tmp_path):
    own = """tuner = { use = "mbr", weights = "start", scales = 3, evidence = 2 }
[system.tuning]
start = { LM = 1.0, words = 0.0, reciprocal-rank = 0.0 }
"""
    config.write_text(CONFIG.replace('without = ["words"]\n', own).replace("by rank alone", "mbr"))
    assert done("check", config).code == 0
    work = tmp_path / "work"
    ran = done("run", config, "--work", work)
    assert "over mbr" in ran.out
    chosen, main = read_weights(work / "weights.mbr.toml"), read_weights(work / "weights.toml")
    assert (chosen.decision, chosen.evidence, main.decision) == ("mbr", 2, "map")
    assert chosen.dense == {"LM": 1.0, "words": 0.0, "reciprocal-rank": 0.0}
    assert main.provenance["tuner"].endswith(".Mira")
    best = done("apply", tmp_path / "lists", "-w", work / "weights.mbr.toml").out
    assert (work / "test.mbr.1best").read_text() == best
    assert "up to date" in done("run", config, "--work", work).err
    config.write_text(config.read_text().replace("scales = 3", "scales = 5"))
    again = done("run", config, "--work", work).err
    assert re.search("not made again: .*weights, ", again)
    assert "weights mbr" not in again


def test_check_validates_the_systems(config):
    config.write_text(CONFIG.replace('without = ["words"]', 'tuning = {fixed = ["wrods"]}'))
    assert "[[system]] by rank alone" in rerank("check", config).out
    config.write_text(CONFIG.replace('without = ["words"]', 'without = ["wrods"]'))
    assert "no feature labelled 'wrods'" in rerank("check", config).out


def test_no_folds_leave_the_table_out(config, tmp_path):
    config.write_text(CONFIG.replace("contribution_folds = 2", "contribution_folds = 0"))
    assert "Contribution of each family" not in done("run", config, "--work", tmp_path / "work").out


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('without = ["words"]', 'without = ["wrods"]', "[[system]] 1: without: no feature labelled 'wrods'; did you"),
        ('name = "by rank alone"', 'name = "reranked"', "[[system]] 1: another row of the report is called 'reranked'"),
        (
            'without = ["words"]',
            'without = ["words"]\n[[system]]\nname = "by-rank-alone"\nwithout = ["words"]',
            "[[system]] 2: the files of 'by-rank-alone' and 'by rank alone' would have the same names; give it its own",
        ),
        ('without = ["words"]', "", "[[system]] 1: it is the reranked system; wanted `without`, `tuner` or `tuning`"),
        (
            'without = ["words"]',
            'tuner = {use = "mbr", scals = 2}',
            "[[system]] 1: tuner: mbr has no option 'scals'; did",
        ),
        ('without = ["words"]', "tuning = {strat = 1}", "unknown key 'system.0.tuning.strat'; did you mean 'start'?"),
        ('without = ["words"]', 'tuning = {fixed = ["wrods"]}', "'wrods'"),
        ('without = ["words"]', 'without = ["words"]\nwith = 1', "unknown key 'system.0.with'"),
    ],
)
def test_a_wrong_system_is_refused(config, tmp_path, old, new, message):
    config.write_text(CONFIG.replace(old, new))
    assert message in one_line(rerank("run", config, "--work", tmp_path / "work"), 2, after=True)
    assert not (tmp_path / "work").exists()


def test_decoder_features_are_a_family_of_their_own():
    table = FeatureTable.dense(["LM0", "length"], np.zeros((1, 2)), [0, 1])
    assert families_of(table, [Feature("length", LengthFeature())]) == {"decoder": ["LM0"], "length": ["length"]}


def test_families_are_measured_by_a_tuner_that_can_be_quick():
    class Patient(Mira):
        def quick(self):
            return replace(self, passes=2)

    assert fast_tuner(Patient(passes=90)) == Patient(passes=2)
    assert fast_tuner(Mira(passes=9, bags=5)) == Mira(passes=9)
    assert fast_tuner(Mert()) == Mira()
