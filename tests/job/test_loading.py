"""`load` finds plugins by name, table, object or file, and makes what is shared once."""

import gc
import pickle
import weakref
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import ANY, Mock

import numpy as np
import pytest

import rerank_adapters
from rerank_adapters import load, load_all
from rerank_adapters.applications.similarity.measure_data import FAMILIES, OF_DATA
from rerank_plugins import ConfigError, FeatureExtractor, LanguageModel, ModelError, Parser, PluginError
from rerank_plugins.core.plugins import KINDS, Variant
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.kit.files.languages import FOLDER
from rerank_plugins.similarity.measures.table import Measures
from tests.test_documentation import REGISTRY

ARPA = Path(__file__).parents[2] / "example_nbest/mt/lm.arpa"
SENTENCES = ["It rains.", "Dogs don't bark."]
WORDS = [["It", "rains", "."], ["Dogs", "do", "n't", "bark", "."]]


@dataclass
class Own(FeatureExtractor):
    """A feature that no plugin registers."""

    def extract(self, nbest):
        return np.ones((len(nbest), 1))


EXAMPLES = {  # options of plugins that need some, where they need neither a model of theirs nor another program
    ("feature", "column"): {"file": __file__},
    ("feature", "expected-utility"): {"samples": __file__},
    ("feature", "language-model-ratio"): {"lm": "ngram-lm", "general": "unigram"},
    ("language_model", "mixture"): {"models": ["ngram-lm", "unigram"], "weights": [0.5, 0.5]},
    ("language_model", "llm"): {"model": "served"},
    ("parser", "biaffine"): {"model": FOLDER / "en/parser.npz"},
    ("parser", "treebank"): {"path": __file__},
    ("metric", "mean"): {"metrics": ["bleu", "chrf"]},
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in KINDS for name in REGISTRY.entries[kind]])
def test_every_plugin_is_loaded_by_its_name(kind, name):
    """Skipped are those whose model or file no repository could hold."""
    entry = REGISTRY.get(kind, name)
    options = EXAMPLES.get((kind, name), {})
    lacking = {option.name for option in entry.options() if option.required} - options.keys()
    if lacking == {"language"}:
        options, lacking = {"language": "en"}, set()
    if lacking or name == "neural-translation":  # which needs one of two models
        pytest.skip(f"needs {lacking or 'a model'}")
    plugin = load(name, kind, **options)
    made = type(entry.factory.made) if isinstance(entry.factory, Variant) else entry.factory
    assert isinstance(plugin.parser if kind == "parser" else plugin, made)
    written = "".join(f",{key}={value}" for key, value in options.items() if not isinstance(value, list))
    if not any(isinstance(value, list) for value in options.values()):
        assert load(f"{name}{written}", kind) == plugin or kind in ("format", "trainer")


@pytest.mark.parametrize("name", Measures().names)
def test_every_measure_is_loaded_by_its_name(name):
    assert load(name).scores([("It rains .", "It rained .")]).shape == (1,)
    assert load(name, "measure") == load({"use": name}) == load(name)


def test_measures_with_data():
    assert {name.partition(".")[0] for name in Measures().names} | {*OF_DATA} == FAMILIES
    measure = load("svs.meaning", svs="en")
    assert measure == load("svs.meaning,svs=en")
    assert measure.measures is load("svs.top", svs="en").measures
    assert load("chrf", "measure") is load("chrf", "metric")
    with pytest.raises(ConfigError, match=r"the measure 'svs\.meaning' needs data: give them by --svs, or by svs=… in"):
        load("svs.meaning")
    with pytest.raises(ConfigError, match=r"no measure is named 'tfidf\.stem'; did you mean 'tfidf\.stems'"):
        load("tfidf.stem")
    with pytest.raises(ConfigError, match=r"tfidf\.stems has no option 'vector'; did you mean 'vectors'"):
        load("tfidf.stems", vector="x")
    with pytest.raises(TypeError, match=r"wanted the name of a measure, .* found Own"):
        load(Own(), "measure")


def test_names_options_tables_and_files_are_interchangeable():
    model = load("ngram-lm", model=ARPA)
    same = (f"ngram-lm,model={ARPA}", {"use": "ngram-lm", "model": str(ARPA)}, ARPA, str(ARPA))
    assert all(load(other) is model for other in same)
    assert load(model) is model
    assert load(model, "feature") is model


def test_paths_are_those_of_the_present_folder(monkeypatch):
    monkeypatch.chdir(ARPA.parent)
    assert load("ngram-lm", model="lm.arpa").model == ARPA
    assert load("lm.arpa").model == ARPA


