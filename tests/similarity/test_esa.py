"""Explicit semantic analysis: the index and its cosines beside their twin, forms of documents, files, the command."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins import FormatError, ModelError
from rerank_plugins.similarity import esa_training as training
from rerank_plugins.similarity.esa_model import read_model, write_model
from rerank_plugins.similarity.esa_training import Document, Settings, documents, train
from rerank_plugins.similarity.measures import data_measures
from rerank_plugins.similarity.measures.sentence_parts import Lexicon
from tests.command_line import done, refused, says_what_it_wrote
from tests.model_files import check_damage_is_seen
from tests.similarity import naive_esa as naive

ANIMALS = "the cat and the dog ran after the cat"
BANKS = "the bank lent the man the money of the bank"
SEA = "the man and the dog swam in the sea"
COLLECTION = [Document("animals", (ANIMALS,)), Document("banks", (BANKS,)), Document("sea", (SEA,))]
LOW = Settings(shortest=1, min_count=1)


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8), min_size=2, max_size=6),
    st.integers(1, 3), st.integers(1, 4), st.integers(1, 2), st.integers(1, 30),
)  # fmt: skip
def test_the_index_agrees_with_its_twin(texts, most, shortest, min_count, piece):
    wanted, idf = naive.index(texts, most=most, shortest=shortest, min_count=min_count)
    collection = [Document(str(i), (" ".join(text),)) for i, text in enumerate(texts)]
    before, training.PIECE = training.PIECE, piece
    try:
        if not any(wanted.values()):
            with pytest.raises(ModelError, match=r"no document has|no word is in two documents"):
                train(collection, Settings(most, shortest, min_count))
            return
        model = train(collection, Settings(most, shortest, min_count))
    finally:
        training.PIECE = before
    assert len(model.titles) == sum(len(text) >= shortest for text in texts)
    for number, word in enumerate(model.words):
        own = slice(model.starts[number], model.starts[number + 1])
        found = dict(zip(model.documents[own].tolist(), model.weights[own].tolist(), strict=True))
        assert sorted(found) == list(found)
        assert len(found) == len(wanted[word])
        np.testing.assert_allclose(sorted(found.values()), sorted(wanted[word].values()), atol=1e-6)
        assert model.idf[number] == pytest.approx(idf[word])
        wanted[word] = found  # equal weights may have fallen to either document, by a rounding
    pairs = [(texts[0], texts[1]), (["a", "b", "unheard"], ["c", "a"]), ([], ["a"])]
    weights = dict(zip(model.words, range(1, len(model.words) + 1), strict=True))
    for given_weights, by_word in ((None, idf), (np.array(list(weights.values()), float), weights)):
        values = model.cosines(pairs, given_weights)
        for (a, b), value in zip(pairs, values, strict=True):
            left, right = (naive.vector(side, wanted, by_word) for side in (a, b))
            assert value == pytest.approx(naive.cosine(left, right), abs=1e-6)
    words = ["a", "b", "unheard"]
    similar = model.word_similarities(words, words)
    for i, a in enumerate(words):
        for j, b in enumerate(words):
            cosine = naive.cosine(wanted.get(a, {}), wanted.get(b, {}))
            assert similar[i, j] == pytest.approx(cosine, abs=1e-6)


def test_what_a_sentence_is_about():
    model = train(COLLECTION, LOW)
    assert str(model) == "ESA of 3 documents and 14 words"
    assert model.strongest(["The", "Cat", "swam"]) == []  # words of one document alone, or of all, say nothing
    idf = np.log(3 / 2)  # of "and", "dog" and "man", each in two documents of three
    found = model.strongest(["Dog"])
    assert [title for title, _ in found] == ["animals", "sea"]
    np.testing.assert_allclose([weight for _, weight in found], [idf / np.sqrt(2), idf / np.sqrt(3)], rtol=1e-6)
    assert [title for title, _ in model.strongest(["man", "dog"], 1)] == ["sea"]
    assert "DOG" in model
    assert "DOG" not in train(COLLECTION, Settings(shortest=1, min_count=1, lowercase=False))


def test_the_measures():
    lexicon = Lexicon()
    model = train([*COLLECTION, Document("more", ("the cat lent the sea some money",))], LOW)
    pairs = [("the cat", "the cat"), ("a dog", "a man"), ("", "cat"), ("zzz", "yyy"), ("cat", "money")]
    values = data_measures.esa_columns([(lexicon.text(a.split()), lexicon.text(b.split())) for a, b in pairs], model)
    np.testing.assert_allclose(values[0], 1, atol=1e-6)
    assert not values[2:4].any()
    assert (values[1] > 0).all()
    assert np.isfinite(values).all()


def test_forms_of_documents():
    lines = ["One\ta b\n", "\n", "c d\n", "# e\tf\n"]
    found = list(documents("x.txt", lines, "lines"))
    assert found == [Document("One", ("a b",)), Document("x.txt:3", ("c d",)), Document("# e", ("f",))]
    lines = ["# First\n", "a\n", "# b\n", "\n", "\n", "c\n", "d\n"]
    assert list(documents("x", lines, "blocks")) == [Document("First", ("a", "# b")), Document("x:6", ("c", "d"))]
    found = list(documents("x", ["a\n", "b\n", "\n", "\n", "c"], "2"))
    assert found == [Document("x:1", ("a", "b")), Document("x:5", ("c",))]
    with pytest.raises(FormatError, match=r"x\.txt:2: </s> is a reserved word"):
        list(documents("x.txt", ["a <sup>\n", "b </s>\n"], "blocks"))


def test_the_file_gives_the_model_back(tmp_path):
    model = train(COLLECTION, LOW)
    size = write_model(model, tmp_path / "x.esa")
    again = read_model(tmp_path / "x.esa")
    assert (again.words, again.titles, str(again)) == (model.words, model.titles, str(model))
    for name in ("idf", "starts", "documents", "weights"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    check_damage_is_seen(tmp_path / "x.esa", read_model, ModelError)
    (tmp_path / "short.esa").write_bytes((tmp_path / "x.esa").read_bytes()[: size - 80])
    with pytest.raises(ModelError, match="cut short"):
        read_model(tmp_path / "short.esa")


def test_collections_that_say_nothing():
    with pytest.raises(ModelError, match="no document has 100 words or more: 3, the longest of 10"):
        train(COLLECTION, Settings())
    with pytest.raises(ModelError, match="no word is in two documents"):
        train(COLLECTION[:1] * 2, LOW)
    with pytest.raises(ModelError, match="no document has"):
        train([], LOW)


def test_the_command_and_the_measure(root, tmp_path):
    text = root / "example_nbest" / "mt" / "train.en"
    model = tmp_path / "train.esa"
    ran = done("train", "esa", text, "--documents", 5, "--min-length", 10, "-o", model)
    assert "entries of the index" in ran.err
    assert says_what_it_wrote(ran, r"the model \([\d.]+ MB\)", model)
    pairs = root / "example_nbest" / "similarity" / "pairs.tsv"
    record = json.loads(
        done("similarity", "evaluate", pairs, "--measure", "esa.aligned", "--esa", model, "--as", "json").out
    )[0]
    assert 0.3 < record["pearson"] < 1
    assert "give them by --esa" in refused("similarity", "evaluate", pairs, "--measure", "esa.aligned")
    assert "wanted lines, blocks or a number" in refused("train", "esa", text, "--documents", "0", "-o", model)
    assert "the longest of" in refused("train", "esa", text, "-o", model)
    wrong = refused("similarity", "evaluate", pairs, "--measure", "esa.aligned", "--esa", text)
    assert "not a model file of this program" in wrong
