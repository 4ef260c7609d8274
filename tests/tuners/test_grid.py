"""Grid search: all points scored at once, the choice of the best, its start at the decoder's weights, and its report."""

from itertools import product

import numpy as np
import pytest

from rerank_adapters.metrics.edit_rate import WER
from rerank_adapters.tuners.grid import Axis, Grid, best_point, edge_notes, grid_scores
from rerank_adapters.tuning.problem import prepare, run_tuner
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
    result = run_tuner(data, Grid(("f1=-2:2:9",)), start)
    assert result.score == grid_scores(data, start, [Axis.read("f1=-2:2:9")]).min()
    changed = np.flatnonzero(result.weights != start)
    assert [data.table.all_names[i] for i in changed] in ([], ["f1"])
    fixed = prepare(data.table, data.statistics, METRIC, fixed=["f1"])
    with pytest.raises(ConfigError, match="the weight of f1 is fixed"):
        run_tuner(fixed, Grid(("f1=-2:2:9",)), start)


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
    """Lists whose totals are am + 0.5 lm + 2 tm: a weight of 1 for tm would choose the second hypothesis."""
    rows = [("a b c", -3.0, -1.0, 3.0), ("a b", -1.0, -1.5, 2.0), ("a b c d", -2.0, -3.0, 1.0)]
    (tmp_path / "dev.nbest").write_text(
        "".join(
            f"{s} ||| {text} ||| am= {am} lm= {lm} tm= {tm} ||| {am + 0.5 * lm + 2 * tm}\n"
            for s in range(4)
            for text, am, lm, tm in rows
        )
    )
    (tmp_path / "dev.txt").write_text("a b c\n" * 4)
    return ("tune", tmp_path / "dev.nbest", "-r", tmp_path / "dev.txt", "-m", "wer", "-o", tmp_path / "w.toml")


def dense(tmp_path):
    """The weights that the command has written."""
    return read_weights(tmp_path / "w.toml").dense


def test_weights_on_no_axis_are_the_decoders(lists, tmp_path):
    done(*lists, "-f", "length", "-t", "grid,axes=lm=0:4:5")
    weights = dense(tmp_path)
    assert weights["lm"] in (0.0, 1.0, 2.0, 3.0, 4.0)
    others = {name: weight for name, weight in weights.items() if name != "lm"}
    assert others == {"am": pytest.approx(1.0), "tm": pytest.approx(2.0), "length": 0.0}
    assert done("apply", lists[1], "-w", tmp_path / "w.toml").out == "a b c\n" * 4


def test_a_start_that_is_named_is_kept(lists, tmp_path):
    done(*lists, "-t", "grid,axes=lm=0:4:5", "--start", "uniform")
    assert (dense(tmp_path)["am"], dense(tmp_path)["tm"]) == (1.0, 1.0)
    (tmp_path / "start.toml").write_text("[dense]\nam = 7.0\nlm = 1.0\ntm = 0.5\n")
    done(*lists, "-t", "grid,axes=lm=0:4:5", "--start", tmp_path / "start.toml")
    assert (dense(tmp_path)["am"], dense(tmp_path)["tm"]) == (7.0, 0.5)


def test_a_fixed_weight_keeps_its_start_and_is_on_no_axis(lists, tmp_path):
    done(*lists, "-t", "grid,axes=lm=0:4:5", "--fix", "tm")
    assert dense(tmp_path)["tm"] == pytest.approx(2.0)
    said = refused(*lists, "-t", "grid,axes=[lm=0:4:5,tm=0:1:3]", "--fix", "tm")
    assert said == "axis: the weight of tm is fixed"


def test_features_of_lists_without_any_of_the_decoders_start_from_0(tmp_path):
    (tmp_path / "dev.nbest").write_text("0 ||| a b |||\n0 ||| a b c |||\n1 ||| a b |||\n1 ||| b |||\n")
    (tmp_path / "dev.txt").write_text("a b c\na b\n")
    found = ("tune", tmp_path / "dev.nbest", "-r", tmp_path / "dev.txt", "-m", "wer", "-o", tmp_path / "w.toml")
    done(*found, "-f", "length", "-f", "character-length", "-t", "grid,axes=length=-1,1")
    assert dense(tmp_path) == {"reciprocal-rank": 0.0, "length": 1.0, "character-length": 0.0}


def test_lists_without_totals_need_a_start(lists):
    path = lists[1]
    path.write_text("".join(line.rpartition(" ||| ")[0] + "\n" for line in path.read_text().splitlines()))
    assert refused(*lists, "-t", "grid,axes=lm=0:4:5") == (
        "cannot start from the decoder's weights: the n-best lists have no totals; start from 'uniform' or from weights "
        "by name"
    )
    done(*lists, "-t", "grid,axes=lm=0:4:5", "--start", "uniform")


def test_cross_validation_starts_a_grid_at_the_decoders_weights(lists):
    grid, mira = "grid,axes=lm=0.5", "mira,passes=2"
    ran = done("cross-validate", *lists[1:-2], "-t", grid, "-t", f"{grid},margin=0.1", "-t", mira, "--folds", 2)
    cells = [[cell.strip(" *") for cell in line.split("│")] for line in ran.lines if line.startswith("│")]
    held_out = {row[1]: row[2] for row in cells}
    assert held_out[grid] == held_out[f"{grid},margin=0.1"] == held_out["decoder's weights"] == "0.00"
    assert held_out[mira] == held_out["equal weights"] == "33.33"


def test_the_report_prints_the_grid(lists):
    ran = done(*lists, "-t", "grid,axes=[lm=0:4:5,am=0:1:3]")
    lines = ran.err.splitlines()
    at = next(i for i, line in enumerate(lines) if "wer: lm by am" in line)
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines[at:] if line.startswith("│")]
    assert [row[0] for row in cells] == ["0", "1", "2", "3", "4"]
    assert sum("*" in cell for row in cells for cell in row) == 1
    assert "  * marks the best point." in lines
    assert "wer on the tuning set: " in ran.err


def test_the_report_of_three_axes_is_the_plane_of_the_best_third_value(lists):
    ran = done(*lists, "-f", "length", "-t", "grid,axes=[lm=0:4:5,am=0:1:3,length=-1:1:3]")
    assert "wer: lm by am" in ran.err
    assert "* marks the best point. length is " in ran.err


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ("lmm=0:1:3", "axis: no feature named 'lmm'; did you mean 'lm'?"),
        ("[lm=0:1:3,lm=0:1:3]", "two axes have the same feature"),
        ("[lm=0,am=0,a=1,b=1]", "axes has 4 axes; wanted 1 to 3"),
    ],
)
def test_wrong_axes_are_refused(lists, axes, message):
    assert message in refused(*lists, "-t", f"grid,axes={axes}")
