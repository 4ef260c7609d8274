"""Feature tables as things to work with: joined, shown, and used after it; pairs of texts to be scored elsewhere."""

import json

import numpy as np
import pytest

from rerank_adapters.weights import read_weights
from rerank_plugins import FeatureTable
from tests.command_line import done, refused

NBEST = "1 ||| b a ||| LM= 1 ||| 1\n1 ||| b b c ||| LM= 2 w_x= 4 ||| 2\n0 ||| a a ||| LM= 3 ||| 3\n0 ||| a ||| LM= 1 ||| 3\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "n").write_text(NBEST, encoding="utf-8")
    (tmp_path / "refs").write_text("a\nb\n", encoding="utf-8")
    (tmp_path / "source").write_text("A\nB\n", encoding="utf-8")
    (tmp_path / "s.txt").write_text("1 5\n2 6\n3 7\n4 8\n", encoding="utf-8")
    done("extract", tmp_path / "n", "-f", "length", "-f", "word-posteriors", "-o", tmp_path / "t.npz")
    scores = f"column,file={tmp_path}/s.txt,names=[x,y],label=s"
    done("extract", tmp_path / "n", "-f", scores, "-o", tmp_path / "s.npz")
    return tmp_path


def table(path):
    return FeatureTable.load(path)


def test_joined_tables_tune_and_say_how_they_were_made(folder):
    (folder / "deep").mkdir()
    joined = folder / "deep" / "all.npz"
    done("table", "join", folder / "t.npz", folder / "s.npz", "-o", joined)
    whole = table(joined)
    assert whole.names == (*table(folder / "t.npz").names, "s.x", "s.y")
    assert whole.sparse.names == ("w_x",)
    weights = folder / "w.toml"
    done("tune", folder / "n", "-r", folder / "refs", "-m", "accuracy", "--table", joined, "-o", weights)
    assert done("apply", folder / "n", "-w", weights, "--table", joined).code == 0
    chosen = done(
        "tune", folder / "n", "-r", folder / "refs", "-m", "accuracy", "--table", joined, "-f", "length", "-o", weights
    )
    assert "extracted now" not in chosen.err
    assert '"length"' in weights.read_text() or "length =" in weights.read_text()


def scored(folder, name):
    """Write a table of ones, a column of this name, for ten lists of two hypotheses."""
    FeatureTable.dense([name], np.ones((20, 1)), np.arange(0, 21, 2)).save(folder / "nmt.npz")


@pytest.fixture
def computed_elsewhere(tmp_path):
    """Ten lists in which the decoder's feature LM decides, and a table made in Python, whose column is worthless."""
    lists = [(s, text, score) for s in range(10) for text, score in (("a b", 1), ("a", 2 * (s % 2)))]
    (tmp_path / "n").write_text("".join(f"{s} ||| {text} ||| LM= {lm} ||| {lm}\n" for s, text, lm in lists))
    (tmp_path / "refs").write_text("".join("a\n" if s % 2 else "a b\n" for s in range(10)))
    scored(tmp_path, "nmt")
    return tmp_path


def test_scores_computed_elsewhere_stand_beside_the_features_of_the_lists(computed_elsewhere):
    folder = computed_elsewhere
    lists = (folder / "n", "-r", folder / "refs", "-m", "accuracy", "--table", folder / "nmt.npz")
    tuned = done("tune", *lists, "-o", folder / "w.toml")
    assert f"{folder}/nmt.npz: besides its columns, the decoder's features are taken from the lists" in tuned.err
    assert set(read_weights(folder / "w.toml").dense) == {"LM", "nmt"}
    best = done("apply", folder / "n", "-w", folder / "w.toml", "--table", folder / "nmt.npz").lines
    assert best == (folder / "refs").read_text().splitlines()
    said = refused("apply", folder / "n", "-w", folder / "w.toml")
    assert said.endswith("lacks feature 'nmt'; if it was computed elsewhere, name a table of these lists that has it with"
                         " --table")  # fmt: skip
    done("tune", *lists, "-f", "length", "-o", folder / "w.toml")
    assert list(read_weights(folder / "w.toml").dense) == ["LM", "nmt", "length"]
    assert "100.00" in done("cross-validate", *lists, "-t", "mira", "--folds", 2, "--seeds", 1).out
    ablated = done("ablate", *lists, "--by", "feature", "--folds", 2, "--as", "tsv").out
    assert "LM" in ablated


