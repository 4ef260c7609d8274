"""What trainers and features of other people return is checked where it comes in."""

import re

import pytest

from tests.command_line import done, refused, rerank

CODE = """
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from rerank_plugins import FeatureExtractor, SentenceFeature, Trained, Trainer, hookimpl, option


def save(path):
    print("saving")
    path.write_text("a model")


@dataclass
class Own(Trainer):
    "Learn a model."

    reads = "text"
    uses = ("held-out",)
    odd: int = option(0, doc="an option, 0 or more")

    def __post_init__(self):
        if self.odd < 0:
            raise ValueError("odd is below 0")

    def train(self, data):
        print("training")
        return RESULT


@dataclass
class Odd(KIND):
    "A feature."

    def METHOD(self, items):
        return VALUE


@hookimpl
def register_trainers(register):
    register("own", Own)


@hookimpl
def register_feature_extractors(register):
    register("odd", Odd)
"""
CODE = CODE.replace("KIND", "FeatureExtractor").replace("METHOD", "extract")
TRAINERS = {
    "None": "train: found None, wanted a Trained",
    "save": "train: found the function <function save at .*, wanted a Trained",
    "Trained(None)": "train: found save None, wanted a function",
    "Trained(save, 'a line')": "train: found lines 'a line', wanted a list of texts",
    "Trained(save, [3])": "train, lines: found the int 3, wanted a line of text",
    "Trained(save, what=None)": "train: found what None, wanted a text",
    "Trained(lambda path: 1 // 0)": "train, save: ZeroDivisionError: ",
    "Trained(lambda path: exit('no'))": "train, save: SystemExit: no: it called sys.exit",
    "Trained(save, (1 // 0 for _ in 'a'))": "train, lines: ZeroDivisionError: ",
}


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("a b\n")
    (tmp_path / "test.nbest").write_text("0 ||| a b ||| F= 1 ||| 1\n0 ||| a ||| F= 1 ||| 1\n")

    def written(**replaced):
        code = CODE
        for name, value in replaced.items():
            code = code.replace(name, value)
        (tmp_path / "own.py").write_text(code)
        return "--plugin", "own.py"

    return written


def last_line(*arguments):
    ran = rerank(*arguments)
    assert (ran.code, ran.out) == (2, ""), ran.err
    return ran.err.splitlines()[-1]


@pytest.mark.parametrize(("result", "said"), TRAINERS.items(), ids=TRAINERS)
def test_wrong_results(result, said, own):
    line = last_line(*own(RESULT=result), "train", "own", "text", "-o", "m.model")
    assert re.match(rf"rerank: trainer 'own' of own\.py: {said}", line), line


def test_right_results(own, tmp_path):
    ran = done(*own(RESULT="Trained(save, ['a line'])"), "train", "own", "text", "-o", "m.model")
    assert ran.out == ""
    assert [line for line in ran.err.splitlines() if line in ("training", "saving", "a line")] == [
        "training", "saving", "a line",
    ]  # fmt: skip
    assert (tmp_path / "m.model").read_text() == "a model"


def test_options_that_contradict_each_other(own):
    assert last_line(*own(RESULT="None"), "train", "own", "text", "-o", "m", "--odd", "-1") == (
        "rerank: own: odd is below 0"
    )


def test_promises_of_the_options(own):
    nothing = own(RESULT="Trained(lambda path: None)")
    assert "save wrote no file; wanted m.model" in last_line(*nothing, "train", "own", "text", "-o", "m.model")
    held_out = own(RESULT="Trained(save)")
    said = last_line(*held_out, "train", "own", "text", "-o", "m.model", "--held-out", "text")
    assert "found neither evaluate nor language_model, wanted one of them" in said


FEATURES = {
    ("FeatureExtractor", "extract", "1"): "segment 0: expected a numpy array of float64, got int",
    ("FeatureExtractor", "extract", "[[1.0]] * len(items)"): "segment 0: expected a numpy array of float64, got list",
    (
        "FeatureExtractor",
        "extract",
        "np.ones((len(items), 1), int)",
    ): "segment 0: expected a numpy array of float64, got int64",
    ("SentenceFeature", "values", "[[1.0]] * len(items)"): "segment 0: expected a numpy array of float64, got list",
    ("SentenceFeature", "values", "None"): "segment 0: TypeError: 'NoneType' object is not subscriptable",
    ("SentenceFeature", "values", "np.ones(len(items))"): r"segment 0: expected shape \(2, 1\) .*, got \(2,\)",
    ("SentenceFeature", "values", "np.full((len(items), 1), np.nan)"): r"segment 0, row 0: is nan, .*\(text: 'a b'\)",
}


@pytest.mark.parametrize(("kind", "method", "value"), FEATURES)
def test_features(kind, method, value, own):
    code = {"Odd(FeatureExtractor)": f"Odd({kind})", "def extract": f"def {method}", "return VALUE": f"return {value}"}
    said = refused(*own(**code), "extract", "test.nbest", "-f", "odd", "-o", "test.npz")
    who = r"feature 'odd' \(rerank_plugin_own_\w+\.Odd of own\.py\), "
    assert re.match(f"{who}.*{FEATURES[kind, method, value]}", said), said
