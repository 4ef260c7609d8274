"""Which families of features are kept: the path of forward selection, the rule that ends it, and what weights record."""

import dataclasses
import itertools
import tomllib

import numpy as np
import pytest

from rerank_adapters.features.processes import Processes
from rerank_adapters.report.held_out import selection_table
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuning.cross_validation import cross_validate
from rerank_adapters.tuning.families import standard_error
from rerank_adapters.tuning.held_out import held_out as choices_of
from rerank_adapters.tuning.problem import prepare
from rerank_adapters.tuning.selection import ROUNDS_WITHOUT_GAIN, Selecting
from rerank_plugins.core.errors import ConfigError
from tests.command_line import done
from tests.tuners import naive_tuners as naive

METRIC = naive.ErrorRate()
FAMILIES = {"base": ["f0"], "good": ["f1", "f2"], "noise": ["f3"], "more noise": ["f4"], "better": ["f5"]}
TUNER = Mira(passes=2)


@pytest.fixture(scope="module")
def data():
    table, statistics = naive.random_data(np.random.default_rng(0), METRIC, segments=24, longest=12, features=6)
    errors = 4 - table.values[:, 1] - 2 * table.values[:, 5] + np.random.default_rng(1).normal(size=len(statistics))
    statistics[:, 0] = np.clip(np.round(errors), 0, 9)
    return prepare(table, statistics, METRIC)


def select_families(data, families, *, seed=1, **settings):
    """The selection by MIRA from equal weights."""
    return Selecting(TUNER, TUNER, families, **settings).select(data, np.ones(6), seed)


def held_out(data, kept):
    """The held-out score of these families, from a table in which the weights of all others are fixed at 0."""
    names = [name for family, names in FAMILIES.items() if family not in kept for name in names]
    reduced = prepare(data.table, data.statistics, METRIC, fixed=names)
    start = np.array([0.0 if name in names else 1.0 for name in data.table.names])
    return cross_validate(reduced, {"mira": TUNER}, start, 3, [3]).rows[0].mean


def test_each_round_adds_the_best_family(data):
    result = select_families(data, FAMILIES, always=["base"], folds=3, seed=3, margin=0.0, processes=Processes(2))
    kept, left = ["base"], ["good", "noise", "more noise", "better"]
    assert result.steps[0].held_out == held_out(data, kept)
    for step in result.steps[1:3]:
        scores = {family: held_out(data, [*kept, family]) for family in left}
        assert step.family == min(scores, key=scores.get)
        assert step.held_out == scores[step.family]
        kept.append(step.family)
        left.remove(step.family)
    best = min(result.steps, key=lambda step: step.held_out)
    assert result.kept == 1 + result.steps.index(best)
    assert result.families[-1] == best.family
    assert set(result.families) | set(result.left_out) == set(FAMILIES)
    assert [step.behind for step in result.steps] == pytest.approx([s.held_out - best.held_out for s in result.steps])
    assert best.error == 0


def test_a_margin_keeps_fewer(data):
    kept = []
    for margin in (0.0, 1.0, 1e9):
        result = select_families(data, FAMILIES, always=["base"], folds=3, seed=3, margin=margin)
        kept.append(len(result.families))
        first = next(i for i, step in enumerate(result.steps) if step.behind <= margin * step.error)
        assert result.kept == first + 1
    assert kept[0] >= kept[1] >= kept[2] == 1
    assert {"good", "better"} <= set(result.left_out)
    assert "better" in select_families(data, FAMILIES, always=["base"], folds=3, seed=3).families


def test_the_search_ends_where_nothing_is_gained(data):
    statistics = np.ones_like(data.statistics)  # whatever is chosen, the score is the same
    families = {f"{i}": [f"f{i}"] for i in range(6)}
    result = select_families(dataclasses.replace(data, statistics=statistics), families, folds=2)
    assert len(result.steps) == 1 + ROUNDS_WITHOUT_GAIN
    assert result.families == ("0",)  # without which nothing would be left to choose by
    assert result.left_out == ("1", "2", "3", "4", "5")
    others = select_families(dataclasses.replace(data, statistics=statistics), {"0": ["f0"]}, folds=2)
    assert others.families == ()


def test_the_standard_error_is_that_of_the_bootstrap():
    rng = np.random.default_rng(0)
    metric = naive.FScore()
    one = rng.integers(2, 9, (300, 3)).astype(float)
    other = one + rng.integers(-1, 2, (300, 3))
    samples = rng.integers(0, 300, (2000, 300))
    differences = [metric.score(one[s].sum(0)) - metric.score(other[s].sum(0)) for s in samples]
    assert standard_error(metric, one, other) == pytest.approx(np.std(differences), rel=0.06)
    assert standard_error(metric, one, one) == 0
    assert standard_error(metric, one[:1], other[:1]) == 0


