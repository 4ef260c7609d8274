"""Boosted trees: their arrays, their file beside the weights, what they learn, and the commands that use them."""

import dataclasses
import itertools
import json
import sys

import numpy as np
import pytest

from rerank_adapters.analysis.contributions import from_json
from rerank_adapters.chain.tuning import held_out_score, prepare, tune
from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.report.tables import contribution_table
from rerank_adapters.tuners.boosted import Boosted, _drawn
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuners.trees import Trees, joined, shapley_values, standardised_in_lists, tree_lead
from rerank_adapters.weights import Weights, read_weights, trees_file, write_weights
from rerank_plugins.core.errors import ConfigError, FormatError, ModelError, PluginError
from rerank_plugins.core.metrics_and_tuners import Scorer, TuningResult
from rerank_plugins.testing import check_tuner
from tests.command_line import done, refused
from tests.tuners import naive_tuners as naive

pytest.importorskip("sklearn", reason="boosted trees need the extra ml")

METRIC = naive.ErrorRate()
TREES = joined(
    ("f0", "f1"),
    [
        {
            "feature": np.array([1, 0, 0]),
            "threshold": np.array([0.5, np.inf, np.inf]),
            "left": np.array([1, 1, 2]),
            "right": np.array([2, 1, 2]),
            "value": np.array([0.0, 1.0, -2.0]),
        }
    ]
    * 2,
    depth=1,
    scale=0.5,
)


@pytest.fixture(scope="module")
def bent():
    """Lists in which the best hypotheses are those in the middle of a feature, which no weight can say."""
    table, statistics = naive.random_data(np.random.default_rng(0), METRIC, segments=60, longest=20, features=3)
    statistics[:, 0] = np.clip(np.round(6 * np.abs(table.values[:, 0])), 0, 9)
    return prepare(table, statistics, METRIC)


SMALL = Boosted(trees=20, rate=0.2, least=10, sample=20)


def test_standardised_within_lists():
    values = np.array([[1.0, 5.0], [3.0, 5.0], [7.0, 0.1], [7.0, 0.3], [10.0, 0.2]])
    wanted = [[-1, 0], [1, 0], [-1 / np.sqrt(2), -np.sqrt(1.5)], [-1 / np.sqrt(2), np.sqrt(1.5)], [np.sqrt(2), 0]]
    np.testing.assert_allclose(standardised_in_lists(values, np.array([0, 2, 5])), wanted, atol=1e-12)


def test_a_row_goes_left_up_to_the_threshold():
    values = np.array([[0.0, 0.5], [0.0, 0.6]])
    np.testing.assert_allclose(TREES.sums(values), [2 * 0.5 * 1.0, 2 * 0.5 * -2.0])
    assert joined(("f0",), [], 0, 1.0).sums(values).tolist() == [0, 0]


def test_trees_are_what_each_row_reaches_step_by_step(bent):
    trees = tune(bent, SMALL, np.ones(3)).scorer
    values = standardised_in_lists(bent.table.values, bent.table.offsets)[:50]
    sums = []
    for row in values:
        total = 0.0
        for node in trees.roots:
            while trees.left[node] != node:
                node = (trees.left if row[trees.feature[node]] <= trees.threshold[node] else trees.right)[node]
            total += trees.value[node]
        sums.append(total)
    np.testing.assert_allclose(trees.sums(values), sums)
    assert len(trees.roots) == 20


@pytest.mark.parametrize("base", ["mira", "none"])
def test_they_learn_what_no_weights_can(bent, base):
    linear = tune(bent, Mira(passes=5), np.ones(3))
    result = tune(bent, dataclasses.replace(SMALL, base=base), np.ones(3))
    assert result.score == pytest.approx(held_out_score(bent, result))
    assert result.score < 0.6 * linear.score
    if base == "none":
        assert not result.weights.any()


@pytest.mark.parametrize("base", ["mira", "none"])
def test_a_feature_times_1000_changes_no_choice(bent, base):
    scales = np.array([1.0, 1000.0, 1.0])
    larger = dataclasses.replace(bent, table=dataclasses.replace(bent.table, values=bent.table.values * scales))
    tuner = dataclasses.replace(SMALL, base=base)
    assert tune(larger, tuner, 1 / scales).score == tune(bent, tuner, np.ones(3)).score