def test_what_is_in_use_is_not_made_twice_and_the_rest_is_let_go():
    parser = load("pcfg", kind="parser")
    assert load("pcfg", kind="parser") is parser
    assert load("pcfg", kind="parser", k=2) is not parser
    assert load("dependency-lm", parser={"use": "pcfg", "k": 1}).parser is not load("english")
    first = load("dependency-lm", parser="english")
    assert first.parser is load("english")
    let_go = [weakref.ref(parser), weakref.ref(load("pcfg", kind="parser", k=2))]
    del parser, first
    gc.collect()
    assert [one() for one in let_go] == [None, None]


def test_a_file_that_has_changed_is_read_again(tmp_path):
    path = tmp_path / "lm.arpa"
    path.write_bytes(ARPA.read_bytes())
    before = load(path)
    path.write_bytes(ARPA.read_bytes() + b"\n")
    assert load(path) is not before


def test_plugins_are_options_of_plugins_as_names_tables_and_objects():
    model = load("ngram-lm", model=ARPA)
    by_object, by_table = load("slr", lm=model), load("slr", lm={"use": "ngram-lm", "model": str(ARPA)})
    assert by_object.lm is model
    assert by_table.lm is model
    assert load("slr", lm="treelet-lm").lm is load("treelet-lm")
    with pytest.raises(ConfigError, match="wanted the name or the table of a language_model"):
        load("slr", lm=7)


def test_models_take_texts_and_words():
    model = load("ngram-lm", model=ARPA)
    assert isinstance(model, LanguageModel)
    by_words = REGISTRY.get("language_model", "ngram-lm").factory(ARPA).totals(WORDS)
    assert model.totals(SENTENCES).tolist() == model.totals(WORDS).tolist() == by_words.tolist()
    assert model.totals([SENTENCES[0], WORDS[1]]).tolist() == by_words.tolist()
    assert model.totals("It rains.") == by_words[0]
    assert model.totals(sentences=SENTENCES).tolist() == by_words.tolist()
    assert model.score("It rains.").shape == (4,)
    assert load("ngram-lm", model=ARPA, text="none").totals(["It rains ."])[0] == by_words[0]
    assert load("ngram-lm", model=ARPA, text="lowercase+penn-tokenize").score("It rains.").shape == (4,)
    with pytest.raises(ConfigError, match="unknown text step"):
        load("ngram-lm", model=ARPA, text="penn-tokenise")


def test_a_model_that_was_not_loaded_still_refuses_texts():
    with pytest.raises(TypeError, match="sequence of words"):
        REGISTRY.get("language_model", "ngram-lm").factory(ARPA).totals(SENTENCES)


def test_parsers_take_texts_and_trees_print_themselves():
    parser = load("biaffine")
    assert isinstance(parser, Parser)
    tree = parser.parse("It rains.")
    assert tree.dependencies.words == ("It", "rains", ".")
    assert str(tree) + "\n\n" == tree.to_conllu()
    printer = Mock()  # of IPython
    tree._repr_pretty_(printer, False)
    printer.text.assert_called_once_with(str(tree))
    assert parser.parse(SENTENCES) == parser.parse(WORDS)
    assert str(load("pcfg", "parser").parse(SENTENCES)[0]).startswith("(ROOT (S (NP (PRP It))")
    with pytest.raises(ValueError, match="no constituents"):
        tree.to_brackets()


def test_what_was_loaded_goes_to_other_processes():
    for plugin in (load("ngram-lm", model=ARPA), load("english")):
        assert pickle.loads(pickle.dumps(plugin)) == plugin


@pytest.mark.parametrize(
    ("file", "kind", "found"),
    [
        ("en/parser.biaffine", None, "BiaffineParser"),
        ("en/treelet-lm.zst", None, "TreeletLanguageModel"),
        ("en/dependency-lm.zst", None, "DependencyLanguageModel"),
        ("en/grammar.pcfg", "parser", "PcfgParser"),
        ("en/grammar.pcfg", "language_model", "PcfgLanguageModel"),
        ("en/hhmm.pcfg", "language_model", "HhmmLanguageModel"),
        ("de/words.ngram", None, "NgramLanguageModel"),
    ],
)
def test_a_file_says_what_it_holds(file, kind, found):
    plugin = load(FOLDER / file, kind)
    assert type(plugin.parser if isinstance(plugin, CachedParser) else plugin).__name__ == found