@dataclasses.dataclass
class Remembering(Selecting):
    """Keeps its selections by the ids of the segments that they were made on."""

    selections: dict = dataclasses.field(default_factory=dict)

    def select(self, data, start, *args):
        self.selections[data.table.segment_ids] = selection = super().select(data, start, *args)
        return selection


def test_a_selection_is_made_on_the_folds_that_are_tuned_on(data):
    options = {"always": ["base"], "folds": 3}
    tuner = Remembering(TUNER, TUNER, FAMILIES, **options)
    held = choices_of(data, tuner, np.ones(6), 2, 5)
    for number in range(2):
        ids = tuple(str(s) for s in np.flatnonzero(held.fold != number))
        selection = tuner.selections[ids]
        assert selection.left_out
        assert "better" in selection.families
    assert len(tuner.selections) == 2


def test_what_is_left_out_gets_weight_0(data):
    tuner = Remembering(TUNER, TUNER, FAMILIES, ["base"], 3)
    weights = tuner.tune(data, np.ones(6), np.random.default_rng(1)).weights
    (selection,) = tuner.selections.values()
    left_out = [name for family in selection.left_out for name in FAMILIES[family]]
    assert left_out
    assert {name for name, weight in zip(data.table.names, weights, strict=True) if weight == 0} == set(left_out)


def test_too_many_folds_are_refused(data):
    with pytest.raises(ConfigError, match="25 folds of 24 segments"):
        select_families(data, FAMILIES, folds=25)


def test_the_table_says_what_is_kept(data):
    result = select_families(data, FAMILIES, always=["base"], folds=3, seed=3)
    table = selection_table(result, "errors")
    assert [row[0] for row in table.rows] == ["base", *(f"+ {step.family}" for step in result.steps[1:])]
    marks = [row[-1] for row in table.rows]
    assert marks == ["kept"] * result.kept + ["left out"] * (len(marks) - result.kept)
    assert sum(row[2] == "best" for row in table.rows) == 1


CONFIG = """
jobs = 1
[tune]
nbest = ["lists"]
references = ["references"]
[[test]]
nbest = ["lists"]
references = ["references"]
[tuner]
use = "mira"
passes = 3
[tuning]
select = true
select_folds = 2
lower = {rank = 0.0}
[evaluation]
bootstrap = 0
randomisation = 0
contribution_folds = 2
[[metric]]
use = "bleu"
tokenize = "none"
[[feature]]
use = "length"
label = "words"
[[feature]]
use = "reciprocal-rank"
label = "rank"
"""


@pytest.fixture
def config(tmp_path):
    """Lists in which the longest hypothesis is the best."""
    lists = [("a b d", -1.0), ("a b d e f", -2.0), ("a c", -3.0)]
    (tmp_path / "lists").write_text(
        "".join(
            f"{s} ||| {text} ||| LM= {score} ||| {score}\n" for s, (text, score) in itertools.product(range(6), lists)
        )
    )
    (tmp_path / "references").write_text("a b d e f\n" * 6)
    (tmp_path / "job.toml").write_text(CONFIG)
    return tmp_path / "job.toml"


def test_weights_ask_for_the_features_kept_alone(config, tmp_path):
    work = tmp_path / "work"
    said = done("run", config, "--work", work).err
    assert "left out: rank" in said
    weights = tomllib.loads((work / "weights.toml").read_text())
    assert list(weights["dense"]) == ["LM", "words"]
    assert [table["use"] for table in weights["provenance"]["job"]["feature"]] == ["length"]
    steps = weights["provenance"]["selection"]["steps"]
    assert [step["family"] for step in steps][:2] == ["", "words"]
    assert (work / "test.1best").read_text() == "a b d e f\n" * 6
    assert "words" in done("explain", "0", "-c", config, "--work", work).out
    said = done("tune", tmp_path / "lists", "-r", tmp_path / "references", "-c", config, "-o", tmp_path / "w.toml").err
    assert "Selection of features" in said
    best = done("apply", tmp_path / "lists", "-w", tmp_path / "w.toml").out
    assert best == "a b d e f\n" * 6
    held_out = done("cross-validate", tmp_path / "lists", "-r", tmp_path / "references", "-c", config, "-t", "mira,passes=2", "--folds", "2", "--seeds", "1").out  # fmt: skip
    assert "mira,passes=2" in held_out


def test_what_a_selection_leaves_out_of_a_system_s_features_is_not_judged_with_the_others(config, tmp_path):
    config.write_text(CONFIG + '[[system]]\nname = "decoder alone"\nwithout = ["words", "rank"]\n')
    said = done("run", config, "--work", tmp_path / "work")
    assert "left out: rank" in said.err
    assert "Contribution of each family" in said.out
    assert "all that" not in said.out
