"""Sweeps: all points of a grid scored at once, the choice of the best, the command with its table, plot and weights."""

import json
from itertools import product

import numpy as np
import pytest

from rerank_adapters.chain.tuning import prepare, tune
from rerank_adapters.metrics.edit_rate import WER
from rerank_adapters.tuners.grid import Axis, Grid, best_point, edge_notes, grid_scores
from rerank_adapters.weights import read_weights
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.testing import check_tuner
from tests.command_line import done, refused
from tests.tuners import naive_tuners as naive

METRIC = naive.ErrorRate()


@pytest.fixture
def data():
    table, statistics = naive.random_data(np.random.default_rng(0), METRIC, segments=20, longest=12, sparse=4)
    return prepare(table, statistics, METRIC)


@pytest.mark.parametrize(
    "texts", [["f0=-1:1:3"], ["f0=-1:1:5", "f1=0,0.5,2"], ["f1=0:1:3", "s2=-1:1:3", "f0=1,2"]], ids=len
)
def test_every_point_has_the_score_of_its_weights(data, texts):
    axes = [Axis.read(text) for text in texts]
    weights = np.linspace(-1, 1, len(data.table.all_names))
    scores = grid_scores(data, weights, axes)
    assert scores.shape == tuple(len(axis.values) for axis in axes)
    for point in product(*(range(len(axis.values)) for axis in axes)):
        moved = weights.copy()
        for axis, i in zip(axes, point, strict=True):
            moved[data.table.all_names.index(axis.name)] = axis.values[i]
        assert scores[point] == pytest.approx(naive.corpus_score(data.table, data.statistics, METRIC, moved))


def test_blocks_change_nothing(data, monkeypatch):
    axes = [Axis.read("f0=-1:1:9")]
    weights = np.ones(len(data.table.all_names))
    whole = grid_scores(data, weights, axes)
    monkeypatch.setattr("rerank_adapters.tuners.grid.CELLS", 1)
    np.testing.assert_array_equal(grid_scores(data, weights, axes), whole)


@pytest.mark.parametrize(
    ("scores", "middle"),
    [
        ([1, 9, 9, 9, 9, 9, 9, 9, 1], (4,)),
        ([9, 9, 9, 9, 9, 5], (2,)),  # at the end of an axis
        ([9, 9, 9, 1, 9, 9, 9, 9, 9, 1], (6,)),  # the longer one
        ([7, 9, 1, 8, 9, 8], (4,)),  # of single points, the one with the better neighbours
        ([8, 9, 9, 7], (1,)),
        ([[1] * 7, [1, 9, 9, 9, 9, 9, 1], [1] * 7], (1, 3)),
    ],
)
def test_the_middle_of_a_plateau_wins(scores, middle):
    assert best_point(np.array(scores, float), higher_is_better=True) == middle


def test_of_equal_points_the_one_amid_good_ones_wins():
    scores = np.array([[5.0, 9, 9, 9, 5], [5, 9, 9, 9, 5], [9, 9, 9, 9, 5], [5, 5, 5, 5, 5]])
    assert best_point(scores, higher_is_better=True) == (1, 2)
    assert best_point(-scores, higher_is_better=False) == (1, 2)
    assert best_point(np.array([1.0, 3, 2]), higher_is_better=True) == (1,)


def test_a_best_point_at_the_end_of_an_axis_is_reported():
    axes = [Axis("a", (0.0, 1.0, 2.0)), Axis("b", (0.0, 1.0)), Axis("c", (3.0,))]
    assert edge_notes(axes, (1, 1, 0)) == ("the best weight of b, 1, is at an end of its axis: widen it",)


def test_the_tuner_keeps_the_other_weights(data):
    start = np.linspace(-1, 1, len(data.table.all_names))
    result = tune(data, Grid(("f1=-2:2:9",)), start)
    assert result.score == grid_scores(data, start, [Axis.read("f1=-2:2:9")]).min()
    changed = np.flatnonzero(result.weights != start)
    assert [data.table.all_names[i] for i in changed] in ([], ["f1"])
    fixed = prepare(data.table, data.statistics, METRIC, fixed=["f1"])
    with pytest.raises(ConfigError, match="the weight of f1 is fixed"):
        tune(fixed, Grid(("f1=-2:2:9",)), start)