def test_fixed_weights_stay_and_sentence_gains_do(bent):
    data = prepare(bent.table, bent.statistics, METRIC, fixed=["f1"])
    for base in ("mira", "none"):
        result = tune(data, dataclasses.replace(SMALL, base=base, gain="sentence"), np.array([0.0, 0.7, 0.0]))
        assert result.weights[1] == 0.7
        assert result.score < tune(data, Mira(passes=5), np.array([0.0, 0.7, 0.0])).score


def test_so_many_are_drawn_from_each_list():
    offsets = np.array([0, 3, 10, 11])
    rows = _drawn(offsets, 4, np.random.default_rng(0))
    assert np.histogram(rows, offsets)[0].tolist() == [3, 4, 1]
    assert len(set(rows.tolist())) == 8
    assert rows.tolist() != _drawn(offsets, 4, np.random.default_rng(1)).tolist()


def test_contract():
    check_tuner(Boosted(trees=5, least=5), Bleu(tokenize="none"))


@pytest.mark.parametrize("options", [{"trees": 0}, {"leaves": 1}, {"rate": 0.0}, {"sample": 1}, {"l2": -1.0}])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(ValueError, match=r"wanted|must be"):
        Boosted(**options)


def test_scikit_learn_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(PluginError, match=r"needs scikit-learn: .*rerank-plugins\[ml\]"):
        Boosted()


def test_shares_of_a_lead_are_shapley_values(bent):
    """Each feature's is what it adds on average, over all orders in which features of B are replaced by those of A."""
    trees = tune(bent, SMALL, np.ones(3)).scorer
    values = trees.standardised(bent.table)
    for a, b in ((0, 1), (3, 2), (7, 7)):
        wanted = np.zeros(3)
        orders = list(itertools.permutations(range(3)))
        for order in orders:
            mixed = [values[b].copy()]
            for feature in order:
                mixed.append(mixed[-1].copy())
                mixed[-1][feature] = values[a, feature]
            wanted[list(order)] += np.diff(trees.sums(np.array(mixed))) / len(orders)
        np.testing.assert_allclose(shapley_values(trees, values[a], values[b]), wanted, atol=1e-12)
    scores = trees.scores(bent.table)
    assert sum(tree_lead(trees, bent.table, 3, 2).values()) == pytest.approx(scores[3] - scores[2])
    assert shapley_values(joined(("f0",), [], 0, 1.0), np.ones(1), np.zeros(1)).tolist() == [0]


# --- The file beside the weights --------------------------------------------------------------------------------------

WEIGHTS = Weights({"f0": 1.0, "f1": 0.5}, trees=TREES)


def test_trees_come_back_from_their_file(tmp_path):
    write_weights(WEIGHTS, tmp_path / "w.toml")
    back = read_weights(tmp_path / "w.toml").trees
    assert (back.names, back.depth) == (TREES.names, TREES.depth)
    for name in ("roots", "feature", "threshold", "left", "right", "value"):
        np.testing.assert_array_equal(getattr(back, name), getattr(TREES, name))
    with pytest.raises(ConfigError, match="cannot go to stdout"):
        write_weights(WEIGHTS, "-")


def test_trees_of_other_weights_are_refused(tmp_path):
    write_weights(WEIGHTS, tmp_path / "w.toml")
    dataclasses.replace(TREES, depth=2).write(tmp_path / "w.trees")
    with pytest.raises(FormatError, match=r"w\.toml:\d+: w\.trees holds the trees of other weights"):
        read_weights(tmp_path / "w.toml")
    trees_file(tmp_path / "w.toml").unlink()
    with pytest.raises(ModelError, match=r"w\.trees: cannot be read"):
        read_weights(tmp_path / "w.toml")
    (tmp_path / "w.toml").write_text('[dense]\nf0 = 1.0\n[trees]\nfile = "../w.trees"\n')
    with pytest.raises(FormatError, match="expected the name of a file beside"):
        read_weights(tmp_path / "w.toml")


