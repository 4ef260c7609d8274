"""The models of a language come from a package: found by its entry point, used where a config names no model."""

import shutil

import pytest

from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.specs import Names, Spec
from rerank_adapters.run.check import check
from rerank_plugins import ConfigError, ModelError
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.kit.files.languages import (
    FILES,
    defaults_of,
    embedded,
    has_defaults,
    language_folders,
    missing,
    models_of,
)
from rerank_plugins.kit.files.model_file import read_trained_on
from tests.command_line import done
from tests.test_documentation import REGISTRY

TREES = """(S (NP (D la) (N kato)) (VP (V dormas)))
(S (NP (D la) (N hundo)) (VP (V vidas) (NP (D la) (N katon))))
"""
SENTENCES = [["la", "kato", "dormas"], ["la", "hundo", "dormas"]]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A folder with an installed distribution of models, in which `eo` has a grammar and a treelet model."""
    folder = tmp_path_factory.mktemp("site")
    models, about = folder / "rerank_models_eo", folder / "rerank_models_eo-1.dist-info"
    models.mkdir()
    about.mkdir()
    (models / "__init__.py").touch()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: rerank-models-eo\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[rerank_plugins.languages]\neo = rerank_models_eo\n")
    (folder / "trees.ptb").write_text(TREES)
    (folder / "text.eo").write_text("la kato dormas\n")
    done("train", "grammar", folder / "trees.ptb", "--splits", "0", "--language", "eo", "-o", models / "grammar.pcfg")
    done("train", "treelet-lm", folder / "trees.ptb", folder / "text.eo", "-p", f"pcfg,model={models}/grammar.pcfg", "--variant", "pcfg",
         "--language", "eo", "-o", models / "treelet-lm.zst")  # fmt: skip
    return folder


@pytest.fixture
def installed(package, monkeypatch):
    monkeypatch.syspath_prepend(package)
    return package / "rerank_models_eo"


def built(kind, use, **options):
    return Spec.read(kind, {"use": use, **options}, Names(REGISTRY, language="eo")).make()


def test_a_package_is_found_by_its_entry_point(installed):
    folders = [embedded("grammar.pcfg", language).parent for language in ("de", "en")]
    assert language_folders() == {"de": folders[0], "en": folders[1], "eo": installed}
    assert models_of("eo") == {"pcfg": installed / "grammar.pcfg", "treelet-lm": installed / "treelet-lm.zst"}
    assert set(FILES) - set(models_of("en")) == {"ngram-lm", "unigram"}  # whose files are of other kinds
    with pytest.raises(
        ModelError, match="language 'fi': there are models of de, en, eo, and a package such as rerank-"
    ):
        models_of("fi")
    assert missing(None) == "there are models of de, en, eo; docs/languages.md says how models are trained"


def test_models_of_the_language_are_used_where_none_is_named(installed, tmp_path):
    model = built("feature", "treelet-lm")
    assert model.model == installed / "treelet-lm.zst"
    assert model.parsers[0].trained_on.language == "eo"  # the recorded parser, beside the model
    assert (model.totals(SENTENCES) < 0).all()
    assert built("parser", "pcfg").trained_on.language == "eo"
    shutil.copy(installed / "grammar.pcfg", tmp_path / "own.pcfg")
    assert built("parser", "pcfg", model=str(tmp_path / "own.pcfg")).parser.model == tmp_path / "own.pcfg"
    with pytest.raises(ModelError, match=r"\[feature\]: the models of 'eo' have no hhmm\.pcfg; name one by `model`"):
        built("feature", "hhmm-lm")
    with pytest.raises(ModelError, match=r"have no parser\.biaffine"):
        built("parser", "biaffine")


def test_features_that_read_another_plugin_read_that_of_the_language(installed, tmp_path):
    assert built("feature", "slr").vocabulary.model == installed / "treelet-lm.zst"
    with pytest.raises(
        ModelError, match=r"^\[feature\]: lm: the models of 'eo' have no words\.ngram; name one by `mod"
    ):
        built("feature", "oov-count")
    (tmp_path / "words").write_text("kato\n")
    assert built("feature", "oov-count", words=str(tmp_path / "words")).vocabulary == {"kato"}
    assert [has_defaults(name, models_of("eo")) for name in ("slr", "treelet-lm", "unigram")] == [True, True, False]


def test_english_is_what_plugins_have_anyhow():
    """Named or not: but a plugin that needs a model gets it only where the language is named."""
    assert Spec.read("feature", {"use": "hhmm-lm"}, Names(REGISTRY, language="en")).make().model is None
    assert Spec.read("parser", {"use": "biaffine"}, Names(REGISTRY, language="en")).make().parser.model == embedded(
        "parser.biaffine"
    )
    with pytest.raises(ConfigError, match="biaffine needs the option 'model'"):
        Spec.read("parser", {"use": "biaffine"}, Names(REGISTRY)).make()
    assert defaults_of("", "pcfg", ["model"], []) == {}
    assert defaults_of("en", "slr", [], []) == {}
    assert read_trained_on(embedded("hhmm.pcfg")) == TrainedOn("en")


def test_the_check_names_the_models_of_the_language(installed):
    def lines(language):
        job = Job.of(Config(language=language, feature=[{"use": "treelet-lm"}]), REGISTRY)
        return [(found.level, found.text) for found in check(job).findings if found.where in ("language", "plugins")]

    assert lines("eo") == [("ok", "eo, with models of pcfg, treelet-lm"), ("ok", "treelet-lm, bleu, mira")]
    (level, text) = lines("fi")[0]
    assert (level, text.split(", and")[0]) == ("error", "language 'fi': there are models of de, en, eo")


def test_a_language_of_two_packages_and_a_package_that_is_not_there(package, monkeypatch, tmp_path):
    about = tmp_path / "more-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[rerank_plugins.languages]\nen = rerank_models_eo\n")
    monkeypatch.syspath_prepend(package)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelError, match=r"en = 'rerank_models_eo' \(more\): .*has models of 'en', too"):
        language_folders()
    (about / "entry_points.txt").write_text("[rerank_plugins.languages]\nfi = no_such_package\n")
    with pytest.raises(ModelError, match=r"fi = 'no_such_package' \(more\): ModuleNotFoundError"):
        language_folders()
