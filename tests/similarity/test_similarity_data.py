"""Measures that need data: given by options, remembered by trained systems, missed in one line."""

import pytest

from rerank_adapters.applications.similarity.measure_data import measures_of
from rerank_adapters.applications.similarity.model import read_similarity
from rerank_plugins.similarity.measures.table import Measures
from tests.command_line import done, refused
from tests.conftest import ROOT
from tests.similarity.small_wordnet import write_wordnet

PAIRS = ROOT / "example_nbest" / "similarity" / "pairs.tsv"
NEW = PAIRS.with_name("new.tsv")


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