def test_lists_without_scores_get_their_ranks_beside_scores_computed_elsewhere(computed_elsewhere):
    folder = computed_elsewhere
    lines = [line.split(" ||| ")[1] for line in (folder / "n").read_text().splitlines()]
    (folder / "plain").write_text("".join(f"{line}\n" for line in lines))
    lists = (folder / "plain", "--format", "plain,n=2")
    done(
        "tune", *lists, "-r", folder / "refs", "-m", "accuracy", "--table", folder / "nmt.npz", "-o", folder / "w.toml"
    )
    assert set(read_weights(folder / "w.toml").dense) == {"reciprocal-rank", "nmt"}


def test_a_column_that_is_named_as_a_feature_of_the_lists_needs_another_name(computed_elsewhere):
    folder = computed_elsewhere
    scored(folder, "LM")
    said = refused("tune", folder / "n", "-r", folder / "refs", "--table", folder / "nmt.npz", "-o", folder / "w.toml")
    assert said == (
        f"{folder}/nmt.npz: its column 'LM' has other values than that feature of the lists: give it another name"
    )


def test_a_prefix_parts_equal_names(folder):
    (folder / "s.txt").write_text("0 5\n2 6\n3 7\n4 8\n", encoding="utf-8")
    done("extract", folder / "n", "-f", f"column,file={folder}/s.txt,names=[x,y],label=s", "-o", folder / "z.npz")
    refusal = refused("table", "join", folder / "s.npz", folder / "z.npz", "-o", folder / "all.npz")
    assert refusal == (
        f"{folder}/z.npz: the feature 's.x' has other values than in {folder}/s.npz: write PREFIX={folder}/z.npz for names"
        " of its own"
    )
    done("table", "join", folder / "s.npz", f"new={folder}/z.npz", "-o", folder / "all.npz")
    assert table(folder / "all.npz").names == ("LM", "s.x", "s.y", "new.s.x", "new.s.y")
    done("table", "join", folder / "t.npz", f"p={folder}/t.npz", "-o", folder / "all.npz")
    whole = table(folder / "all.npz")
    assert whole.names == (
        "LM",
        "length",
        "word-posteriors.errors",
        "word-posteriors.total",
        "word-posteriors.per_word",
        "p.length",
        "p.word-posteriors.errors",
        "p.word-posteriors.total",
        "p.word-posteriors.per_word",
    )
    again = done(
        "cross-validate",
        folder / "n",
        "-r",
        folder / "refs",
        "-m",
        "accuracy",
        "-t",
        "mira",
        "--folds",
        2,
        "--seeds",
        1,
        "--table",
        folder / "all.npz",
    )
    assert "extracted" not in again.err


def test_each_feature_keeps_its_own_steps_where_two_configs_call_them_alike(folder):
    for name, step in (("one", "lowercase"), ("two", "uppercase")):
        config = f'[text]\nt = ["{step}"]\n[[feature]]\nuse = "length"\nlabel = "{name}"\ntext = "t"\n'
        (folder / f"{name}.toml").write_text(config, encoding="utf-8")
        done("extract", folder / "n", "-c", folder / f"{name}.toml", "-o", folder / f"{name}.npz")
    done("table", "join", folder / "one.npz", folder / "two.npz", "-o", folder / "all.npz")
    features = FeatureTable.load(folder / "all.npz").provenance["job"]["feature"]
    assert [(table["label"], table["text"]) for table in features] == [("one", ["lowercase"]), ("two", ["uppercase"])]


