"""WordNet: its files, base forms, measures by hand and beside their twin, aligned sentences."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins import ConfigError, FormatError
from rerank_plugins.similarity.measures import data_measures
from rerank_plugins.similarity.measures.sentence_parts import Lexicon
from rerank_plugins.similarity.wordnet import MEASURES, WordNet, build_taxonomy, similarities, wordnet_folder
from tests.similarity import naive_wordnet as naive
from tests.similarity.small_wordnet import SYNSETS, write_wordnet

FREQUENCIES = {"dogs": 0.4, "cat": 0.2, "the": 0.39, "ran": 0.01}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_wordnet(tmp_path_factory.mktemp("wordnet") / "dict")


@pytest.fixture(scope="module")
def wordnet(folder):
    pytest.importorskip("nltk")
    return WordNet(folder, FREQUENCIES)


def between(wordnet, a, b):
    return dict(zip(MEASURES, wordnet.similarities([a], [b])[:, 0, 0].tolist(), strict=True))


def test_the_files(wordnet):
    assert repr(wordnet) == f"WordNet of {sum(map(len, SYNSETS.values()))} synsets"
    assert np.bincount([part for part, _ in wordnet.synsets]).tolist() == [17, 6, 2, 1]
    nouns = list(SYNSETS["noun"])
    assert wordnet.senses("bank").tolist() == [nouns.index("bank1"), nouns.index("bank2")]
    assert wordnet.senses("oslo").tolist() == [nouns.index("oslo")]


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("dogs", "dog"), ("puppies", "puppy"), ("banks", "bank"), ("berries", "berry"), ("ran", "run"),
        ("sprinted", "sprint"), ("moving", "move"), ("moves", "move"), ("bigger", ""), ("larger", "large"),
        ("smallest", "small"), ("fast", "quickly"), ("dogss", ""), ("s", ""), ("thought", "think"),
    ],
)  # fmt: skip
def test_base_forms(word, wanted, wordnet):
    assert wordnet.senses(word).tolist() == wordnet.senses(wanted).tolist()
    assert bool(len(wordnet.senses(word))) == bool(wanted)


def test_without_nltk(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk", None)
    monkeypatch.setitem(sys.modules, "nltk.data", None)
    with pytest.raises(ConfigError, match=r"read by NLTK: pip install 'rerank-plugins\[wordnet\]'"):
        WordNet(folder, FREQUENCIES)


def test_measures_by_hand(wordnet):
    """Dog and cat meet at pet (1 + 1 steps; depth entity 1, object 2, animal 3, pet 4); D = 6, of puppy."""
    found = between(wordnet, "dogs", "cats")
    assert found["path"] == pytest.approx(1 / 3)
    assert found["wup"] == pytest.approx(2 * 4 / (2 + 2 * 4))
    assert found["lch"] == pytest.approx(-np.log(3 / 12) / np.log(12))
    least = 0.01  # of a word seen once; "dogs" has two senses
    whole = 17 * least + 0.4 + 0.2
    ic = {
        "pet": -np.log((4 * least + 0.2 + 0.2) / whole),  # pet, dog, puppy, cat
        "dog": -np.log((2 * least + 0.2) / whole),
        "cat": -np.log((least + 0.2) / whole),
    }
    assert found["lin"] == pytest.approx(2 * ic["pet"] / (ic["dog"] + ic["cat"]))
    assert found["jcn"] == pytest.approx(1 / (1 + ic["dog"] + ic["cat"] - 2 * ic["pet"]))
    highest = -np.log(least / whole)  # of wolf, among others
    assert found["resnik"] == pytest.approx(ic["pet"] / highest)
    assert between(wordnet, "puppy", "wolf")["resnik"] == pytest.approx(-np.log((4 * least + 0.2) / whole) / highest)
    assert between(wordnet, "wolf", "wolves")["resnik"] == 1  # by the ending -ves
    assert between(wordnet, "bank", "city")["resnik"] == pytest.approx(-np.log((13 * least + 0.4) / whole) / highest)


def test_senses_parts_of_speech_and_unknown_words(wordnet):
    assert between(wordnet, "bank", "institution")["path"] == pytest.approx(1 / 2)  # the bank that is nearest
    one_synset = between(wordnet, "beast", "animals")
    assert 0 < one_synset.pop("resnik") < between(wordnet, "puppy", "puppies")["resnik"] == 1
    assert set(one_synset.values()) == {1.0}
    assert between(wordnet, "fast", "quickly")["jcn"] == 1
    assert not any(between(wordnet, "big", "small").values())  # adjectives have no hierarchy
    assert not any(between(wordnet, "dog", "run").values())
    assert not any(between(wordnet, "unheard", "dog").values())
    assert between(wordnet, "sprint", "thinks")["path"] == pytest.approx(1 / 5)  # by the synset above all verbs
    assert between(wordnet, "inhibit", "move")["path"] > 0  # out of a cycle
    assert wordnet.similarities([], ["dog"]).shape == (6, 0, 1)


@settings(max_examples=60)
@given(st.data())
def test_measures_agree_with_their_twin(data):
    """Hierarchies drawn at random: each synset has some of the earlier ones above it."""
    size = data.draw(st.integers(2, 8))
    above = [[]] + [
        data.draw(st.lists(st.integers(0, i - 1), min_size=1, max_size=3, unique=True)) for i in range(1, size)
    ]
    names = [f"w{i}" for i in range(size)]
    counts = data.draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))
    t = build_taxonomy([0] * size, above, np.array(counts, float) + min(counts))
    own = np.arange(size)
    starts = np.arange(size + 1)
    found = similarities(starts, own, starts, own, *t)
    hypernyms = {name: [names[h] for h in above[i]] for i, name in enumerate(names)}
    masses = {name: counts[i] + min(counts) for i, name in enumerate(names)}
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            wanted = naive.measures(a, b, hypernyms, masses, "w0")
            np.testing.assert_allclose(found[:, i, j], [wanted[name] for name in MEASURES], atol=1e-9)


def test_sentences_are_aligned_by_their_words(wordnet):
    lexicon = Lexicon()
    pairs = [("the dog ran", "the cat moved"), ("the dog ran", "the dog ran"), ("", "the cat"), ("zzz", "yyy")]
    texts = [(lexicon.text(a.split()), lexicon.text(b.split())) for a, b in pairs]
    values = data_measures.wordnet_columns(texts, wordnet, lexicon)
    assert values.shape == (4, len(data_measures.WORDNET))
    np.testing.assert_allclose(np.delete(values[1], data_measures.WORDNET.index("greedy_lemmas")), 1)
    assert not values[2:].any()
    n = 8
    idf = {word: np.log((n + 1) / (count + 1)) for word, count in (("the", 5), ("dog", 3), ("ran", 3), ("moved", 1))}
    idf["cat"] = np.log((n + 1) / 3)
    one = (idf["the"] + idf["dog"] / 3 + idf["ran"] / 2) / (idf["the"] + idf["dog"] + idf["ran"])
    other = (idf["the"] + idf["cat"] / 3 + idf["moved"] / 2) / (idf["the"] + idf["cat"] + idf["moved"])
    named = dict(zip(data_measures.WORDNET, values[0], strict=True))
    assert named["path"] == pytest.approx(2 * one * other / (one + other))
    counted = (1 + 1 / 3 + 1 / 2) / 3
    assert named["augmented"] == pytest.approx(counted)
    lin = {pair: between(wordnet, *pair)["lin"] for pair in (("dog", "cat"), ("ran", "moved"))}
    told = {word: lexicon.information(word) for word in ("the", "dog", "cat", "ran", "moved")}
    greedy = (
        told["the"]
        + max(told["dog"], told["cat"]) * lin["dog", "cat"]
        + max(told["ran"], told["moved"]) * lin["ran", "moved"]
    )
    assert named["greedy_lemmas"] == pytest.approx(greedy / 3)
    resnik = {pair: between(wordnet, *pair)["resnik"] for pair in lin}
    one = (idf["the"] + idf["dog"] * resnik["dog", "cat"] + idf["ran"] * resnik["ran", "moved"]) / (
        idf["the"] + idf["dog"] + idf["ran"]
    )
    other = (idf["the"] + idf["cat"] * resnik["dog", "cat"] + idf["moved"] * resnik["ran", "moved"]) / (
        idf["the"] + idf["cat"] + idf["moved"]
    )
    assert named["resnik"] == pytest.approx((one + other) / 2)


def test_where_the_files_are(folder, tmp_path, monkeypatch):
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.delenv("WNHOME", raising=False)
    assert wordnet_folder() is None
    assert wordnet_folder(folder) == folder
    assert wordnet_folder(folder.parent) == folder
    monkeypatch.setenv("WNHOME", str(folder.parent))
    assert wordnet_folder() == folder
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path))
    with pytest.raises(ConfigError, match=r"no WordNet database: wanted data\.noun, index\.noun"):
        wordnet_folder()


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("data.noun", "05 n 01 entity", "05 n xx entity", r"NLTK can read \(WordNetError: .*invalid literal"),
        ("data.noun", "@ 00000081", "@ 00000082", "No WordNet synset found for pos=n at offset=82"),
        ("index.noun", "dog n 2", "dog n 3", r"WordNetError: file index.noun, line \d+"),
        ("index.verb", " 00000", " 90000", r"ValueError: \d+ is not in list"),
    ],
)
def test_damaged_files(file, old, new, message, tmp_path):
    write_wordnet(tmp_path)
    text = (tmp_path / file).read_text()
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new, 1))
    with pytest.raises(FormatError, match=message) as caught:
        WordNet(tmp_path, FREQUENCIES)
    assert "\n" not in str(caught.value)
