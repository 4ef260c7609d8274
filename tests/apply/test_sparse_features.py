"""Lists with sparse features: tuned, reranked, and their weights."""

import re

import pytest

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.weights import read_weights
from tests.command_line import done

SPARSE = """\
0 ||| good one ||| LM0= -2 W0= -2 wt_a~good= 1 ||| -2
0 ||| bad one ||| LM0= -1 W0= -2 wt_a~bad= 1 ||| -1
1 ||| good two here ||| LM0= -3 W0= -3 wt_a~good= 1 pp_x= 2 ||| -3
1 ||| bad two here ||| LM0= -1 W0= -3 wt_a~bad= 1 pp_x= 2 ||| -1
2 ||| bad three there now ||| LM0= -1 W0= -4 wt_a~bad= 1 ||| -1
2 ||| good three there now ||| LM0= -4 W0= -4 wt_a~good= 1 ||| -4
"""
SPARSE_REFERENCES = "good one\ngood two here\ngood three there now\n"
OTHER_NAMES = """\
5 ||| bad five ||| LM0= -1 W0= -2 wt_a~bad= 1 wt_new= 7 ||| -1
5 ||| good five ||| LM0= -2 W0= -2 wt_a~good= 1 ||| -2
"""


@pytest.fixture
def sparse(tmp_path):
    (tmp_path / "tune.nbest").write_text(SPARSE)
    (tmp_path / "tune.en").write_text(SPARSE_REFERENCES)
    (tmp_path / "test.nbest").write_text(OTHER_NAMES)
    return tmp_path


def test_mira_tunes_sparse_features_and_unknown_ones_weigh_nothing(sparse):
    done(
        "tune",
        sparse / "tune.nbest",
        "-r",
        sparse / "tune.en",
        "-t",
        "mira,C=0.1",
        "-m",
        "wer",
        "-o",
        sparse / "w.toml",
    )
    weights = read_weights(sparse / "w.toml")
    assert set(weights.dense) == {"LM0", "W0"}
    assert weights.sparse["wt_a~good"] > 0 > weights.sparse["wt_a~bad"]
    assert done("apply", sparse / "test.nbest", "-w", sparse / "w.toml").lines == [
        "5 good five"
    ]  # a number that is none of a line
    assert done("apply", sparse / "tune.nbest", "-w", sparse / "w.toml").out == SPARSE_REFERENCES


def test_sparse_features_of_a_table_and_of_streaming_lists_count_alike(sparse):
    (sparse / "w.toml").write_text('[dense]\nLM0 = 1.0\nW0 = 0.5\n[sparse]\n"wt_a~good" = 5.0\npp_x = -9\nunseen = 1\n')
    done("extract", sparse / "tune.nbest", "-o", sparse / "t.npz")
    apply = ("apply", sparse / "tune.nbest", "-w", sparse / "w.toml", "--nbest-out")
    best = done(*apply, sparse / "a").lines
    assert done(*apply, sparse / "b", "--table", sparse / "t.npz").lines == best
    assert (sparse / "a").read_text() == (sparse / "b").read_text()
    assert best == ["good one", "good two here", "good three there now"]
    totals = [h.score for nbest in read_nbest([sparse / "a"], FORMATS["moses"]()) for h in nbest]
    assert totals == [-2 - 1 + 5, -1 - 1, -3 - 1.5 + 5 - 18, -1 - 1.5 - 18, -4 - 2 + 5, -1 - 2]


def test_weights_that_kbmira_wrote_without_names_apply_by_position(sparse):
    (sparse / "w").write_text("F0 -1.0\nF1 0.0\nwt_a~bad 0.5\n")
    assert done("apply", sparse / "tune.nbest", "-w", sparse / "w").out == SPARSE_REFERENCES
    (sparse / "w").write_text("F0 1.0\nF1 0.0\n")
    assert done("apply", sparse / "tune.nbest", "-w", sparse / "w").lines[0] == "bad one"


def test_mert_leaves_sparse_features_fixed_and_says_so(sparse):
    tune = ("tune", sparse / "tune.nbest", "-r", sparse / "tune.en", "-m", "wer", "-o", sparse / "w.toml")
    ran = done(*tune, "-t", "mert,restarts=2")
    assert re.search(r"sparse features? .*(fixed|start)", ran.err), ran.err
    assert not any(read_weights(sparse / "w.toml").sparse.values())
    done("apply", sparse / "test.nbest", "-w", sparse / "w.toml")


def test_sparse_weights_have_a_file_of_their_own(sparse):
    done("tune", sparse / "tune.nbest", "-r", sparse / "tune.en", "-m", "wer", "-o", sparse / "w.toml")
    text = done("tools", "weights", sparse / "w.toml", "--as", "sparse").out
    assert {line.split()[0] for line in text.splitlines()} <= {"wt_a~good", "wt_a~bad", "pp_x"}
    assert "wt_a~good" in text


CDEC = """\
0 ||| good one ||| LM=-2 Glue=1 ||| -2
0 ||| bad one ||| LM=-1 OOV=1 ||| -1
1 ||| bad two here ||| LM=-1 OOV=1 Glue=2 ||| -3
1 ||| good two here ||| LM=-3 ||| -1
2 ||| bad three there now ||| OOV=2 ||| -1
2 ||| good three there now ||| LM=-4 Glue=3 ||| -4
"""


def test_cdec_lists_without_their_zeros(tmp_path):
    (tmp_path / "tune").write_text(CDEC)
    (tmp_path / "tune.en").write_text(SPARSE_REFERENCES)
    (tmp_path / "test").write_text(
        "0 ||| bad x ||| LM=-1 OOV=1 ||| 0\n0 ||| good x ||| LM=-1 ||| 0\n1 ||| y ||| Other=1 ||| 0\n"
    )
    done(
        "tune",
        tmp_path / "tune",
        "--format",
        "cdec",
        "-r",
        tmp_path / "tune.en",
        "-m",
        "wer",
        "-t",
        "mira,C=0.1",
        "-o",
        tmp_path / "w.toml",
    )
    weights = read_weights(tmp_path / "w.toml")
    assert set(weights.dense) == {"LM", "Glue", "OOV"}
    assert weights.dense["OOV"] < 0
    ran = done(
        "apply", tmp_path / "test", "-w", tmp_path / "w.toml", "--nbest-out", tmp_path / "out"
    )  # the format is recorded
    assert ran.lines == ["good x", "y"]
    assert (tmp_path / "out").read_text().startswith("0 ||| good x ||| LM=-1 ||| ")