@pytest.mark.parametrize(
    "changes",
    [{"left": TREES.left + 4}, {"feature": TREES.feature + 1}, {"roots": TREES.roots - 1}, {"value": np.zeros(2)}],
)
def test_nodes_out_of_range_are_refused(tmp_path, changes):
    dataclasses.replace(TREES, **changes).write(tmp_path / "t")
    with pytest.raises(ModelError, match="damaged model of boosted trees"):
        Trees.read(tmp_path / "t")


def test_what_needs_weights_alone_says_so():
    table, _ = naive.random_data(np.random.default_rng(0), METRIC, features=2)
    with pytest.raises(ConfigError, match="boosted trees belong to these weights"):
        WEIGHTS.vector_for(table)
    with pytest.raises(ConfigError, match="need features that are not there: f1"):
        TREES.scores(dataclasses.replace(table, names=("f0", "other")))

    class Other(Scorer):
        def scores(self, table):
            return np.zeros(len(table.values))

    with pytest.raises(PluginError, match="a Other cannot be written"):
        Weights.from_tuning(table, TuningResult(np.ones(2), 0.0, scorer=Other()), {})


# --- Commands ---------------------------------------------------------------------------------------------------------

CONFIG = """
jobs = 1
[tune]
nbest = ["lists"]
references = ["references"]
[[test]]
nbest = ["lists"]
references = ["references"]
[tuner]
use = "boosted"
trees = 10
rate = 0.5
least = 2
[evaluation]
bootstrap = 0
randomisation = 0
contribution_folds = 2
[[metric]]
use = "bleu"
tokenize = "none"
[[feature]]
use = "length"
"""


@pytest.fixture
def folder(tmp_path):
    """Lists in which the hypothesis of middle length is the best."""
    lists = [("a b c d e f g", -1.0), ("a b c d e", -1.0), ("a b c", -1.0)]
    (tmp_path / "lists").write_text(
        "".join(f"{s} ||| {text} ||| LM= {score} ||| {score}\n" for s in range(8) for text, score in lists)
    )
    (tmp_path / "references").write_text("a b c d e\n" * 8)
    (tmp_path / "job.toml").write_text(CONFIG)
    return tmp_path


def test_commands_choose_by_trees(folder, monkeypatch):
    work, lists = folder / "work", folder / "lists"
    done("run", folder / "job.toml", "--work", work)
    best = "a b c d e\n" * 8
    assert (work / "test.1best").read_text() == best
    again = done("run", folder / "job.toml", "--work", work).err
    assert "tune: unchanged, so not made again: features, weights, contributions, weight intervals" in again
    explain = ("explain", "3", "-c", folder / "job.toml", "--work", work)
    record = json.loads(done(*explain, "--as", "json").out)
    assert (record["a"]["rank"], record["b"]["rank"]) == (2, 1)
    assert any(row["trees"] for row in record["contributions"])
    lead = sum(row["lead"] for row in record["contributions"])
    assert lead == pytest.approx(record["a"]["score"] - record["b"]["score"])
    lines = done(*explain).lines
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("  + the share of boosted trees (Shapley values, together +") for line in lines)
    (work / "weights.trees").unlink()
    again = done("run", folder / "job.toml", "--work", work).err
    assert "tune: unchanged, so not made again: features, contributions, weight intervals" in again
    done("tune", lists, "-r", folder / "references", "-c", folder / "job.toml", "-o", folder / "w.toml")
    monkeypatch.setitem(sys.modules, "sklearn", None)  # which tuning alone needs
    assert done("apply", lists, "-w", folder / "w.toml").out == best
    assert "no file of Moses can hold them" in refused("tools", "weights", folder / "w.toml")
    done("tools", "weights", folder / "w.toml", "--as", "toml", "-o", folder / "copy.toml")
    assert done("apply", lists, "-w", folder / "copy.toml").out == best
    contributions = from_json((work / "contributions.json").read_text())
    assert not contributions.linear
    assert "leaves out the boosted trees" in contribution_table(contributions, "BLEU").notes[0]
    assert json.loads((work / "contributions.json").read_text())["linear"] is False
