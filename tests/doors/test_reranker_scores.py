"""Totals in memory: weights record whether the lists of the tuning had totals, which some features read."""

import math
import random

import pytest

from rerank_adapters import Reranker, read_nbest
from rerank_plugins import ConfigError
from tests.command_line import done, refused

WORDS = [
    "the",
    "old",
    "mill",
    "is",
    "on",
    "a",
    "hill",
    "near",
    "our",
    "small",
    "town",
    "and",
    "nobody",
    "knows",
    "why",
    "it",
    "still",
    "turns",
]


def hypotheses(rng):
    return [" ".join(rng.choice(WORDS) for _ in range(5)) for _ in range(6)]


def fairseq(path, lists):
    path.write_text("".join(f"H-{i}\t{score}\t{text}\n" for i, pairs in enumerate(lists) for text, score in pairs))
    return path


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """Weights that were tuned on lists of fairseq, whose totals are logarithms to base 2, and lists to test."""
    folder, rng = tmp_path_factory.mktemp("tuned"), random.Random(1)
    sets = []
    for name in ("tune", "test"):
        lists = [[(text, -round(rng.random() * 6, 4)) for text in hypotheses(rng)] for _ in range(30)]
        fairseq(folder / name, lists)
        sets.append(lists)
    (folder / "ref").write_text("".join(f"{rng.choice(pairs)[0]}\n" for pairs in sets[0]))
    flags = ("-f", "length", "-f", "consensus", "-m", "wer", "-t", "mira,passes=3", "-j", 1, "--trust-pairs")
    done("tune", folder / "tune", "-r", folder / "ref", *flags, "-o", folder / "w.toml")
    return folder


def test_totals_and_the_features_of_the_weights_are_given(tuned):
    """Neither stands for the other: a list of a program has both, and what it lacks is named."""
    reranker = Reranker.load(tuned / "w.toml")
    for nbest in read_nbest(tuned / "test"):
        whole = reranker.rerank(nbest)
        totals, natural = [h.score for h in nbest], [h.features[0] for h in nbest]
        assert math.isclose(natural[0], totals[0] * math.log(2))
        alone = reranker.rerank(nbest.texts, scores=totals, features={"score": natural})
        assert [h.score for h in alone] == [h.score for h in whole]
    with pytest.raises(ConfigError, match="lacks feature 'score'"):
        reranker.rerank(nbest.texts, scores=totals)
    with pytest.raises(ConfigError, match="had totals, which 'consensus' reads; segment 0 has none"):
        reranker.rerank(nbest.texts, features={"score": natural})


def test_neither_is_an_error(tuned):
    with pytest.raises(
        ConfigError,
        match=r"the lists that the weights were tuned on had totals.* has none",
    ):
        Reranker.load(tuned / "w.toml").rerank(["a b", "c d"])


def moses(path, totals=True):
    end = " ||| -1" if totals else ""
    rows = [
        f"{i} ||| {text} ||| LM= -{rank + 1} WP= -2{end}\n"
        for i in range(4)
        for rank, text in enumerate(["a b", "c d"])
    ]
    path.write_text("".join(rows))
    return path


@pytest.mark.parametrize("with_them", [True, False])
def test_lists_of_tuning_and_of_later_either_have_totals_or_not(tmp_path, with_them):
    lists, others = moses(tmp_path / "a", with_them), moses(tmp_path / "b", not with_them)
    (tmp_path / "ref").write_text("a b\n" * 4)
    tune = ("tune", lists, "-r", tmp_path / "ref", "-m", "wer", "-t", "mira,passes=2", "-j", 1)
    done(*tune, "-f", "consensus", "-o", tmp_path / "w.toml")
    said = refused("apply", others, "-w", tmp_path / "w.toml")
    tuned, here = ("had totals", "has none") if with_them else ("had no totals", "has some")
    assert said.endswith(f"the lists that the weights were tuned on {tuned}, which 'consensus' reads; segment 0 {here}")
    reranker = Reranker.load(tmp_path / "w.toml")
    scores = None if with_them else [-1.0, -2.0]
    with pytest.raises(ConfigError, match="which 'consensus' reads"):
        reranker.rerank(["a", "b"], scores=scores, features={"LM": [-1, -2], "WP": [-2, -2]})
    done(*tune, "-f", "length", "-f", "consensus,posterior=rank", "-o", tmp_path / "w.toml")
    assert len(done("apply", others, "-w", tmp_path / "w.toml").lines) == 4


def test_weights_without_the_record_are_used_as_they_are(tuned, tmp_path):
    text = (tuned / "w.toml").read_text()
    start = text.index("[provenance.totals]")
    end = text.index("[", start + 1)
    (tmp_path / "w.toml").write_text(text[:start] + text[end:])
    reranker = Reranker.load(tmp_path / "w.toml")
    assert reranker.rerank(["a b", "c d"], features={"score": [-1.0, -2.0]}).nbest[0].score is None
