"""`similarity`: the scores of the command, a column for each measure or trained system."""

import json

import pytest

from rerank_adapters import load, similarity
from rerank_adapters.applications.similarity.model import read_similarity
from rerank_plugins import ConfigError
from tests.command_line import done, refused

PAIRS = [("A dog barks.", "The dogs bark."), ("It's raining.", "It rains."), ("", "x"), ("Same.", "Same.")]
MEASURES = ["tfidf.stems", "overlap.unigram", "strings.edits"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("similarity")
    (folder / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in PAIRS))
    scored = [f"{i % 6}\tthe dog {'barks ' * (i % 6)}\tthe dog {'barks ' * 5}\n" for i in range(30)]
    (folder / "scored.tsv").write_text("".join(scored))
    done("similarity", "train", folder / "scored.tsv", "-o", folder / "model.sim")
    return folder


def printed(folder, *arguments):
    return done("similarity", "apply", folder / "pairs.tsv", *arguments).lines


@pytest.mark.parametrize("pairs", [PAIRS, "file", "words"])
def test_it_is_what_the_command_prints(folder, pairs):
    text = "penn-tokenize"
    if pairs == "words":
        pairs = [(a.split(), b.split()) for a, b in PAIRS]
        commands = {name: printed(folder, "--measure", name, "--text", "none") for name in MEASURES}
    else:
        commands = {name: printed(folder, "--measure", name) for name in MEASURES}
    rows = similarity(folder / "pairs.tsv" if pairs == "file" else pairs, MEASURES, text=text)
    assert rows.columns == ("first", "second", *MEASURES)
    assert {name: [f"{value:.4f}" for value in rows[name]] for name in MEASURES} == commands
    assert rows["first"] == [a for a, _ in PAIRS]


def test_systems_by_file_and_as_objects(folder):
    path = folder / "model.sim"
    rows = similarity(
        PAIRS, {"file": path, "name": str(path), "object": read_similarity(path), "edits": "strings.edits"}
    )
    assert [f"{value:.4f}" for value in rows["file"]] == printed(folder, "-M", path)
    assert rows["file"] == rows["name"] == rows["object"]
    assert rows["edits"] == similarity(PAIRS, "strings.edits")["strings.edits"]
    assert similarity(PAIRS, path).columns == ("first", "second", "model.sim")


def test_metrics_are_measures(folder):
    rows = similarity(PAIRS, ["chrf", load("bleu", tokenize="none"), "chrf,word_order=2", "tfidf.stems"])
    assert rows.columns == ("first", "second", "chrf", "Bleu", "chrf,word_order=2", "tfidf.stems")
    metric = load("chrf")
    sides = [["A dog barks .", "It 's raining .", "", "Same ."], ["The dogs bark .", "It rains .", "x", "Same ."]]
    wanted = metric.sentence_scores(metric.statistics(*([[text] for text in side] for side in sides)))
    assert rows["chrf"] == wanted.tolist()
    assert wanted[3] == 100.0
    assert [f"{value:.4f}" for value in rows["chrf"]] == printed(folder, "--measure", "chrf")
    assert rows["tfidf.stems"] == similarity(PAIRS, "tfidf.stems")["tfidf.stems"]
    assert similarity([], "chrf")["chrf"] == []


PLUGIN = '''
import numpy as np
from dataclasses import dataclass
from rerank_plugins import Metric, hookimpl

@dataclass(frozen=True)
class Length(Metric):
    """How many words more than its reference a hypothesis has."""
    def statistics(self, hypotheses, references):
        counts = [[len(t.split()) - len(r[0].split())] for group, r in zip(hypotheses, references) for t in group]
        return np.array(counts, float)
    def score(self, totals):
        return totals[..., 0]
    def sentence_scores(self, statistics):
        return statistics[:, 0]
    def signature(self):
        return "length"

@hookimpl
def register_metrics(register):
    register("more-words", Length)
'''