@pytest.mark.parametrize(
    ("spec", "options", "error", "message"),
    [
        ("treelet-l", {}, PluginError, "no plugin named 'treelet-l'; did you mean 'treelet-lm'?"),
        ("blue", {"kind": "metric"}, PluginError, "no metric named 'blue'; did you mean 'bleu'?"),
        (
            "pcfg",
            {},
            ConfigError,
            "is the name of a language model and a parser: say which by kind='language_model' or",
        ),
        ("column", {}, ConfigError, "kind='feature' or kind='metric'"),
        ("bleu", {"kind": "metrik"}, ConfigError, "kind is 'metrik'; did you mean 'metric'?"),
        ("chrf", {"word_ordr": 2}, ConfigError, "chrf has no option 'word_ordr'; did you mean 'word_order'?"),
        ("ngram-lm,model=none.arpa", {"modell": 2}, ConfigError, "did you mean 'model'?"),
        ("none.arpa", {}, ConfigError, "none.arpa: no such file; wanted a trained model"),
        (Path("length"), {}, ConfigError, "length: no such file"),
        (FOLDER, {}, ConfigError, "is a folder"),
        (FOLDER / "en/hhmm.pcfg", {}, ConfigError, "load('hhmm-lm', kind='language_model', model=…) or load('hhmm'"),
        (
            FOLDER / "en/concepts.svs",
            {"kind": "parser"},
            ConfigError,
            "holds a model of the kind 'concepts', which is not",
        ),
        (
            FOLDER / "en/parser.biaffine",
            {"kind": "language_model"},
            ConfigError,
            "which is not read by a language model",
        ),
        (FOLDER / "de/models.toml", {}, ConfigError, "wanted a trained model or an ARPA file"),
        ({"model": "x"}, {}, ConfigError, "wants its name under 'use'"),
        (Own, {}, TypeError, "found the class Own: write Own()"),
        (7, {}, TypeError, "wanted a plugin, found 7"),
        (Own(), {"kind": "parser"}, TypeError, "wanted a parser, found Own()"),
        (Own(), {"order": 2}, TypeError, "options (order) belong to a name; Own is an object"),
    ],
)
def test_errors_are_one_line(spec, options, error, message):
    with pytest.raises(error) as raised:
        load(spec, **options)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_damaged_files_are_reported(tmp_path):
    damaged = tmp_path / "m.zst"
    damaged.write_bytes(b"rerankLM" + bytes([2, 0, 0, 0, 1, 0, 0, 0]) + b"[")
    with pytest.raises(ModelError, match=r"m\.zst: damaged model file"):
        load(damaged)


def test_trainers_are_meant_where_it_is_said():
    assert load("grammar", language="en") == load("grammar", kind="trainer", language="en")
    assert type(load("treelet-lm")).__name__ == "TreeletLanguageModel"
    assert type(load("treelet-lm", "trainer")).__name__ == "TreeletLMTrainer"


def test_one_or_many():
    model, own = load(ARPA), Own()
    assert load_all(ARPA, "language_model") == {"lm.arpa": model}
    assert load_all("treelet-lm", "language_model").keys() == {"treelet-lm"}
    assert load_all({"small": ARPA, "own": own}) == {"small": model, "own": own}
    assert load_all([own, "length", {"use": "reciprocal-rank", "label": "r"}], "feature").keys() == {
        "Own",
        "length",
        "r",
    }
    assert load_all(load("english")).keys() == {"EnglishParser"}
    assert load_all({"m": "tfidf.stems", "c": "threshold", "l": "length"}) == {
        "m": load("tfidf.stems"),
        "c": ANY,
        "l": load("length"),
    }
    assert load_all(["tfidf.stems", "chrf"], "measure").keys() == {"tfidf.stems", "chrf"}
    with pytest.raises(ConfigError, match="two are called 'Own'"):
        load_all([own, Own()])
    with pytest.raises(TypeError, match="at least one language model"):
        load_all([], "language_model")


def test_models_of_a_language():
    assert load("biaffine", language="de").parser.model == FOLDER / "de/parser.biaffine"
    assert load("hhmm-lm", language="de").model == FOLDER / "de/hhmm.pcfg"
    with pytest.raises(ModelError, match="language 'xx'"):
        load("treelet-lm", language="xx")


def test_the_package_lists_its_names():
    assert "load" in dir(rerank_adapters)
    with pytest.raises(AttributeError, match="did you mean 'load'"):
        rerank_adapters.laod  # noqa: B018
