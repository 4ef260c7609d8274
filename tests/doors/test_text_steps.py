"""Text steps are a list or steps joined by `+`, wherever a command, a config or a plugin's option names them."""

import json
from pathlib import Path

import pytest

from rerank_adapters.job.config import Config, read_config
from rerank_adapters.job.job import Job
from rerank_adapters.job.specs import plugin_table
from rerank_adapters.text import TextPipeline, split_steps
from rerank_plugins import ConfigError, FeatureTable
from tests.command_line import done, refused

LISTS = "0 ||| I ca@@ n't GO ||| x= 1\n0 ||| we go ||| x= 2\n"
WAYS = ("text=['undo-bpe', 'lowercase']", "text=['undo-bpe+lowercase']", "text=undo-bpe+lowercase")


@pytest.fixture
def lists(tmp_path):
    path = tmp_path / "lists"
    path.write_text(LISTS)
    return path


@pytest.mark.parametrize(
    ("value", "steps"),
    [
        (None, ()),
        ("none", ()),
        (("none",), ()),
        ([], ()),
        ("lowercase", ("lowercase",)),
        ("undo-bpe+lowercase", ("undo-bpe", "lowercase")),
        (["undo-bpe+lowercase", "reverse"], ("undo-bpe", "lowercase", "reverse")),
        ("truecase:c++/m.en+lowercase", ("truecase:c++/m.en", "lowercase")),
        ("no-punctuation:+-", ("no-punctuation:+-",)),
        ("tokenize:en+lowercas", ("tokenize:en", "lowercas")),
        ("a++b", ("a", "", "b")),
    ],
)
def test_all_ways_to_write_them(value, steps):
    assert split_steps(value) == steps


@pytest.mark.parametrize("value", [3, ["lowercase", 3], {"use": "lowercase"}, True])
def test_anything_else_is_an_error(value):
    with pytest.raises(
        ConfigError, match=r"\[\[metric\]\] 1: .* not text steps; wanted step\+step, or a list of steps"
    ):
        split_steps(value, "[[metric]] 1")


@pytest.mark.parametrize("way", WAYS)
def test_a_feature_takes_both(lists, tmp_path, way):
    done("extract", lists, "-f", f"length,{way}", "-o", tmp_path / "t.npz")
    table = FeatureTable.load(tmp_path / "t.npz")
    assert table.values[:, table.names.index("length")].tolist() == [3, 2]


@pytest.mark.parametrize("way", WAYS)
def test_a_metric_takes_both(tmp_path, way):
    (tmp_path / "ref").write_text("i can't go\n")
    (tmp_path / "sys").write_text("I ca@@ n't GO\n")
    ran = done("evaluate", "-r", tmp_path / "ref", "-m", f"wer,{way}", tmp_path / "sys", "--as", "tsv")
    assert ran.lines[1].split("\t")[:3] == ["wer", "sys", "0"]


def test_source_text_and_named_pipelines_in_lists(tmp_path):
    config = Config(
        text={"whole": "undo-bpe+lowercase", "more": ["reverse"]},  # type: ignore[dict-item]
        feature=[{"use": "length", "text": ["whole", "reverse"], "source_text": "more+uppercase"}],
    )
    job = Job.of(config, _registry())
    assert job.feature("length").text.steps == ("undo-bpe", "lowercase", "reverse")
    assert job.feature("length").source.steps == ("reverse", "uppercase")


def test_a_name_that_is_nothing_is_an_error_of_its_place():
    config = Config(text={"whole": ["undo-bpe"]}, feature=[{"use": "length", "text": ["whol", "lowercase"]}])
    with pytest.raises(
        ConfigError, match=r"\[\[feature\]\] length: no text pipeline or step named 'whol'; did you mean"
    ):
        Job.of(config, _registry()).features()


def test_pipelines_of_a_config(tmp_path):
    (tmp_path / "c.toml").write_text('[text]\na = "undo-bpe+lowercase"\nb = ["undo-bpe", "lowercase"]\n')
    job = Job.of(read_config(tmp_path / "c.toml"), _registry())
    named = [job.names.pipeline(value, "x") for value in ("a", "b", ["undo-bpe", "lowercase"])]
    assert named[0] == named[1] == named[2]


