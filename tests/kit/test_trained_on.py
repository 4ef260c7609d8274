"""What models record of their training: a model is read with its own parser, and never with one of another language."""

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from rerank_adapters.builtin import BUILTIN
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.specs import Names, Spec
from rerank_adapters.run.check import check
from rerank_plugins import ModelError
from rerank_plugins.constituency.parser import PcfgParser
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.dependency.biaffine.network import Sizes, initial
from rerank_plugins.dependency.biaffine.parser_file import BiaffineModel
from rerank_plugins.dependency.language_model import DependencyLanguageModel
from rerank_plugins.dependency.parsers import BiaffineParser, EnglishParser
from rerank_plugins.dependency.stanza_parser import StanzaParser
from rerank_plugins.kit.files.languages import embedded
from rerank_plugins.kit.files.model_file import read_trained_on, write_model
from rerank_plugins.treelet.language_model import TreeletLanguageModel
from tests.command_line import done, refused

REGISTRY = load_plugins(BUILTIN, installed=False)
GERMAN = ["der Hund sah die Katze nicht", "die Katze schläft", "ein Hund bellt und die Katze schläft"] * 4
ENGLISH = ["the dog saw the cat", "the cat sleeps", "a dog barks and the cat sleeps"] * 4
BRACKETS = "(ROOT (S (NP (ART {}) (NN {})) (VP (VVFIN {}))))\n"
NAME = "name the parser of the hypotheses with the option 'parser'"


def chains(texts):
    """CoNLL-U in which the head of each word is the word before it."""
    rows = ("".join(f"{i + 1}\t{w}\t_\tX\t_\t_\t{i}\tdep\t_\t_\n" for i, w in enumerate(t.split())) for t in texts)
    return "".join(f"{tree}\n" for tree in rows)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Texts, treebanks, and a German parser, which knows nothing."""
    monkeypatch.setenv("RERANK_CACHE", "")
    for name, texts in (("de", GERMAN), ("en", ENGLISH)):
        (tmp_path / f"{name}.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        (tmp_path / f"{name}.conllu").write_text(chains(texts), encoding="utf-8")
    (tmp_path / "de.ptb").write_text(BRACKETS.format("die", "Katze", "schläft") * 9, encoding="utf-8")
    sizes, labels = Sizes(4, 3, 4, 4, 3), ("a", "b")
    params = initial(sizes, 2, 2, 2, np.random.default_rng(0))
    BiaffineModel(params, labels, (), np.zeros((0, 3), np.float32), labels, labels, "de").save(
        tmp_path / "german.biaffine"
    )
    (tmp_path / "models").mkdir()
    return tmp_path


def train(place, *arguments, model="dependency-lm"):
    """The path of a model in the folder `models`."""
    path = place / "models" / "trained"
    done("train", model, *arguments, "--min-count", "1", "-j", "1", "-o", path)
    return path


def build(use, path, **options):
    kind = "language_model" if use == "treelet-lm" else "feature"
    return Spec.read(kind, {"use": use, "model": str(path), **options}, Names(REGISTRY)).make()


def test_the_parser_of_the_trees_is_the_default(place):
    path = train(place, place / "de.txt", "-p", f"biaffine,model={place / 'german.biaffine'}", "--text", "lowercase")
    recorded = read_trained_on(path)
    assert (recorded.language, recorded.text, recorded.parser["use"]) == ("de", "lowercase", "biaffine")
    assert recorded.parser["model"]["path"] == "../german.biaffine"
    feature = build("dependency-lm", path)
    assert feature.parser.parser == BiaffineParser(place / "german.biaffine")
    assert feature.values([["die", "Katze"]]).shape == (1, 3)


def test_the_parser_is_found_from_a_config_elsewhere(place, monkeypatch):
    """Paths that are relative to this folder do not become relative to the config's."""
    path = train(place, place / "de.txt", "-p", f"biaffine,model={place / 'german.biaffine'}")
    monkeypatch.chdir(place)
    (place / "configs").mkdir()
    names = Names(REGISTRY, Path("configs"))
    feature = Spec.read(
        "feature", {"use": "dependency-lm", "model": os.path.relpath(path, place / "configs")}, names
    ).make()
    assert feature.parser.parser == BiaffineParser(place / "german.biaffine")


def test_a_parser_of_another_language_is_refused(place):
    path = train(place, place / "de.conllu", "--language", "de")
    for options, whose in (({}, "the default parser"), ({"parser": "english"}, "the parser")):
        with pytest.raises(ModelError, match=f"trained on 'de', and {whose} reads 'en': {NAME}"):
            build("dependency-lm", path, **options)
    with pytest.raises(ModelError, match="trained on 'de', and the default parser reads 'en'"):
        DependencyLanguageModel(path).values([["die", "Katze"]])
    german = DependencyLanguageModel(path, BiaffineParser(place / "german.biaffine"))
    assert german.values([["die", "Katze"]]).shape == (1, 3)
    with pytest.raises(ModelError, match="the embedded model: trained on 'en', and the parser reads 'de'"):
        DependencyLanguageModel(None, BiaffineParser(place / "german.biaffine")).values([["die", "Katze"]])


