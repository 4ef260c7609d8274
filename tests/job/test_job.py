"""What names and paths mean: in configs, on the command line, and in what weights record of a job."""

import tomllib
from dataclasses import replace

import pytest

from rerank_adapters.weights import read_weights, write_weights
from tests.command_line import done, refused

LISTS = (
    "0 ||| so it is ||| F= 1 ||| 1\n0 ||| is it so ||| F= 2 ||| 2\n1 ||| a B ||| F= 1 ||| 1\n1 ||| B a ||| F= 2 ||| 2\n"
)
ARPA = "\\data\\\nngram 1=4\n\n\\1-grams:\n-1 <unk>\n-99 <s>\n-1 </s>\n-0.5 it\n\n\\end\\\n"
NAMES = """[text]
small = ["lowercase"]

[language_model.news]
use = "ngram-lm"
model = "models/lm.arpa"

[[metric]]
use = "wer"
text = "small"

[[feature]]
use = "news"

[[feature]]
use = "language-model-ratio"
label = "ratio"
lm = "news"
general = "unigram"
text = ["small", "no-punctuation"]
"""
RECORD = """
[[feature]]
use = "ngram-lm"
label = "news"
model = "../models/lm.arpa"

[[feature]]
use = "language-model-ratio"
label = "ratio"
lm = { use = "ngram-lm", model = "../models/lm.arpa" }
general = { use = "unigram" }
text = ["lowercase", "no-punctuation"]

[[metric]]
use = "wer"
text = ["lowercase"]

[nbest]
use = "moses"
"""


@pytest.fixture
def files(tmp_path):
    """Lists, references, a model and a config that names it."""
    (tmp_path / "models").mkdir()
    (tmp_path / "weights").mkdir()
    for name, text in (("lists", LISTS), ("refs", "so it is\nB a\n"), ("models/lm.arpa", ARPA), ("job.toml", NAMES)):
        (tmp_path / name).write_text(text)
    return tmp_path


def tuned(files, *options):
    weights = files / "weights/w.toml"
    done("tune", files / "lists", "-r", files / "refs", "-t", "mert,restarts=2", *options, "-o", weights)
    return weights


def test_a_value_is_a_path_only_where_the_option_is_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("none", "13a", "refs", "sys"):
        (tmp_path / name).write_text("so it is\n")
    ran = done("evaluate", "-r", "refs", "-m", "bleu,tokenize=none", "-m", "bleu,tokenize=13a,label=13a", "sys")
    assert "tok:none" in ran.out


def test_paths_on_the_command_line_start_from_the_present_folder_and_those_of_a_config_from_it(files, monkeypatch):
    monkeypatch.chdir(files / "models")
    weights = tuned(files, "-c", files / "job.toml", "-f", "ngram-lm,model=lm.arpa,label=here", "-f", "news")
    assert {"here.total", "news.total"} <= read_weights(weights).dense.keys()


def test_weights_record_plugins_without_names_and_can_be_moved_with_their_models(files):
    weights = tuned(files, "-c", files / "job.toml")
    assert read_weights(weights).provenance["job"] == tomllib.loads(RECORD)
    before = done("apply", files / "lists", "-w", weights).out
    (files / "job.toml").unlink()
    (files / "moved").mkdir()
    for name in ("models", "weights"):
        (files / name).rename(files / "moved" / name)
    assert done("apply", files / "lists", "-w", files / "moved/weights/w.toml").out == before


def test_weights_that_were_moved_without_their_model_name_themselves_the_feature_and_the_model(files):
    weights = tuned(files, "-c", files / "job.toml")
    weights.rename(files / "w.toml")
    said = refused("apply", files / "lists", "-w", files / "w.toml")
    assert (
        said
        == f"{files}/w.toml: feature 'news': there is no {files}/../models/lm.arpa: move weights and models together"
    )


def test_weights_of_another_format_than_the_lists_say_so(files):
    weights = tuned(files, "-f", "length")
    (files / "lists.json").write_text('{"input": [["so it is", "is it so"]], "hyps": ["so it is", "is it so"]}\n')
    said = refused("apply", files / "lists.json", "-w", weights)
    shown = "and the file shows 'hyporadise': name it with --format hyporadise"
    assert said.startswith(f"{files}/lists.json:1: ")
    assert said.endswith(f"; {weights} records the format 'moses', {shown}")
    assert "records the format" not in refused("apply", files / "refs", "-w", weights)
    assert "records the format" not in refused("apply", files / "lists.json", "-w", weights, "--format", "kaldi")


def test_weights_of_older_versions_record_names(files):
    weights = tuned(files, "-c", files / "job.toml")
    before, read = done("apply", files / "lists", "-w", weights).out, read_weights(weights)
    old = tomllib.loads(NAMES.replace("models/lm.arpa", "../models/lm.arpa"))
    write_weights(replace(read, provenance={**read.provenance, "job": old}), weights)
    assert done("apply", files / "lists", "-w", weights).out == before


@pytest.mark.parametrize("label", ["my=chars", "my chars"])
def test_labels_are_checked_before_any_work(files, label):
    (files / "job.toml").write_text(
        f'[tune]\nnbest = ["lists"]\nreferences = ["refs"]\n[[feature]]\nuse = "length"\nlabel = "{label}"\n'
    )
    wanted = f"feature '{label}': its label is no name of a feature"
    assert wanted in refused("run", files / "job.toml", "--work", files / "work")
    assert not (files / "work").exists()
    assert wanted in refused("extract", files / "lists", "-f", f"length,label={label}", "-o", files / "t.npz")


def test_an_option_of_a_training_is_a_path_only_where_it_is_one(files):
    (files / "text").write_text("a b c\na b d\n" * 4)
    (files / "kneser-ney").write_text("of the same name\n")
    (files / "c.toml").write_text(
        '[[model]]\ntrain = "ngram"\ninputs = ["text"]\noutput = "m.ngram"\n'
        'options = { order = 2, text = "none", arpa = "m.arpa", smoothing = "kneser-ney" }\n'
    )
    done("prepare", files / "c.toml")
    assert (files / "m.arpa").is_file()