@pytest.mark.parametrize("steps", [("undo-bpe+lowercase",), ("undo-bpe", "lowercase")])
def test_commands_take_both(lists, tmp_path, steps):
    assert done("tools", "text", *steps, stdin="A@@ B C\n").out == "ab c\n"
    options = [argument for step in steps for argument in ("--text", step)]
    scores = done("lm", "score", "-M", "unigram", *options, stdin="CA@@ T\n").out
    assert scores == done("lm", "score", "-M", "unigram", "--text", "none", stdin="cat\n").out
    (tmp_path / "ref").write_text("WE GO\n")
    pairs = done("table", "pairs", lists, "-r", tmp_path / "ref", *options).out
    assert pairs == "i can't go\twe go\nwe go\twe go\n"


def test_training_takes_both(tmp_path):
    (tmp_path / "text").write_text("A B@@ C\nA D\n" * 4)
    for number, steps in enumerate((["undo-bpe+lowercase"], ["undo-bpe", "lowercase"])):
        options = [argument for step in steps for argument in ("--text", step)]
        done("train", "ngram", tmp_path / "text", *options, "--order", 2, "-o", tmp_path / f"{number}.arpa")
    assert (tmp_path / "0.arpa").read_bytes() == (tmp_path / "1.arpa").read_bytes()


def test_a_config_of_models_takes_both(tmp_path):
    (tmp_path / "text").write_text("A B@@ C\nA D\n" * 4)
    for name, text in (("a", '"undo-bpe+lowercase"'), ("b", '["undo-bpe", "lowercase"]'), ("c", '"none"')):
        (tmp_path / "c.toml").write_text(
            f'[[model]]\ntrain = "ngram"\ninputs = ["text"]\noutput = "{name}.arpa"\n'
            f"options = {{ order = 2, text = {text} }}\n"
        )
        done("prepare", tmp_path / "c.toml")
    assert (tmp_path / "a.arpa").read_bytes() == (tmp_path / "b.arpa").read_bytes()
    assert (tmp_path / "a.arpa").read_bytes() != (tmp_path / "c.arpa").read_bytes()


def test_a_pipeline_of_one_text():
    assert TextPipeline("undo-bpe+lowercase").apply(["A@@ B"]) == ["ab"]


def test_a_folder_of_the_same_name_is_no_step_and_no_label(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lowercase").mkdir()
    assert plugin_table("length,text=lowercase,label=lowercase") == {
        "use": "length", "text": "lowercase", "label": "lowercase"
    }  # fmt: skip


def test_files_of_steps_are_recorded_relative_to_the_table(tmp_path):
    config = Config(feature=[{"use": "length", "text": "classes:c.tsv+lowercase"}], base=tmp_path)
    tables = Job.of(config, _registry()).record(tmp_path / "work", "feature")
    assert tables["feature"][0]["text"] == ["classes:../c.tsv", "lowercase"]


def test_variables_in_files_of_steps_are_expanded(tmp_path, monkeypatch):
    monkeypatch.setenv("CLASSES", "of-words")
    (tmp_path / "of-words").mkdir()
    (tmp_path / "of-words/c.tsv").write_text("word\tclass\na\tX\n")
    (tmp_path / "text").write_text("a a b\n" * 4)
    (tmp_path / "c.toml").write_text(
        '[[model]]\ntrain = "ngram"\ninputs = ["text"]\noutput = "m.ngram"\n'
        'options = { order = 2, text = "classes:$CLASSES/c.tsv", arpa = "m.arpa" }\n'
    )
    done("prepare", tmp_path / "c.toml")
    assert "\tX X\n" in (tmp_path / "m.arpa").read_text()


def test_one_value_in_the_place_of_a_list(tmp_path):
    (tmp_path / "utt.nbest").write_text("-10 -2 2 <s> -pau- a\n-11 -2 2 -pau- b\n")
    ran = done("lists", "merge", tmp_path / "utt.nbest", "--format", "srilm,drop=-pau-", "--as", "hyporadise")
    assert json.loads(ran.out)["hyps"] == ["<s> a", "b"]
    said = refused("lists", "merge", tmp_path / "utt.nbest", "--format", "srilm,drop=-pau-,<s>")
    assert said.endswith("option 'drop' is '-pau-,<s>', which is one value; wanted a list: ['-pau-', '<s>']")


def _registry():
    from rerank_adapters.builtin import BUILTIN
    from rerank_plugins.core.loader import load_plugins

    return load_plugins(BUILTIN)