def test_contract():
    check_tuner(Grid(("noise=0:1:3",)), WER())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f0", "wanted NAME=FROM:TO:COUNT"),
        ("f0=", "wanted NAME=FROM:TO:COUNT"),
        ("f0=1:2", "wanted NAME=FROM:TO:COUNT"),
        ("f0=0:1:0", "wanted NAME=FROM:TO:COUNT"),
        ("f0=0:inf:3", "wanted NAME=FROM:TO:COUNT"),
        ("=0:1:3", "wanted NAME=FROM:TO:COUNT"),
        ("f9=0:1:3", "no feature named 'f9' .known: f0"),
    ],
)
def test_a_wrong_axis_is_refused(data, text, message):
    with pytest.raises(ConfigError, match=message):
        grid_scores(data, np.zeros(len(data.table.all_names)), [Axis.read(text)])


def test_two_axes_of_one_feature_are_refused(data):
    axes = [Axis.read("f0=0:1:3"), Axis.read("f0=1,2")]
    with pytest.raises(ConfigError, match="two axes have the same feature"):
        grid_scores(data, np.zeros(len(data.table.all_names)), axes)


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def lists(tmp_path):
    rows = [("a b c", -3.0, -1.0), ("a b", -1.0, -2.0), ("a b c d", -2.0, -3.0)]
    (tmp_path / "dev.nbest").write_text(
        "".join(f"{s} ||| {text} ||| am= {am} lm= {lm} ||| {am}\n" for s in range(4) for text, am, lm in rows)
    )
    (tmp_path / "dev.txt").write_text("a b c\n" * 4)
    return ("lists", "sweep", tmp_path / "dev.nbest", "-r", tmp_path / "dev.txt")


def test_the_command_finds_the_point_and_writes_its_weights(lists, tmp_path):
    weights, plot = tmp_path / "weights.toml", tmp_path / "plot.svg"
    ran = done(*lists, "-x", "lm=0,1,4", "-x", "am=0:1:3", "-o", weights, "--as", "json", "--plot", plot)
    points = json.loads(ran.out)
    assert len(points) == 9
    best = [point for point in points if point["best"]]
    assert [point["wer"] for point in best] == [0.0]
    dense = read_weights(weights).dense
    assert {name: best[0][name] for name in ("lm", "am")} == dict(dense)
    assert plot.read_text().lstrip().startswith("<?xml")
    assert done("apply", lists[2], "-w", weights).out == "a b c\n" * 4
    assert "tried 9 points" in ran.err


def test_a_table_shows_the_plane_of_the_best_third_value(lists):
    ran = done(*lists, "-f", "length", "-x", "lm=0:4:5", "-x", "am=0:1:3", "-x", "length=-1,0,1")
    assert "wer: lm by am" in ran.out
    assert " *" in ran.out
    assert "length is " in ran.out
    assert done(*lists, "-x", "lm=0:4:5", "--fix", "am=0.5", "--as", "tsv").out.splitlines()[0] == "lm\twer\tbest"


def test_weights_on_no_axis_come_from_a_file(lists, tmp_path):
    (tmp_path / "start.toml").write_text("[dense]\nam = 7.0\nlm = 1.0\n")
    weights = tmp_path / "weights.toml"
    done(*lists, "-x", "lm=0:4:5", "--start", tmp_path / "start.toml", "-o", weights)
    assert read_weights(weights).dense["am"] == 7.0


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["-x", "lmm=0:1:3"], "axis: no feature named 'lmm'; did you mean 'lm'?"),
        (["-x", "lm=0:1:3", "--fix", "amm=1"], "--fix: no feature named 'amm'; did you mean 'am'?"),
        (["-x", "lm=0:1:3", "--fix", "am=x"], "--fix 'am=x'; wanted NAME=VALUE with a number"),
        (["-x", "lm=0:1:3"] * 2, "two axes have the same feature"),
        (["-x", "lm=0,1", "-x", "am=0,1", "-x", "a=1", "-x", "b=1"], "axes has 4 axes; wanted 1 to 3"),
    ],
)
def test_wrong_flags_are_refused(lists, flags, message):
    assert message in refused(*lists, *flags)