def test_tables_of_other_lists_do_not_join(folder):
    (folder / "m").write_text(NBEST.replace("b a", "b d"), encoding="utf-8")
    done("extract", folder / "m", "-f", "length", "-o", folder / "m.npz")
    refusal = refused("table", "join", folder / "t.npz", folder / "m.npz", "-o", folder / "all.npz")
    assert refusal == f"{folder}/m.npz: it is of other lists than {folder}/t.npz: texts, features or totals differ"
    (folder / "m").write_text(NBEST.partition("\n")[2], encoding="utf-8")
    done("extract", folder / "m", "-f", "length", "-o", folder / "m.npz")
    refusal = refused("table", "join", folder / "t.npz", folder / "m.npz", "-o", folder / "all.npz")
    assert "found 2 segments and 3 hypotheses, wanted those of" in refusal
    assert "named twice" in refused("table", "join", folder / "t.npz", folder / "t.npz", "-o", folder / "all.npz")


def test_show(folder):
    out = done("table", "show", folder / "t.npz").out
    assert max(map(len, out.splitlines())) <= 80
    assert "2 segments, 4 hypotheses; 5 dense and 1 sparse features." in out
    records = {r["feature"]: r for r in json.loads(done("table", "show", folder / "t.npz", "--as", "json").out)}
    assert records["length"] == {
        "feature": "length", "family": "length", "rows": 4, "lowest": 1, "mean": 2, "highest": 3, "spread": 0.5
    }  # fmt: skip
    assert records["LM"]["family"] == "lists"
    assert records["w_x"] == {
        "feature": "w_x", "family": "sparse", "rows": 1, "lowest": 4, "mean": 4, "highest": 4, "spread": None
    }  # fmt: skip
    shown = done(
        "table", "show", folder / "t.npz", "--segment", 1, "--column", "length", "--column", "w_*", "--as", "tsv"
    )
    assert shown.out == "hypothesis\tlength\tw_x\n1\t2\t0\n2\t3\t4\n"
    assert "there is no segment '7'" in refused("table", "show", folder / "t.npz", "--segment", 7)
    assert "no feature matches lenght; did you mean 'length'?" in refused(
        "table", "show", folder / "t.npz", "--column", "lenght"
    )


def test_pairs(folder):
    ran = done("table", "pairs", folder / "n", "-r", folder / "refs", "--source", folder / "source")
    assert ran.out == "a a\ta\tA\na\ta\tA\nb a\tb\tB\nb b c\tb\tB\n"
    ran = done("table", "pairs", folder / "n", "--mbr", "--text", "uppercase")
    assert ran.out == "".join(f"{h}\t{r}\n" for one in (["A A", "A"], ["B A", "B B C"]) for r in one for h in one)
    assert "nothing to pair the hypotheses with" in refused("table", "pairs", folder / "n")


def test_mbr_by_scores_of_pairs(folder):
    """The decision takes the hypothesis that the pairs prefer, which no weights would."""
    (folder / "twice").write_text(
        "0 ||| u ||| LM= 1 ||| 1\n0 ||| v ||| LM= 1 ||| 1\n0 ||| w ||| LM= 1 ||| 1\n", encoding="utf-8"
    )
    (folder / "ref").write_text("v\n", encoding="utf-8")
    pairs = done("table", "pairs", folder / "twice", "-r", folder / "ref", "--mbr").out.splitlines()
    (folder / "scored").write_text(
        "".join(f"{p}\t{1 if p[0] == 'v' else 0.5 * (p[0] == p[2])}\n" for p in pairs), encoding="utf-8"
    )
    metric = f"column,file={folder}/scored"
    done("tune", folder / "twice", "-r", folder / "ref", "-m", metric, "-t", "mbr", "-o", folder / "w.toml")
    assert done("apply", folder / "twice", "-w", folder / "w.toml").out == "v\n"
