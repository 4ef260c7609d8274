"""`rerank words substitutes`: places, layouts, and what it says about wrong input; its queues in `rerank tools cache`."""

import json
import math
import re

import pytest

from tests.command_line import done, rerank
from tests.conftest import ROOT
from tests.substitutes.test_fastsubs import arpa

LM = ROOT / "example_nbest/mt/lm.arpa"
SENTENCE = "he ____ the house ."


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def rows(out):
    header, *lines = (line.split("\t") for line in out.splitlines())
    return [dict(zip(header, line, strict=True)) for line in lines]


def test_a_blank():
    ran = rerank("words", "substitutes", "-M", LM, "--at", "blanks", "--top", 4, stdin=f"{SENTENCE}\n____ is ____\n")
    assert ran.code == 0
    table = rows(ran.out)
    assert [(row["sentence"], row["position"]) for row in table[::4]] == [("1", "2"), ("2", "1"), ("2", "3")]
    assert [row["rank"] for row in table[:4]] == ["1", "2", "3", "4"]
    assert sum(float(row["share"]) for row in table[:4]) == pytest.approx(1, abs=1e-4)
    scores = [float(row["ln_p"]) for row in table[:4]]
    assert scores == sorted(scores, reverse=True)
    best = math.exp(scores[0]) / sum(map(math.exp, scores))
    assert float(table[0]["share"]) == pytest.approx(best, rel=1e-4)
    assert "wrote the substitutes of 3 words to stdout" in ran.err


def test_each_word_and_one_position():
    text = "he saw the house .\n\nthe old man .\n"
    every = rows(rerank("words", "substitutes", "-M", LM, "--top", 2, stdin=text).out)
    assert len(every) == 2 * (5 + 4)
    third = rows(rerank("words", "substitutes", "-M", LM, "--top", 2, "--at", 3, stdin=text.replace("\n\n", "\n")).out)
    assert [row["word"] for row in third[::2]] == ["the", "man"]
    assert [row["substitute"] for row in third[:2]] == [row["substitute"] for row in every[4:6]]
    assert rows(rerank("words", "substitutes", "-M", LM, stdin="\n").out) == []


def test_json_and_threshold(tmp_path):
    output = tmp_path / "out.jsonl"
    arguments = ("words", "substitutes", "-M", LM, "--top", 6, "--at", 2)
    table = rows(rerank(*arguments, stdin=SENTENCE).out)
    rerank(*arguments, "--as", "json", "--min-share", 0.999 * float(table[2]["share"]), "-o", output, stdin=SENTENCE)
    (record,) = map(json.loads, output.read_text(encoding="utf-8").splitlines())
    assert (record["sentence"], record["position"], record["word"]) == (1, 2, "____")
    assert [best["word"] for best in record["substitutes"]] == [row["substitute"] for row in table[:3]]
    assert record["substitutes"][0]["ln_p"] == float(table[0]["ln_p"])


def test_unknown_words():
    words = int(re.search(r"ngram 1=(\d+)", LM.read_text(encoding="utf-8"))[1]) - 3  # without the special words
    with_unknown = done("words", "substitutes", "-M", LM, "--top", words + 1, "--unknown", "--at", 1, stdin="x").out
    without = done("words", "substitutes", "-M", LM, "--top", words, "--at", 1, stdin="x").out
    assert "\t<unk>\t" in with_unknown
    assert "\t<unk>\t" not in without
    assert len(rows(with_unknown)) == len(rows(without)) + 1 == words + 1


@pytest.mark.parametrize(
    ("options", "text", "message"),
    [
        (("--at", "7"), "a b\n", "<stdin>:1: there is no position 7: the line has 2 words"),
        (("--at", "1"), "a\n\n", "<stdin>:2: there is no position 1: the line has no words"),
        (("--at", "blanks"), "a b\n", "<stdin>:1: the line has no blank, a word of underscores (____)"),
        (("--at", "0"), "a\n", "--at 0: wanted 'words', 'blanks', or a position from 1 on"),
        (("--top", "9999999"), "a\n", "--top 9999999: "),
    ],
)
def test_wrong_input(options, text, message, tmp_path):
    output = tmp_path / "out.tsv"
    ran = rerank("words", "substitutes", "-M", LM, *options, "-o", output, stdin=text)
    assert ran.code == 2
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert not output.exists()


def test_model_without_unknown_words(tmp_path):
    ngrams = {(w,): -1.0 for w in range(1, 6)} | {(3, 4): -0.25}
    path = tmp_path / "closed.arpa"
    path.write_text(arpa(ngrams, dict.fromkeys(ngrams, -0.5)))
    ran = rerank("words", "substitutes", "-M", path, "--top", 2, "--unknown", stdin="a b")
    assert ran.code == 2
    assert f"--unknown: {path} has no probability for <unk>" in ran.err
    assert [
        row["substitute"] for row in rows(rerank("words", "substitutes", "-M", path, "--top", 1, stdin="a zebra c").out)
    ]


def test_queues_in_the_cache(cache):
    done("words", "substitutes", ROOT / "example_nbest/mt/test.en", "-M", LM, "--top", 1)
    assert len(list((cache / "queues").iterdir())) == 1
    assert "MB of sorted queues" in done("tools", "cache").out
    done("tools", "cache", "--clear")
    assert not (cache / "queues").exists()
