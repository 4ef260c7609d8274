"""`mbr` and `rerank lists mbr`: equal to brute force, for texts, lists and files of lists."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_adapters import load, mbr
from rerank_plugins import ConfigError, Hypothesis, NBestList
from tests.command_line import done, refused, says_what_it_wrote
from tests.metrics.naive_mbr import naive_mbr

SAMPLES = [["a b c", "a b d", "x y z", "a b d"], ["only one"], ["it rains", "rains it", "it rains ."]]
WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=5).map(" ".join)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(WORDS, st.integers(0, 3)), min_size=1, max_size=6).filter(lambda rows: any(w for _, w in rows)),
    st.sampled_from(["chrf", "bleu,tokenize=none,sentence=sacrebleu", "wer", "ter"]),
)
def test_it_is_brute_force(weighted, metric):
    texts, weights = [text for text, _ in weighted], [weight for _, weight in weighted]
    (row,) = mbr([texts], metric, [weights])
    place, expected = naive_mbr(texts, load(metric, "metric"), weights)
    assert (row["rank"], row["choice"], row["samples"]) == (place + 1, texts[place], len(texts))
    assert row["utility"] == pytest.approx(expected)


def test_ties_go_to_the_earlier_sample():
    assert mbr([["b a", "a b"], ["x", "y", "z"]], "wer")["rank"] == [1, 1]
    assert mbr([["x", "y", "y", "x"]], "wer", [[1, 1, 2, 2]])["choice"] == ["x"]


def test_weights_are_as_copies():
    copies = mbr([["a b", "a c", "a c", "d"]])[0]
    weighted = mbr([["a b", "a c", "d"]], weights=[[1, 2, 1]])[0]
    assert (copies["choice"], copies["utility"]) == (weighted["choice"], pytest.approx(weighted["utility"]))
    scaled = mbr([["a b", "a c", "d"]], weights=[[10, 20, 10]])[0]
    assert scaled["utility"] == pytest.approx(weighted["utility"])


def test_objects_and_text_steps():
    lists = [NBestList(f"s{i}", tuple(map(Hypothesis, texts))) for i, texts in enumerate(SAMPLES)]
    rows = mbr(lists, load("chrf"))
    assert rows["segment"] == ["s0", "s1", "s2"]
    assert rows["choice"] == mbr(SAMPLES)["choice"]
    assert mbr([["A", "a", "b"]], "wer", text="lowercase")[0] == {
        "segment": "0", "choice": "A", "rank": 1, "utility": pytest.approx(100 / 3), "samples": 3,
    }  # fmt: skip
    (empty,) = mbr([[]])
    assert (empty["choice"], empty["rank"]) == ("", 0)
    assert math.isnan(empty["utility"])


@pytest.fixture
def files(tmp_path):
    moses = [
        f"{i} ||| {text} ||| x= 0 ||| {-rank}\n" for i, texts in enumerate(SAMPLES) for rank, text in enumerate(texts)
    ]
    (tmp_path / "moses.nbest").write_text("".join(moses))
    records = [{"id": str(i), "hypotheses": texts, "scores": [0.0] * len(texts)} for i, texts in enumerate(SAMPLES)]
    (tmp_path / "samples.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return tmp_path


@pytest.mark.parametrize("name", ["moses.nbest", "samples.jsonl"])
@pytest.mark.parametrize("metric", ["chrf", "wer"])
def test_the_command_prints_the_choices(files, name, metric):
    rows = mbr(SAMPLES, metric)
    assert mbr(files / name, metric) == rows
    ran = done("lists", "mbr", files / name, "-m", metric, "--details", files / "details.csv")
    assert ran.lines == rows["choice"]
    assert says_what_it_wrote(ran, "3 choices")
    rows.to_csv(files / "ours.csv")
    assert (files / "details.csv").read_text() == (files / "ours.csv").read_text()


def test_posteriors_are_weights(files):
    weights = [[math.exp(-0.5 * rank) for rank in range(len(texts))] for texts in SAMPLES]
    ours = mbr(SAMPLES, "chrf", weights)
    ran = done(
        "lists", "mbr", files / "moses.nbest", "--posterior", "score", "--scale", 0.5, "--details", files / "d.tsv"
    )
    assert ran.lines == ours["choice"]
    printed = [float(line.split("\t")[3]) for line in (files / "d.tsv").read_text().splitlines()[1:]]
    assert printed == pytest.approx(ours["utility"])
    peaked = done("lists", "mbr", files / "moses.nbest", "--posterior", "score", "--scale", 50).lines
    assert peaked == [texts[0] for texts in SAMPLES]


def test_what_it_refuses(files):
    with pytest.raises(TypeError, match=r"samples: wanted a sequence of texts for each segment, found 'a b'"):
        mbr("a b")
    with pytest.raises(
        TypeError, match=r"samples\[0\]: wanted a sequence of texts, found 'a b'; give the samples of one"
    ):
        mbr(["a b", "c"])
    with pytest.raises(ConfigError, match="weights: found those of 1 segments, wanted those of 2"):
        mbr([["a"], ["b"]], weights=[[1]])
    with pytest.raises(ConfigError, match=r"weights\[0\]: found the shape \(2,\), wanted one for 1 samples"):
        mbr([["a"]], weights=[[1, 2]])
    for wrong in ([-1.0, 2.0], [0.0, 0.0], [math.nan, 1.0]):
        with pytest.raises(ConfigError, match=r"weights\[0\]: wanted finite numbers of 0 or more"):
            mbr([["a", "b"]], weights=[wrong])
    said = refused("lists", "mbr", files / "moses.nbest", "-m", "chrf", "-m", "ter")
    assert said == "found 2 metrics, wanted one utility (-m METRIC)"
    assert "no such file" in refused("lists", "mbr", files / "none.nbest")


def test_the_help_promises_one_utility(tmp_path):
    assert "Repeatable" not in done("lists", "mbr", "--help").out
    (tmp_path / "c.toml").write_text('[[metric]]\nuse = "wer"\n')
    (tmp_path / "lists").write_text("".join(f"0 ||| {text} ||| x= 1 ||| 1\n" for text in SAMPLES[0]))
    mbr_of = ("lists", "mbr", tmp_path / "lists", "--details", tmp_path / "d.tsv")
    utilities = []
    for options in ((), ("-c", tmp_path / "c.toml"), ("-c", tmp_path / "c.toml", "-m", "ter")):
        done(*mbr_of, *options)
        utilities.append(float((tmp_path / "d.tsv").read_text().splitlines()[1].split("\t")[3]))
    assert utilities == pytest.approx([mbr(SAMPLES[:1], name)[0]["utility"] for name in ("chrf", "wer", "ter")])
