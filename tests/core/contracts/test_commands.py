"""Faults of plugins that commands took for results: each is a line and exit code 2 now."""

import pytest

from tests.command_line import refused

CODE = """
from dataclasses import dataclass

import numpy as np

from rerank_plugins import (
    DependencyTree, LanguageModel, Metric, Parse, Parser, SentenceModel, Tuner, TuningResult, hookimpl, option
)


@dataclass(frozen=True)
class Own(LanguageModel):
    "A language model."

    fault: str = option("", doc="what is wrong")

    def __contains__(self, word):
        return True

    def score(self, sentences):
        add = {"no-end": 0, "positive": 1, "undefined": 1}[self.fault]
        value = {"no-end": -1.0, "positive": 0.25, "undefined": np.nan}[self.fault]
        return [np.full(len(words) + add, value) for words in sentences]


class Other(Parser):
    "A parser."

    def parse(self, sentences):
        return [Parse(DependencyTree(("other", "words"), (1, -1), ("dep", "root"))) for _ in sentences]


class Best(Tuner):
    "A tuner."

    def tune(self, data, start, rng, report=None):
        return TuningResult(start, 1.0, decision="best")


class Half(Metric):
    "A metric."

    def statistics(self, hypotheses, references):
        return np.ones((sum(map(len, hypotheses)), 1))

    def score(self, totals):
        return 0.5

    sentence_scores = score

    def signature(self):
        return "half"


class Fragile(Half):
    "A metric that fails on resampled sets."

    def score(self, totals):
        if totals.ndim > 2:
            raise KeyError("oops")
        return np.ones(totals.shape[:-1])

    sentence_scores = score


@hookimpl
def register_language_models(register):
    register("own", Own)


@hookimpl
def register_parsers(register):
    register("other", Other)


@hookimpl
def register_tuners(register):
    register("best", Best)


@hookimpl
def register_metrics(register):
    register("half", Half)
    register("fragile", Fragile)
"""
LISTS = "0 ||| a cat ||| F= 1 ||| 1\n0 ||| a dog ||| F= 2 ||| 1\n1 ||| the ||| F= 1 ||| 1\n1 ||| a ||| F= 0 ||| 1\n"
TUNE = ("tune", "lists", "-r", "texts", "-o", "w.toml")
FAULTS = {
    "score-no-end": (
        ("lm", "score", "texts", "-M", "own,fault=no-end"),
        "'own' of own.py: score, sentence 'a cat': found",
    ),
    "score-positive": (
        ("lm", "score", "texts", "-M", "own,fault=positive"),
        "value 1 of 3: found ln p = 0.25, wanted 0",
    ),
    "score-nan": (
        ("lm", "score", "texts", "-M", "own,fault=undefined"),
        "value 1 of 3: found nan, wanted finite numbers",
    ),
    "feature": (("extract", "lists", "-f", "own,fault=positive", "-o", "t.npz"), "found ln p = 0.25, wanted 0 or less"),
    "parse": (
        ("trees", "parse", "texts", "-p", "other"),
        "parser 'other' of own.py: parse, sentence 'a cat': found a tree over",
    ),
    "tuner": ((*TUNE, "-m", "wer", "-t", "best"), "tuner 'best' of own.py: tune: found decision 'best', wanted 'map'"),
    "resampling": (
        ("evaluate", "first=copy", "-r", "texts", "other=copy", "-m", "fragile"),
        "plugin own.py: KeyError: 'oops'",
    ),
    "metric": ((*TUNE, "-m", "half"), "metric 'half' of own.py: s"),
}


@pytest.mark.parametrize(("arguments", "said"), FAULTS.values(), ids=FAULTS)
def test_faults_are_lines(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(CODE)
    (tmp_path / "lists").write_text(LISTS)
    for name in ("texts", "copy"):
        (tmp_path / name).write_text("a cat\nthe\n")
    assert said in refused("--plugin", "own.py", *arguments)
