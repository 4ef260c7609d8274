"""Weights files: what is written reads back exactly, Moses's files in their spellings, errors with their line."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rerank_adapters.weights import Weights, read_weights, write_weights
from rerank_adapters.weights.moses import (
    moses_weight_section,
    read_moses_ini,
    write_moses_dense,
    write_moses_ini,
    write_moses_sparse,
)
from rerank_adapters.weights.named_weights import grouped
from rerank_plugins.core.errors import ConfigError, FormatError
from rerank_plugins.core.feature_table import FeatureTable, SparseBlock
from rerank_plugins.core.metrics_and_tuners import TuningResult

GOLDEN = Path(__file__).parents[1] / "golden" / "formats"
DENSE = {"LM0": 0.1, "TM_0": 1 / 3, "TM_1": -2.5e-9, "W": -1.0, "Z_0": 4.0}
WEIGHTS = Weights(DENSE, {"wt_a~b": 0.25, "pp_=,~": -1e300}, "mbr", 0.7, 50, {"seed": 3, "tuner": {"use": "mert"}})

names = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=5)
numbers = st.floats(allow_nan=False, allow_infinity=False)


def test_groups():
    assert grouped(DENSE) == {"LM0": 0.1, "TM": [1 / 3, -2.5e-9], "W": -1, "Z_0": 4}
    assert grouped({"X": 1, "X_0": 2, "X_1": 3}) == {"X": 1, "X_0": 2, "X_1": 3}
    assert grouped({"X_1": 1, "X_0": 2}) == {"X_1": 1, "X_0": 2}
    assert grouped({"X_0": 1, "Y": 2, "X_1": 3}) == {"X_0": 1, "Y": 2, "X_1": 3}


def test_toml_reads_back(tmp_path):
    write_weights(WEIGHTS, tmp_path / "w.toml")
    back = read_weights(tmp_path / "w.toml")
    assert (list(back.dense.items()), back.sparse) == (list(DENSE.items()), WEIGHTS.sparse)
    assert (back.decision, back.scale) == ("mbr", 0.7)
    assert back.provenance == {**WEIGHTS.provenance, "file": str(tmp_path / "w.toml")}
    write_weights(back, tmp_path / "again.toml")
    assert (tmp_path / "again.toml").read_bytes() == (tmp_path / "w.toml").read_bytes()
    assert "TM = [\n" in (tmp_path / "w.toml").read_text()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(names, numbers, min_size=1, max_size=5), st.integers(0, 3))
def test_any_names_and_floats_read_back(tmp_path, dense, run):
    dense = dense | {f"run_{i}": 1.0 + i for i in range(run)}
    for weights in (Weights(dense), Weights({"d": 1.0}, {k: v for k, v in dense.items() if k != "d"})):
        write_weights(weights, tmp_path / "w.toml")
        back = read_weights(tmp_path / "w.toml")
        assert (back.dense, back.sparse) == (weights.dense, weights.sparse)


def test_provenance_may_hold_anything(tmp_path):
    provenance = {
        "path": Path("a/b"),
        "no": None,
        "fixed": (1, None, np.float64(0.5)),
        "scores": np.arange(2),
        "t": True,
    }
    write_weights(Weights({"a": 1.0}, provenance=provenance), tmp_path / "w.toml")
    back = dict(read_weights(tmp_path / "w.toml").provenance)
    back.pop("file")
    assert back == {"path": "a/b", "fixed": [1, 0.5], "scores": [0, 1], "t": True}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[dense]\nLM = "x"\n', "w.toml:2: the weight of 'LM' is 'x', expected a finite number"),
        ("[dense]\nLM = 1\n\nTM = [1, nan]\n", "w.toml:4: the weight of 'TM' is nan, expected a finite number"),
        ("[dense]\nLM = inf\n", "w.toml:2: the weight of 'LM' is inf, expected a finite number"),
        ("[dense]\nLM = true\n", "w.toml:2: the weight of 'LM' is True, expected a finite number"),
        ("[dense]\nLM = []\n", "w.toml:2: 'LM' has no weight"),
        ("[dense]\nLM = 1\n[sparse]\nLM = 2\n", "w.toml:2: feature 'LM' has two weights"),
        ("[dense]\nTM = [1, 2]\nTM_1 = 3\n", "w.toml:3: feature 'TM_1' has two weights"),
        ("[dens]\nLM = 1\n", "w.toml:1: unknown key 'dens'; did you mean 'dense'?"),
        ("dense = 3\n", "w.toml:1: dense is 3, expected a table [dense]"),
        ('decision = "best"\n[dense]\nLM = 1\n', "w.toml:1: decision is 'best', expected 'map' or 'mbr'"),
        ("scale = nan\n[dense]\nLM = 1\n", "w.toml:1: the weight of 'scale' is nan"),
        ("[dense]\nLM = 1\nLM = 2\n", "w.toml:3: not valid TOML: "),
        ("[dense]\nLM 1\n", "w.toml:2: not valid TOML: "),
        ("", "w.toml: no weights: expected a table [dense]"),
    ],
)
def test_broken_toml(tmp_path, text, said):
    (tmp_path / "w.toml").write_text(text)
    with pytest.raises(FormatError) as caught:
        read_weights(tmp_path / "w.toml")
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(said)
    assert "\n" not in str(caught.value)


def test_vector():
    order = ("W", "TM_0", "wt_a~b", "LM0", "TM_1", "Z_0")
    assert WEIGHTS.vector(order).tolist() == [-1, 1 / 3, 0.25, 0.1, -2.5e-9, 4]
    assert WEIGHTS.vector((*DENSE, "wt_new"), {"wt_new"}).tolist() == [*DENSE.values(), 0]
    assert WEIGHTS.vector(("pp_=,~", *DENSE), ("pp_=,~",))[0] == -1e300


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ((*DENSE, "new"), "lacks feature 'new'"),
        (tuple(DENSE)[1:], "has the unexpected feature 'LM0'"),
        (("lm", *tuple(DENSE)[1:]), "lacks feature 'lm' and has the unexpected feature 'LM0'"),
    ],
)
def test_weights_of_other_features(wanted, said):
    with pytest.raises(ConfigError, match="the weights are for other features: the file " + said):
        WEIGHTS.vector(wanted)


def test_from_tuning_and_back():
    sparse = SparseBlock.from_mappings([{"s": 1.0}, {}])
    table = FeatureTable(("a", "b"), np.zeros((2, 2)), np.array([0, 2]), ("0",), sparse)
    weights = Weights.from_tuning(table, TuningResult(np.array([1.0, 2.0, 3.0]), 40.0), {"tuner": "pro"})
    assert (weights.dense, weights.sparse) == ({"a": 1, "b": 2}, {"s": 3})
    assert weights.vector_for(table).tolist() == [1, 2, 3]


def test_moses_files_read_back(tmp_path):
    write_moses_dense(WEIGHTS, tmp_path / "dense")
    write_moses_sparse(WEIGHTS, tmp_path / "sparse")
    assert (tmp_path / "dense").read_text() == ("LM0= 0.1\nTM= 0.3333333333333333 -2.5e-09\nW= -1\nZ_0= 4\n")
    assert (tmp_path / "sparse").read_text() == "wt_a~b 0.25\npp_=,~ -1e+300\n"
    assert read_weights(tmp_path / "dense").dense == DENSE
    assert read_weights(tmp_path / "sparse").sparse == {"wt_a~b": 0.25, "pp_=,~": -1e300}


def test_spellings_of_moses_files(tmp_path):
    path = tmp_path / "weights"
    path.write_text("# decoder's\nLM0 0.5\r\nTM_0 0.1\nTM_1 0.2\n\nTM2=0.3 0.4\nW =-1\nwt_x= 7\nV = 3 4\n")
    weights = read_weights(path)
    assert weights.dense == {
        "LM0": 0.5,
        "TM_0": 0.1,
        "TM_1": 0.2,
        "TM2_0": 0.3,
        "TM2_1": 0.4,
        "W": -1,
        "V_0": 3,
        "V_1": 4,
    }
    assert weights.sparse == {"wt_x": 7}


def test_kbmira_names_no_dense_features(tmp_path):
    (tmp_path / "mert.out").write_text("F0 0.1\nF1 0.2\nF2 0.3\nwt_a~b 0.5\n")
    weights = read_weights(tmp_path / "mert.out")
    assert weights.vector(("TM", "LM", "W", "wt_a~b", "wt_new"), ("wt_a~b", "wt_new")).tolist() == [
        0.1,
        0.2,
        0.3,
        0.5,
        0,
    ]
    assert weights.vector(("F1", "F0", "F2")).tolist() == [0.2, 0.1, 0.3]  # names that are there count
    with pytest.raises(ConfigError, match="lacks features 'TM', 'LM'"):
        weights.vector(("TM", "LM"))
    (tmp_path / "weights.txt").write_text("0.1 0.2 0.3\n")
    assert read_weights(tmp_path / "weights.txt").vector(("a", "b", "c")).tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("LM0= 0.1\nTM= 0.1 x\n", "w:2: a weight of 'TM' is 'x', expected a number"),
        ("LM0 nan\n", "w:1: a weight of 'LM0' is 'nan', expected a finite number"),
        ("LM0\n", "w:1: found 'LM0', expected a name and its weight"),
        ("LM0=\n", "w:1: found 'LM0=', expected a name and its weight"),
        ("= 5\n", "w:1: found '= 5', expected 'name= value ...'"),
        ("two words= 5\n", "w:1: a weight of 'two' is 'words=', expected a number"),
        ("a 1\na 2\n", "w:2: feature 'a' has two weights"),
        ("\n# nothing\n", "w: the file is empty"),
    ],
)
def test_broken_moses_files(tmp_path, text, said):
    (tmp_path / "w").write_text(text)
    with pytest.raises(FormatError) as caught:
        read_weights(tmp_path / "w")
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(said)


def test_moses_ini_gives_the_tuned_weights():
    weights = read_weights(GOLDEN / "moses.ini")
    assert list(weights.dense) == [
        *("WordPenalty0", "PhrasePenalty0"),
        *(f"TranslationModel0_{i}" for i in range(4)),
        *(f"LexicalReordering0_{i}" for i in range(6)),
        *("Distortion0", "LM0"),
    ]
    assert weights.dense["WordPenalty0"] == -1


def test_moses_ini_keeps_every_other_byte(tmp_path):
    before = (GOLDEN / "moses.ini").read_bytes()
    same = read_moses_ini(GOLDEN / "moses.ini")
    write_moses_ini(same, GOLDEN / "moses.ini", tmp_path / "same.ini")
    assert (tmp_path / "same.ini").read_bytes() == before
    new = Weights({**same.dense, "LM0": 0.125, "TranslationModel0_2": -3.0})
    (tmp_path / "crlf.ini").write_bytes(before.replace(b"\n", b"\r\n"))
    write_moses_ini(new, tmp_path / "crlf.ini", tmp_path / "new.ini")
    after = before.replace(b"LM0= 0.5", b"LM0= 0.125").replace(b"0.2 0.2 0.2 0.2", b"0.2 0.2 -3 0.2")
    assert (tmp_path / "new.ini").read_bytes() == after.replace(b"\n", b"\r\n")
    assert read_weights(tmp_path / "new.ini").dense == new.dense


def test_moses_ini_wants_its_own_features(tmp_path):
    same = read_moses_ini(GOLDEN / "moses.ini")
    more = Weights({**same.dense, "syntax": 1.0})
    with pytest.raises(ConfigError, match=r"do not fit .*moses.ini: .* has the unexpected feature 'syntax'"):
        write_moses_ini(more, GOLDEN / "moses.ini", tmp_path / "new.ini")
    write_moses_ini(more, GOLDEN / "moses.ini", tmp_path / "new.ini", decoder_features_only=True)
    assert (tmp_path / "new.ini").read_bytes() == (GOLDEN / "moses.ini").read_bytes()
    less = Weights({name: value for name, value in same.dense.items() if name != "LM0"})
    for only in (True, False):
        with pytest.raises(ConfigError, match="lacks feature 'LM0'"):
            write_moses_ini(less, GOLDEN / "moses.ini", tmp_path / "x.ini", decoder_features_only=only)
    assert not (tmp_path / "x.ini").exists()


def test_single_values_that_moses_does_not_tune(tmp_path):
    path = tmp_path / "moses.ini"
    path.write_text("[feature]\nTM name=T tuneable-components=true,false,true\n[weight]\nT= 1 2 3\n")
    assert read_weights(path).dense == {"T_0": 1, "T_1": 3}
    write_moses_ini(Weights({"T_0": 7.0, "T_1": 8.0}), path, path)
    assert path.read_text().endswith("T= 7 2 8\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[feature]\nWordPenalty\n", "w.ini: no [weight] section"),
        ("[weight-t]\n0.1\n", "w.ini: no [weight] section: expected the moses.ini of Moses 1.0 or later"),
        ("[weight]\n", "w.ini: the [weight] section is empty"),
        ("[weight]\nLM0= a\n", "w.ini:2: a weight of 'LM0' is 'a', expected a number"),
        ("[weight]\nLM0= 1\nLM0= 2\n", "w.ini:3: 'LM0' occurs twice in [weight]"),
        ("[weight]\n0.5\n", "w.ini:2: a weight without a name in [weight]"),
        ("[feature]\nT name=T tuneable-components=1,0\n[weight]\nT= 1\n", "w.ini:4: 'T' has 1 weights, but"),
    ],
)
def test_broken_moses_ini(tmp_path, text, said):
    (tmp_path / "w.ini").write_text(text)
    with pytest.raises(FormatError) as caught:
        read_weights(tmp_path / "w.ini")
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(said)


def test_the_section_alone(tmp_path):
    same = read_moses_ini(GOLDEN / "moses.ini")
    (tmp_path / "section.ini").write_text(moses_weight_section(same))
    assert read_weights(tmp_path / "section.ini").dense == same.dense
    assert "TranslationModel0= 0.2 0.2 0.2 0.2\n" in moses_weight_section(same)