def test_a_metric_of_others_is_a_measure_of_the_commands(folder):
    (folder / "more.py").write_text(PLUGIN)
    own = ("--plugin", folder / "more.py", "similarity")
    lines = done(*own, "apply", folder / "pairs.tsv", "--measure", "more-words").lines
    assert lines == ["0.0000", "1.0000", "-1.0000", "0.0000"]
    (record,) = json.loads(done(*own, "evaluate", folder / "scored.tsv", "--measure", "more-words", "--as", "json").out)
    assert record["pearson"] == pytest.approx(1.0)
    assert "--measure: chrf has no option 'x'" in refused(
        "similarity", "apply", folder / "pairs.tsv", "--measure", "chrf,x=1"
    )


def test_objects_of_load_are_measures(folder):
    stems, system = load("tfidf.stems"), load(folder / "model.sim")
    rows = similarity(PAIRS, {"a": stems, "b": system, "c": "tfidf.stems", "d": folder / "model.sim"})
    assert rows["a"] == rows["c"] == stems.scores(PAIRS).tolist()
    assert rows["b"] == rows["d"] == system.scores(PAIRS).tolist()
    assert similarity(PAIRS, stems).columns == ("first", "second", "tfidf.stems")
    assert load(str(folder / "model.sim"), "measure").scores([]).tolist() == []
    assert load("strings.edits", text="none").scores([(["a", "b"], "a b")]).tolist() == [1.0]
    with pytest.raises(TypeError, match=r"pairs\[0\]: wanted a pair of texts"):
        stems.scores(["ab"])


def test_what_it_refuses(folder):
    with pytest.raises(TypeError, match=r"pairs\[1\]: wanted a pair of texts"):
        similarity([("a", "b"), "ab"], "tfidf.stems")
    with pytest.raises(TypeError, match=r"pairs\[0\]: wanted a text or its words, found 1"):
        similarity([(1, "b")], "tfidf.stems")
    with pytest.raises(ConfigError, match=r"no measure is named 'tfidf.stem'; did you mean 'tfidf.stems'"):
        similarity(PAIRS, "tfidf.stem")
    with pytest.raises(ConfigError, match=r"the measure 'esa.cosine' needs data: give them by --esa"):
        similarity(PAIRS, "esa.cosine")
    with pytest.raises(ConfigError, match=r"two are called 'tfidf\.stems': give one a label"):
        similarity(PAIRS, ["tfidf.stems", "tfidf.stems"])
    with pytest.raises(
        TypeError, match="wanted the name of a measure, a table with 'use', a file or a trained system, f"
    ):
        similarity(PAIRS, [3])
    assert len(similarity([], "tfidf.stems")) == 0
    with pytest.raises(ConfigError, match=r"strings\.edits has no option 'txt'; did you mean 'text'"):
        similarity(PAIRS, "strings.edits,txt=none")
    with pytest.raises(ConfigError, match=r"a table of a plugin wants its name under 'use', found \{'name'"):
        similarity(PAIRS, [{"name": "x"}])


@pytest.mark.parametrize(
    "spec",
    [
        "strings.edits,text=none", {"use": "strings.edits", "text": "none"},
        ["strings.edits,text=none"], {"a": {"use": "strings.edits", "text": "none"}},
        [{"use": "strings.edits", "label": "a", "text": "none"}],
    ],
)  # fmt: skip
def test_a_measure_is_named_with_its_options(folder, spec):
    pairs = [("It rains.", "It rains ."), ("a", "b")]
    rows = similarity(pairs, spec)
    wanted = load("strings.edits", text="none").scores(pairs).tolist()
    assert rows[rows.columns[2]] == wanted
    assert wanted[0] < 1.0
    assert similarity(pairs, "strings.edits")["strings.edits"][0] == 1.0
    assert similarity(pairs, "strings.edits", text="none")["strings.edits"] == wanted
    lines = done("similarity", "apply", folder / "pairs.tsv", "--measure", "strings.edits,text=lowercase").lines
    assert lines == printed(folder, "--measure", "strings.edits", "--text", "lowercase")


def test_what_measures_share_is_computed_once(monkeypatch):
    from rerank_plugins.similarity.measures.table import Measures

    calls, columns = [], Measures.columns
    monkeypatch.setattr(Measures, "columns", lambda self, *given: calls.append(given[1]) or columns(self, *given))
    similarity(PAIRS, ["tfidf.stems", "tfidf.words", "overlap.unigram", "strings.edits,text=lowercase"])
    assert calls == [{"tfidf", "overlap"}, {"strings"}]