@pytest.mark.parametrize("use", ["treelet-lm", "headlex"])
def test_language_models_of_trees_refuse_it_too(place, use):
    variant = ("--variant", "headlex") if use == "headlex" else ()
    path = train(place, place / "de.conllu", "--language", "de", *variant, model="treelet-lm")
    with pytest.raises(ModelError, match="trained on 'de', and the default parser reads 'en'"):
        Spec.read("language_model", {"use": use, "model": str(path)}, Names(REGISTRY)).make()


def test_the_parser_gives_as_many_trees_as_are_summed_over(place):
    shutil.copy(embedded("grammar.pcfg"), place / "own.pcfg")
    (place / "en.ptb").write_text("(ROOT (S (NP (DT the) (NN cat)) (VP (VBZ sleeps))))\n" * 9, encoding="utf-8")
    path = train(
        place, place / "en.ptb", place / "en.txt", "-p", f"pcfg,model={place / 'own.pcfg'}", model="treelet-lm"
    )
    assert build("treelet-lm", path, k=7).parser.parser == PcfgParser(place / "own.pcfg", k=7)
    assert isinstance(build("treelet-lm", path), TreeletLanguageModel)


def test_a_parser_file_is_found_beside_the_model_and_told_from_another(place):
    parser = place / "german.biaffine"
    path = train(place, place / "de.txt", "-p", f"biaffine,model={parser}")
    moved = shutil.move(parser, place / "models" / "german.biaffine")
    assert build("dependency-lm", path).parser.parser.model == moved
    content = moved.read_bytes()
    moved.write_bytes(content + b" ")
    with pytest.raises(
        ModelError, match=rf"trained: its trees were parsed by 'biaffine' .* is another file now: {NAME}"
    ):
        build("dependency-lm", path)
    moved.unlink()
    with pytest.raises(ModelError, match=rf"there is no \S+german.biaffine and no \S+german.biaffine: {NAME}"):
        build("dependency-lm", path)
    parser.write_bytes(content)
    assert build("dependency-lm", path).parser.parser.model == place / "german.biaffine"


def test_english_is_assumed_where_the_embedded_parser_knows_the_words(place, caplog):
    path = train(place, place / "en.conllu")
    assert (read_trained_on(path), caplog.text) == (TrainedOn("en"), "")
    assert build("dependency-lm", path).parser is None
    train(place, place / "de.conllu")
    assert read_trained_on(path) == TrainedOn("und")
    known = "the language of the trees is not known"
    assert f"{known} (62.5% of the words are unknown to the parser 'english'): give --language CODE" in caplog.text
    with pytest.raises(ModelError, match=f"trained on text of no known language: {NAME}, or train it with --language"):
        build("dependency-lm", path)


def test_text_that_the_parser_does_not_know_is_a_warning(place, caplog):
    path = train(place, place / "en.txt")
    assert (read_trained_on(path).language, caplog.text) == ("en", "")
    train(place, place / "de.txt")
    assert read_trained_on(path).language == "und"
    done("trees", "parse", place / "de.txt", "-o", place / "parsed")
    assert caplog.text.count("62.5% of the words are unknown to the parser (Katze ") == 2


def test_language_and_parser_that_contradict_each_other(place):
    target = place / "models" / "trained"
    said = refused("train", "dependency-lm", place / "de.txt", "--language", "de", "-o", target)
    assert said == "--language de: the parser 'english' reads 'en'; name another one with --parser"
    assert not target.exists()


def test_languages_of_parsers(place):
    assert EnglishParser().trained_on == PcfgParser().trained_on == TrainedOn("en")
    assert BiaffineParser(place / "german.biaffine").trained_on == StanzaParser("de").trained_on == TrainedOn("de")
    assert not TrainedOn("en").differs(TrainedOn("en-GB"))
    assert TrainedOn("en").differs(TrainedOn("german"))


def test_files_without_a_record(place):
    write_model(place / "none", "x", {}, {})
    write_model(place / "grammar", "grammar", {"language": "de"}, {})
    assert [read_trained_on(place / name).language for name in ("none", "grammar", "absent")] == ["", "de", ""]
    assert read_trained_on(embedded("dependency-lm.zst")) == TrainedOn("en")
    with pytest.raises(ModelError, match="not a model file"):
        read_trained_on(place / "de.txt")
    write_model(place / "odd", "x", {}, {}, TrainedOn("de", {"model": {"path": "x"}}))
    with pytest.raises(ModelError, match="damaged record of its parser"):
        build("dependency-lm", place / "odd")


def test_check_warns_for_every_embedded_model(place):
    lists = "".join(f"{i} ||| {text} ||| LM0= 1 ||| 1\n" for i, text in enumerate(GERMAN))
    (place / "lists").write_text(lists, encoding="utf-8")
    features = ("treelet-lm", "dependency-lm", "svs-similarity")
    config = {"test": [{"nbest": ["lists"]}], "feature": [{"use": use} for use in features], "base": place}
    findings = check(Job.of(Config.model_validate(config), REGISTRY)).findings
    warned = " ".join(finding.text for finding in findings if "words are unknown" in finding.text)
    assert set(re.findall(r"of '([a-z-]+)', which", warned)) == set(features)


def test_ngram_models_record_language_and_text_steps(place):
    path = place / "de.ngram"
    done("train", "ngram", place / "de.txt", "--language", "de", "--text", "lowercase", "-o", path)
    assert read_trained_on(path) == TrainedOn("de", text="lowercase")
