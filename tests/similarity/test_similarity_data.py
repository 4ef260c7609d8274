"""Measures that need data: given by options, remembered by trained systems, missed in one line."""

import importlib.util
import json

import pytest

from rerank_adapters.applications.similarity.measure_data import measures_of, recogniser_of
from rerank_adapters.applications.similarity.model import read_similarity
from rerank_plugins import ConfigError, ModelError
from rerank_plugins.dependency.stanza_parser import LONGEST, StanzaEntities
from rerank_plugins.similarity.measures.table import Measures
from tests.command_line import done, one_line, refused, rerank
from tests.conftest import ROOT
from tests.similarity.small_wordnet import write_wordnet

PAIRS = ROOT / "example_nbest" / "similarity" / "pairs.tsv"
NEW = PAIRS.with_name("new.tsv")
needs_stanza = pytest.mark.skipif(
    importlib.util.find_spec("stanza") is None, reason="the extra stanza is not installed"
)


@pytest.fixture(autouse=True)
def no_wordnet(monkeypatch):
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.delenv("WNHOME", raising=False)


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory):
    return write_wordnet(tmp_path_factory.mktemp("wordnet"))


@pytest.fixture(scope="module")
def esa(tmp_path_factory):
    model = tmp_path_factory.mktemp("esa") / "train.esa"
    done("train", "esa", ROOT / "example_nbest" / "mt" / "train.en", "--documents", 5, "--min-length", 10, "-o", model)
    return model


@pytest.mark.slow
def test_families_are_there_where_their_data_are(wordnet, esa):
    assert "wordnet" not in Measures().families
    assert "esa" not in Measures().families
    found = measures_of(wordnet=wordnet, esa=esa)
    assert list(found.families)[-2:] == ["wordnet", "esa"]
    assert found.data["wordnet"] == "WordNet of 26 synsets"
    values = found.columns([(["a", "dog"], ["a", "cat"])], {"wordnet"})
    assert values.shape == (1, len(found.names))
    assert {name.partition(".")[0] for name, value in zip(found.names, values[0], strict=True) if value} == {"wordnet"}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["one", "mixed"])
def test_a_system_remembers_its_data(mode, wordnet, esa, tmp_path, monkeypatch):
    system = tmp_path / "x.sim"
    families = ("overlap", "ngrams", "strings", "shape", "tfidf", "entities")
    options = [part for family in families for part in ("--without", family)]
    sources = [f"a={PAIRS}", f"b={PAIRS}"]
    data = ("--wordnet", wordnet, "--esa", esa)
    done("similarity", "train", *sources, "-o", system, "--mode", mode, *options, *data)
    model = read_similarity(system)
    assert set(model.data) == model.families <= {"wordnet", "esa"}
    assert "esa" in model.families
    again = done("similarity", "apply", NEW, "-M", system, *data).lines
    assert len(again) == 3
    missing = refused("similarity", "apply", NEW, "-M", system, "--wordnet", wordnet)
    assert "the system was trained with ESA of" in missing
    assert "give it by --esa" in missing
    other = tmp_path / "other.esa"
    done("train", "esa", PAIRS, "--documents", 2, "--min-length", 5, "--min-count", 1, "-o", other)
    wrong = refused("similarity", "apply", NEW, "-M", system, "--wordnet", wordnet, "--esa", other)
    assert "not with ESA of 15 documents" in wrong
    monkeypatch.setenv("WNSEARCHDIR", str(wordnet))
    assert done("similarity", "apply", NEW, "-M", system, "--esa", esa).lines == again


def test_a_system_without_those_measures_needs_no_data(esa, tmp_path):
    system = tmp_path / "x.sim"
    done("similarity", "train", PAIRS, "-o", system, "--without", "esa", "--esa", esa)
    assert read_similarity(system).data == {}
    assert len(done("similarity", "apply", NEW, "-M", system).lines) == 3


@pytest.mark.slow
def test_wordnet_on_its_own(wordnet, tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("a dog\ta puppy\na dog\tan entity\n\tdog\n", encoding="utf-8")
    found = done("similarity", "apply", pairs, "--measure", "wordnet.path", "--wordnet", wordnet).lines
    near, far, nothing = map(float, found)
    assert near > far > nothing == 0
    assert "give them by --wordnet" in refused("similarity", "apply", pairs, "--measure", "wordnet.path")
    assert "no WordNet database" in refused(
        "similarity", "apply", pairs, "--measure", "wordnet.path", "--wordnet", tmp_path
    )


def test_recognisers_that_there_are_not(tmp_path):
    assert recogniser_of("capitals") is None
    for text, message in [
        ("capital", "wanted capitals, or stanza"),
        ("capitals,model=x", "wanted capitals, or stanza"),
        ("stanza,modle=x", "no option 'modle', only: folder, language"),
        ("stanza,model=x,folder=y", "not both"),
    ]:
        with pytest.raises(ConfigError, match=message):
            recogniser_of(text)


@pytest.mark.slow
@needs_stanza
def test_files_of_stanza_that_are_not_there(tmp_path):
    with pytest.raises(ModelError, match=r"none\.pt: no such file \(needed for --entities stanza\)"):
        StanzaEntities(model=tmp_path / "none.pt").entities([["a"]])
    with pytest.raises(ModelError, match=r"resources\.json: no such file"):
        StanzaEntities(folder=tmp_path).entities([["a"]])


@needs_stanza
@pytest.mark.slow
def test_names_by_stanza(stanza_ner, tmp_path):
    recogniser = StanzaEntities(model=stanza_ner)
    sentences = ["we met Anna Berg in Oslo .", "", "the old cat sat .", "Maria lives in New York", "Peter saw Peter ."]
    found = recogniser.entities([*map(str.split, sentences), ["Anna"] * (LONGEST + 1)])
    assert found == [("anna berg", "oslo"), (), (), ("maria", "new york"), ("peter",), ()]
    pair = (["Maria", "lives", "in", "New", "York"], ["it", "rained", "in", "New", "York", "."])
    values = dict(zip(Measures().names, Measures(recogniser=recogniser).columns([pair])[0], strict=True))
    assert values["entities.overlap"] == pytest.approx(2 * 1 / 3)
    system = tmp_path / "x.sim"
    spec = f"stanza,model={stanza_ner}"
    families = ("overlap", "ngrams", "strings", "shape", "tfidf")
    options = [part for family in families for part in ("--without", family)]
    done("similarity", "train", PAIRS, "-o", system, "--entities", spec, *options)
    assert read_similarity(system).data == {"entities": "entities by stanza (en, ner.pt)"}
    missing = one_line(rerank("similarity", "evaluate", PAIRS, "-M", system), 2, after=True)
    assert "trained with entities by stanza (en, ner.pt)" in missing
    assert "give it by --entities" in missing
    assert json.loads(
        done("similarity", "evaluate", PAIRS, "-M", system, "--entities", spec, "--as", "json").out
    )[0]["pairs"] == 30  # fmt: skip
