"""A model file says what it is, in which language and with which parser: nothing is read as something else in silence."""

import json
import shutil
import sys
from types import SimpleNamespace

import pytest

from rerank_adapters.features.unknown_words import language_of_model
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.specs import Names, Spec
from rerank_plugins.kit.files.languages import embedded
from rerank_plugins.kit.files.model_file import model_kind, read_trained_on
from tests.command_line import done, refused
from tests.test_documentation import REGISTRY

BRACKETS = (
    "(ROOT (S (NP (DT the) (NN dog)) (VP (VBZ sleeps)) (. .)))\n(ROOT (S (NP (DT a) (NN cat)) (VP (VBZ runs)) (. .)))\n"
)
GERMAN = "wir haben das alte Haus am Fluss gestern gesehen .\nich glaube nicht , dass er morgen kommt .\n"
ROWS = """1\tder\tder\tDET\tART\t_\t2\tdet\t_\t_
2\tHund\tHund\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tschläft\tschlafen\tVERB\tVVFIN\t_\t0\troot\t_\t_

"""


@pytest.fixture
def put(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def test_a_model_of_incremental_parsing_is_read_as_one(put, tmp_path):
    trees, text = put("trees.ptb", BRACKETS), put("text.en", "the dog sleeps .\n")
    for name in ("hhmm", "grammar"):
        done("train", name, trees, "--language", "en", "--splits", "0", "-o", tmp_path / name)
    assert [model_kind(tmp_path / name) for name in ("hhmm", "grammar")] == ["hhmm", "grammar"]
    options = (text, "--text", "none", "--as", "json", "-M")
    (first,) = done("lm", "surprisal", *options, tmp_path / "hhmm").lines
    assert "depth" in json.loads(first)["words"][0], "which the HHMM alone has"
    ran = done("lm", "surprisal", *options, tmp_path / "grammar")
    assert "a grammar, read as pcfg; hhmm-lm,model=" in ran.err
    done("lm", "surprisal", text, "--text", "none", "-M", f"hhmm-lm,model={tmp_path}/grammar")
    counted = ("train", "hhmm", trees, "--language", "en", "--estimation", "events", "-o", tmp_path / "counted")
    done(*counted)
    assert "holds a hhmm model, wanted a grammar model" in refused(
        "trees", "parse", text, "-p", f"pcfg,model={tmp_path}/counted"
    )


def test_a_config_of_another_language_has_its_parser(put):
    text, config = put("text.de", "der Hund schläft .\n"), put("de.toml", 'language = "de"\n')
    assert "\tNOUN\t" in done("trees", "parse", text, "-c", config).lines[3]
    assert (
        done("trees", "parse", text, "-c", config).out
        == done("trees", "parse", text, "-c", config, "-p", "biaffine").out
    )


def test_text_in_another_language_than_the_model_is_warned_of(put):
    text, english = put("text.de", GERMAN), put("text.en", "the dog sleeps and the man runs to the old house .\n")
    warning = "unknown to the language model, which was trained on 'en'"
    for command in (
        ("lm", "score", text, "-M", "ngram-lm", "--as", "tsv"),
        ("lm", "surprisal", text, "-M", "ngram-lm"),
    ):
        assert warning in done(*command).err
    assert "unknown" not in done("lm", "surprisal", english, "-M", "ngram-lm").err
    german = f"ngram-lm,model={embedded('words.ngram', 'de')}"
    assert "which was trained on 'de'" in done("lm", "score", english, "-M", german).err


def test_lists_in_another_language_than_the_model_are_warned_of(put, tmp_path):
    """By `extract` and whatever else extracts features; `check` says it in the same words."""
    texts = GERMAN.splitlines()
    lists = put("lists", "".join(f"{i} ||| {t} ||| F= {j} ||| {j}\n" for i in range(6) for j, t in enumerate(texts)))
    english = put("english", "".join(f"{i} ||| the man sees the old house {i} ||| F= 1 ||| 1\n" for i in range(6)))
    references = put("refs", f"{texts[0]}\n" * 6)
    warning = "unknown to the model of 'ngram-lm', which was trained on 'en'"
    features = ("-f", "ngram-lm", "-f", "length")
    assert warning in done("extract", lists, *features, "-o", tmp_path / "t.npz").err
    assert warning in done("tune", lists, "-r", references, "-m", "wer", "-f", "ngram-lm,label=ngram-lm,unknown_types=2",
                           "-o", tmp_path / "w.toml").err  # fmt: skip
    assert "unknown to" not in done("extract", english, *features, "-o", tmp_path / "t.npz").err
    data = 'nbest = ["lists"]\nreferences = ["refs"]\n'
    rest = '[[metric]]\nuse = "wer"\n[[feature]]\nuse = "unigram"\n[evaluation]\nbootstrap = 9\nrandomisation = 9\n'
    job = put("job.toml", f"[tune]\n{data}[[test]]\n{data}{rest}")
    warning = "unknown to the model of 'unigram'"
    assert warning in done("check", job).out
    assert warning in done("run", job, "--work", tmp_path / "work").err


def test_a_model_that_is_an_object_and_no_file_has_no_language():
    """The feature `referential` has a model of a world and a grammar."""
    world = SimpleNamespace(model=object())
    assert language_of_model(world) == ""
    assert language_of_model(SimpleNamespace(model=None)) == "en"


def test_errors_of_english_are_not_inserted_into_other_languages(put):
    text = put("text.de", GERMAN)
    assert "has rules for English alone, and knows" in refused("negatives", "errors", text)
    parser = f"biaffine,model={embedded('parser.biaffine', 'de')}"
    assert "and the parser reads 'de'; `rerank negatives treebank`" in refused(
        "negatives", "errors", text, "--parser", parser
    )


def test_weights_and_tables_record_the_language(tmp_path):
    job = Job.of(Config(language="de", feature=[{"use": "hhmm-lm"}]), REGISTRY)
    recorded = job.record(tmp_path, "feature")
    assert recorded["language"] == "de"
    again = Job.of(Config.model_validate({**recorded, "base": tmp_path}), REGISTRY)
    assert again.feature("hhmm-lm").extractor.model == embedded("hhmm.pcfg", "de")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package of models of `xx`, made of copies, in which a treelet model is trained from CoNLL-U."""
    models, about = tmp_path / "rerank_models_xx", tmp_path / "rerank_models_xx-1.dist-info"
    models.mkdir()
    about.mkdir()
    (models / "__init__.py").touch()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: rerank-models-xx\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[rerank_plugins.languages]\nxx = rerank_models_xx\n")
    (tmp_path / "trees.conllu").write_text(ROWS * 4, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, models.name, raising=False)
    return models


def test_a_model_of_a_treebank_records_the_parser_that_is_named(package, tmp_path):
    """And finds it beside itself, under any name."""
    parser = tmp_path / "german.biaffine"
    shutil.copy(embedded("parser.biaffine", "de"), parser)
    trees, model = tmp_path / "trees.conllu", tmp_path / "german.treelet"
    named = f"biaffine,model={parser},constituents=true"
    done("train", "treelet-lm", trees, "-p", named, "--language", "de", "-o", model)
    assert read_trained_on(model).parser["use"] == "biaffine"
    shutil.move(model, package / "treelet-lm.zst")
    shutil.move(parser, package / "parser.biaffine")
    treelet = Spec.read("feature", {"use": "treelet-lm"}, Names(REGISTRY, language="xx")).make()
    assert treelet.parsers[0].parser.model == package / "parser.biaffine"
    assert treelet.totals([["der", "Hund", "schläft"]])[0] < 0
    wrong = refused(
        "train", "treelet-lm", trees, "-p", f"biaffine,model={package}/parser.biaffine", "--language", "de", "-o", model
    )
    assert "(biaffine gives such trees with constituents=true)" in wrong


def test_a_model_that_records_no_parser_has_that_of_the_language(package, tmp_path):
    shutil.copy(embedded("parser.biaffine", "de"), package / "parser.biaffine")
    done("train", "treelet-lm", tmp_path / "trees.conllu", "--language", "de", "-o", package / "treelet-lm.zst")
    assert not read_trained_on(package / "treelet-lm.zst").parser
    treelet = Spec.read("feature", {"use": "treelet-lm"}, Names(REGISTRY, language="xx")).make()
    assert treelet.parsers[0].parser.model == package / "parser.biaffine"
    assert treelet.totals([["der", "Hund", "schläft"]])[0] < 0


@pytest.mark.parametrize(("language", "lower"), [("tr", "ışık iyi"), ("en", "IŞIK İYİ".lower())])
def test_lower_case_is_that_of_the_language(language, lower):
    text = {"steps": ["lowercase"]}
    job = Job.of(Config(language=language, text=text), REGISTRY)
    assert job.names.pipeline("steps", "here").apply(["IŞIK İYİ"]) == [lower]
    assert job.names.pipeline("lowercase", "here").apply(["IŞIK İYİ"]) == [lower]
    assert job.names.pipeline("lowercase", "here", of_source=True).apply(["IŞIK"]) == ["işik"]
    assert job.names.pipeline("uppercase", "here").apply(["iı"]) == ["İI" if language == "tr" else "II"]


def test_a_trainer_has_the_lower_case_of_its_language(put, tmp_path):
    text = put("text.tr", "IŞIK\n" * 9)
    for language, word in (("tr", "ışık"), ("en", "işik")):
        model = tmp_path / f"{language}.arpa"
        done(
            "train",
            "ngram",
            text,
            "--text",
            "lowercase",
            "--language",
            language,
            "--order",
            "1",
            "--arpa",
            model,
            "-o",
            tmp_path / "m",
        )
        assert f"\t{word}" in model.read_text(encoding="utf-8")


def test_lower_case_of_a_language_that_is_named():
    assert done("tools", "text", "lowercase:tr", stdin="IŞIK\n").out == "ışık\n"
    assert done("tools", "text", "lowercase", stdin="IŞIK\n").out == "işik\n"
