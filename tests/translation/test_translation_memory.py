"""The translation memory: retrieval and matching beside their twins, its file, its command, its feature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins import ConfigError, Hypothesis, ModelError, NBestList
from rerank_plugins.translation.memory_matches import compare
from rerank_plugins.translation.model_features import TranslationMemoryFeature
from rerank_plugins.translation.translation_memory import Settings, read_model, train, write_model
from rerank_plugins.translation.words import Sentences
from tests.command_line import done, refused, says_what_it_wrote
from tests.model_files import check_damage_is_seen
from tests.translation import naive_translation_memory as naive

PAIRS = [
    ("das ist ein Haus", "this is a house"),
    ("das ist ein Hund .", "this is a dog ."),
    ("das Haus ist alt", "the house is old"),
    ("ein Hund bellt .", "a dog is barking ."),
    ("ein Hund bellt .", "a dog barks ."),
    ("wo ist das Haus ?", "where is the house ?"),
]
WORDS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=5)


@settings(max_examples=30)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=30), WORDS, st.integers(1, 4), st.booleans())
def test_retrieval_finds_what_scoring_all_pairs_finds(pairs, query, most, copies):
    texts = list(dict.fromkeys((" ".join(source), " ".join(target)) for source, target in pairs))
    memory, sources = train(texts, Settings()), [source.split() for source, _ in texts]
    impacts = naive.bm25_impacts(sources, 1.2, 0.75)
    expected = naive.by_bm25(query, sources, impacts, most, copies=copies)
    for _ in range(2):  # the second time with the scratch of the first
        encoded, _ = memory.source.encoded([" ".join(query)], lowercase=True)
        found, scores = memory.by_bm25(encoded, most, copies=copies)
        assert list(zip(found.tolist(), scores.tolist(), strict=True)) == expected
    near = memory.nearest(" ".join(query), most, candidates=6)
    expected_near = naive.nearest(query, [(s.split(), t.split()) for s, t in texts], most, 6)
    assert near.pairs.tolist() == [i for i, _ in expected_near]
    np.testing.assert_allclose(near.similarities, [score for _, score in expected_near])


def test_retrieval_in_many_pairs_leaves_long_lists_unread():
    """Frequent words are not added up but looked up, or passed over late: the best are the same all the same."""
    rng = np.random.default_rng(1)
    words = np.array([f"w{i}" for i in range(300)])
    frequencies = 1 / np.arange(1, 301)
    draw = [rng.choice(words, rng.integers(2, 9), p=frequencies / frequencies.sum()) for _ in range(1500)]
    texts = list(dict.fromkeys(" ".join(sentence) for sentence in draw))
    memory, sources = train([(text, "x") for text in texts], Settings()), [text.split() for text in texts]
    impacts = naive.bm25_impacts(sources, 1.2, 0.75)
    for query in [*sources[:40:2], ["w0", "w299"], ["w0", "w1", "w1"]]:
        encoded, _ = memory.source.encoded([" ".join(query)], lowercase=True)
        for most, copies in ((3, True), (20, False)):
            found, scores = memory.by_bm25(encoded, most, copies=copies)
            expected = naive.by_bm25(query, sources, impacts, most, copies=copies)
            assert list(zip(found.tolist(), scores.tolist(), strict=True)) == expected


@settings(max_examples=30)
@given(st.lists(WORDS, max_size=3), st.lists(WORDS, min_size=1, max_size=3))
def test_distances_and_runs(sentences, others):
    memory = train([("x", " ".join(words)) for words in others], Settings())
    kept = [memory.target.text(i).split() for i in range(len(memory))]
    tokens, offsets = memory.target.encoded(map(" ".join, sentences), lowercase=True)
    distances, runs = compare(tokens, offsets, memory.target, np.arange(len(kept)))
    for i, words in enumerate(sentences):
        assert distances[i].tolist() == [naive.distance(words, other) for other in kept]
        assert runs[i].tolist() == [naive.longest_run(words, other) for other in kept]


def list_of(source, *texts):
    return NBestList("1", tuple(map(Hypothesis, texts)), source=source)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "memory"
    write_model(train(PAIRS, Settings()), path)
    return path


@settings(max_examples=20)
@given(
    st.lists(st.lists(st.sampled_from(["a", "dog", "house", "is", "the", "."]), max_size=8), min_size=1, max_size=3),
    st.sampled_from(["best", "mean"]),
    st.integers(1, 4),
)
def test_the_feature_is_that_of_dictionaries_of_ngrams(model, sentences, combine, nearest):
    feature = TranslationMemoryFeature(model, nearest=nearest, combine=combine, max_order=3)
    near = feature.matches("wo ist ein Hund ?")
    memory = read_model(model)
    targets = [memory.target.text(pair).split() for pair in near.pairs]
    expected = [naive.values(words, targets, near.similarities, combine, 3) for words in sentences]
    found = feature.extract(list_of("wo ist ein Hund ?", *map(" ".join, sentences)))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_an_example(model):
    feature = TranslationMemoryFeature(model, nearest=2, max_order=2, combine="best")
    near = feature.matches("das Haus ist neu")
    assert near.pairs.tolist() == [2, 0]
    assert near.similarities.tolist() == [3 / 4, 1 / 4]  # one edit from `das Haus ist alt`, three from the other
    values = feature.extract(list_of("das Haus ist neu", "the house is new", "this house", "", "zebra"))
    assert values[0, 0] == pytest.approx(3 * 0.75 / 4)  # `the`, `house`, `is` are in the nearest translation
    assert values[0, 4] == pytest.approx(0.75 * 3 / 4)
    assert values[:, 5].tolist() == [3, 1, 0, 0]
    np.testing.assert_array_equal(values[2:], 0)
    assert feature.components == ("precision1", "recall1", "precision2", "recall2", "similarity", "longest")


def test_each_repetition_of_an_ngram_matches_one(tmp_path):
    path, source = tmp_path / "memory", "ja ja"
    write_model(train([(source, "a a a dog a a"), *PAIRS], Settings()), path)
    feature, sentences = TranslationMemoryFeature(path, nearest=1, max_order=2), ["a a a", "a a a a a a", "dog a a a"]
    near, targets = feature.matches(source), [["a", "a", "a", "dog", "a", "a"]]
    expected = [naive.values(text.split(), targets, near.similarities, "mean", 2) for text in sentences]
    np.testing.assert_allclose(feature.extract(list_of(source, *sentences)), expected, atol=1e-12)


def test_weights_of_words_are_those_of_bm25():
    memory = train(PAIRS, Settings(k1=0.9, b=0.4))
    starts, words = memory.postings.starts, memory.source.words
    sources = [source.lower().split() for source, _ in PAIRS]
    for place, (sentence, impacts) in enumerate(zip(sources, naive.bm25_impacts(sources, 0.9, 0.4), strict=True)):
        found = {}
        for number, word in enumerate(words):
            within = slice(starts[number], starts[number + 1])
            for document, impact in zip(
                memory.postings.documents[within], memory.postings.impacts[within], strict=True
            ):
                if document == place:
                    found[word] = int(impact)
        assert found == impacts, sentence


def test_copies_of_the_source_can_be_left_out(model):
    query = "ein Hund bellt ."
    assert TranslationMemoryFeature(model, nearest=2).matches(query).similarities.tolist() == [1.0, 1.0]
    others = TranslationMemoryFeature(model, nearest=2, copies=False).matches(query)
    assert 1.0 not in others.similarities
    assert not {3, 4} & set(others.pairs.tolist())


def test_no_pair_and_no_source(model):
    feature = TranslationMemoryFeature(model)
    assert not feature.extract(list_of("unbekannt", "the house")).any()
    with pytest.raises(ConfigError, match="segment 1 has none"):
        feature.extract(list_of(None, "the house"))
    with pytest.raises(ValueError, match="nearest is 0"):
        TranslationMemoryFeature(model, nearest=0)


def test_pairs_that_are_the_same_or_empty_are_left_out():
    memory = train([*PAIRS, ("Das Haus ist alt", "The house is old"), ("", "x"), ("x", " ")], Settings())
    assert len(memory) == len(PAIRS)
    assert memory.provenance["pairs"] == len(PAIRS) + 3
    assert isinstance(memory.source, Sentences)
    assert len(train([*PAIRS, ("Das Haus ist alt", "the house is old")], Settings(lowercase=False))) == len(PAIRS) + 1
    with pytest.raises(ModelError, match="1 pairs, none with words on both sides"):
        train([("", "x")], Settings())


def test_damage_to_the_file_is_seen(model):
    check_damage_is_seen(model, read_model, ModelError, flips=10)


def test_the_command_reads_two_files_or_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, lines in (
        ("de", [source for source, _ in PAIRS]),
        ("en", [target for _, target in PAIRS]),
        ("de-en", [" ||| ".join(pair) for pair in PAIRS]),
        ("short", ["a house"]),
    ):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    ran = done("train", "translation-memory", "de", "en", "-o", "two")
    assert "6 pairs of sentences, 6 of them distinct and not empty" in ran.err
    assert says_what_it_wrote(ran, r"the memory \(0\.00 MB\)", "two")
    done("train", "translation-memory", "de-en", "-o", "one")
    assert [read_model(tmp_path / name).target.text(5) for name in ("one", "two")] == ["where is the house ?"] * 2
    train_it = ("train", "translation-memory")
    assert refused(*train_it, "de", "short", "-o", "x").startswith("short: 1 lines, but 6 in de")
    assert refused(*train_it, "de", "-o", "x").startswith("de:1: found 1 parts, expected source ||| target")
    assert refused(*train_it, "de", "en", "de", "-o", "x").startswith("3 files of sentence pairs")
