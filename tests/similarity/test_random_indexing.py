"""Random indexing: the kernels beside their twins, what a model promises, its file, its command, its feature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins import ConfigError, FormatError, Hypothesis, ModelError, NBestList
from rerank_plugins.similarity.context_sums import index_vectors
from rerank_plugins.similarity.feature import RandomIndexingFeature, consensus
from rerank_plugins.similarity.random_indexing import SPACES, read_model, write_model
from rerank_plugins.similarity.random_indexing_training import Settings, train
from tests.command_line import done, refused, says_what_it_wrote
from tests.model_files import check_damage_is_seen
from tests.similarity import naive_similarity as naive

TEXT = [
    "the cat sat on the mat",
    "the dog sat on the cat",
    "a dog barked",
    "",
    "the cat saw a mat",
    "a dog saw the dog",
]
PLAIN = {"min_count": 1, "context_weight": "none"}


def trained(lines=TEXT, **options):
    return train([("text", lines)], Settings(**{**PLAIN, **options}))


def test_index_vectors_are_sparse_ternary_and_of_the_word_alone():
    words = [f"word{i}" for i in range(3000)]
    places, signs = index_vectors(words, 200, 5, 7)
    assert all(len(set(row)) == 5 for row in places.tolist())
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert places.min() == 0
    assert places.max() == 199
    again, _ = index_vectors(words[::-1], 200, 5, 7)
    np.testing.assert_array_equal(again[::-1], places)
    other, _ = index_vectors(words, 200, 5, 8)
    assert (other != places).mean() > 0.9
    expected = 3000 * 5 / 200
    assert abs(np.bincount(places.ravel(), minlength=200) - expected).max() < 6 * np.sqrt(expected)
    assert abs(signs.mean()) < 0.05
    full, _ = index_vectors(["a"], 5, 5, 1)
    assert sorted(full[0]) == [0, 1, 2, 3, 4]


def dense(model):
    options = model.settings
    places, signs = index_vectors(model.words, options["dimensions"], options["nonzero"], options["seed"])
    found = np.zeros((len(model.words), options["dimensions"]))
    np.put_along_axis(found, places, signs, axis=1)
    return dict(zip(model.words, found.tolist(), strict=True))


@settings(max_examples=25)
@given(
    st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=9), min_size=1, max_size=5),
    st.integers(1, 3),
    st.integers(1, 2),
)
def test_each_space_adds_up_what_its_twin_does(documents, radius, min_count):
    lines = [" ".join(document) for document in documents]
    counts = {word: sum(document.count(word) for document in documents) for word in "abcde"}
    if max(counts.values()) < min_count:
        return
    model = trained(lines, dimensions=11, nonzero=3, radius=radius, min_count=min_count)
    index = dense(model)
    for space in SPACES:
        wanted = naive.context_vectors(documents, index, space, radius)
        for word, vector in zip(model.words, model.vectors(space), strict=True):
            own = np.array(wanted.get(word, np.zeros(len(vector))))
            own = own / (np.linalg.norm(own) or 1.0)
            np.testing.assert_allclose(vector, own, atol=1e-3)


@pytest.mark.slow
def test_lsa_is_the_truncated_decomposition():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(4)
    lines = [" ".join(rng.choice(list("abcdefgh"), size=6)) for _ in range(40)]
    model = trained(lines, spaces=("lsa", "window"), dimensions=4, nonzero=2, radius=2)
    counts = np.array([[line.split().count(word) for line in lines] for word in model.words], float)
    idf = np.log(len(lines) / (counts > 0).sum(axis=1))
    weighted = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0) * idf[:, None]
    left, values, _ = np.linalg.svd(weighted)
    wanted = left[:, :4] * values[:4]
    wanted /= np.linalg.norm(wanted, axis=1)[:, None]
    found = model.vectors("lsa").astype(float)
    np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=0.02)
    with pytest.raises(ModelError, match="needs more words and documents"):
        trained(lines, spaces=("lsa",), dimensions=8, nonzero=2, radius=2)


def test_blocks_are_documents_that_empty_lines_end():
    lines = trained(["a b", "c d", "", "", "e f"])
    blocks = trained(["a b", "c d", "", "", "e f"], documents="blocks")
    one_line = trained(["a b c d", "e f"])
    assert (lines.total_documents, one_line.total_documents) == (3, 2)
    for space in SPACES:
        np.testing.assert_array_equal(blocks.vectors(space), one_line.vectors(space))
    assert not np.array_equal(lines.vectors("document"), blocks.vectors("document"))


def test_counts_documents_and_case():
    model = trained(["The cat the", "A CAT", "dog"])
    found = dict(zip(model.words, zip(model.counts.tolist(), model.documents.tolist(), strict=True), strict=True))
    assert found == {"the": (2, 1), "cat": (2, 2), "a": (1, 1), "dog": (1, 1)}
    assert "CAT" in model
    assert "bird" not in model
    kept = trained(["The cat the", "A CAT", "dog"], lowercase=False)
    assert "CAT" in kept
    assert "DOG" not in kept


def test_the_result_does_not_depend_on_threads():
    one, two = trained(), train([("text", TEXT)], Settings(**PLAIN), jobs=3)
    for space in SPACES:
        np.testing.assert_array_equal(one.vectors(space), two.vectors(space))


def test_weights_and_centring():
    model = trained(context_weight="sif", centre=True)
    assert not np.array_equal(model.vectors("window"), trained().vectors("window"))
    number = model.number["the"]
    share = model.counts[number] / model.counts.sum()
    assert model.weights["sif"][number] == pytest.approx(0.001 / (0.001 + share))
    assert model.weights["idf"][number] == pytest.approx(np.log(5 / 4))
    assert model.weights["none"].min() == 1


@pytest.mark.parametrize("weighting", ["none", "idf", "sif"])
def test_sentences_are_sums_of_their_words(weighting):
    model = trained(dimensions=30)
    sentences = [["The", "cat"], [], ["unheard"], ["dog", "unheard", "dog", "barked"]]
    found = model.sentence_vectors(sentences, "positional", weighting)
    for sentence, vector in zip(sentences, found, strict=True):
        own = np.zeros(30)
        for word in sentence:
            if word.lower() in model.number:
                row = model.number[word.lower()]
                own += model.weights[weighting][row] * model.vectors("positional")[row].astype(float)
        np.testing.assert_allclose(vector, own / (np.linalg.norm(own) or 1), atol=1e-12)


def test_words_of_like_contexts_are_alike():
    rng = np.random.default_rng(3)
    lines = []
    for _ in range(3000):
        animal, food = rng.choice(["cat", "dog", "cow"]), rng.choice(["tea", "milk", "beer"])
        lines.append(f"the {animal} ran home" if rng.random() < 0.5 else f"we drank {food} today")
    model = train([("text", lines)], Settings())
    for space in SPACES:
        vectors = {word: model.vectors(space)[row].astype(float) for word, row in model.number.items()}
        margin = 0.15 if space == "document" else 0.6  # a document has the word itself too, whose weight is large
        assert vectors["cat"] @ vectors["dog"] > margin + vectors["cat"] @ vectors["milk"], space


def test_the_file_gives_the_model_back(tmp_path):
    model = trained()
    size = write_model(model, tmp_path / "text.ri")
    assert size == (tmp_path / "text.ri").stat().st_size
    again = read_model(tmp_path / "text.ri")
    assert again.words == model.words
    assert again.settings["radius"] == 6
    for space in SPACES:
        np.testing.assert_array_equal(again.vectors(space), model.vectors(space))
    check_damage_is_seen(tmp_path / "text.ri", read_model, ModelError)
    whole = (tmp_path / "text.ri").read_bytes()
    (tmp_path / "short.ri").write_bytes(whole[:-100])
    with pytest.raises(ModelError, match="cut short"):
        read_model(tmp_path / "short.ri")
    with pytest.raises(ModelError, match="cannot be read"):
        read_model(tmp_path / "none.ri")


def test_models_that_cannot_be():
    with pytest.raises(ModelError, match="no word occurs 9 times"):
        trained(min_count=9)
    with pytest.raises(ModelError, match="6 non-zero elements: wanted 1 to 5, the dimensions"):
        trained(dimensions=5, nonzero=6, radius=2)
    with pytest.raises(ModelError, match="radius"):
        trained(radius=0)
    with pytest.raises(ModelError, match="no space 'window', only: document"):
        trained(spaces=("document",)).vectors("window")


@settings(max_examples=50)
@given(st.integers(1, 6), st.integers(0, 1000))
def test_consensus_is_the_weighted_mean_of_the_rest(size, seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(size, 4))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    mass = rng.dirichlet(np.ones(size))
    found = consensus(vectors @ vectors.T, mass)
    np.testing.assert_allclose(found, naive.consensus(vectors.tolist(), mass.tolist()), atol=1e-6)


def test_consensus_where_one_hypothesis_has_all_the_mass():
    similarities = np.array([[1.0, 0.2, 0.4], [0.2, 1.0, 0.6], [0.4, 0.6, 1.0]])
    np.testing.assert_allclose(consensus(similarities, np.array([1.0, 0.0, 0.0])), [0.3, 0.2, 0.4], atol=1e-9)


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "text.ri"
    write_model(trained(), path)
    return path


def list_of(*texts, id_="1", **more):
    return NBestList(id_, tuple(Hypothesis(text, score=-float(i)) for i, text in enumerate(texts)), **more)


def test_the_feature_compares_with_what_is_asked_for(model_file, tmp_path):
    lines = tmp_path / "lines.txt"
    lines.write_text("a dog barked\nthe cat\n", encoding="utf-8")
    nbest = list_of("the cat", "a dog", "", "unheard", source="the cat sat", context="a dog")
    feature = RandomIndexingFeature(
        model=model_file, to=("source", "context", "list", "file"), file=lines, weight="none"
    )
    values = feature.extract(nbest)
    vectors = feature.vectors([text.split() for text in ("the cat", "a dog", "the cat sat")])
    np.testing.assert_allclose(
        values[0], [vectors[0] @ vectors[2], vectors[0] @ vectors[1], values[0, 2], 1], atol=1e-9
    )
    assert values[1, 1] == pytest.approx(1)
    assert not values[2:].any()
    before = RandomIndexingFeature(model=model_file, to=("file",), file=lines, back=1, weight="none")
    assert before.extract(list_of("a dog barked"))[0, 0] == pytest.approx(1)
    assert before.extract(list_of("a dog barked", id_="0"))[0, 0] == 0
    assert RandomIndexingFeature(model=model_file).extract(list_of("the cat"))[0, 0] == 0


def test_what_cannot_be_compared_is_said(model_file, tmp_path):
    (tmp_path / "one.txt").write_text("a dog\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="no context"):
        RandomIndexingFeature(model=model_file, to=("context",)).extract(list_of("a"))
    with pytest.raises(ConfigError, match=r"one.txt: no line for segment id '1': the file has 1 lines"):
        RandomIndexingFeature(model=model_file, to=("file",), file=tmp_path / "one.txt").extract(list_of("a"))
    with pytest.raises(FormatError, match=r"none.txt: no such file"):
        RandomIndexingFeature(model=model_file, to=("file",), file=tmp_path / "none.txt").extract(list_of("a"))
    with pytest.raises(ValueError, match="go together"):
        RandomIndexingFeature(model=model_file, to=("file",))
    with pytest.raises(ValueError, match="each only once"):
        RandomIndexingFeature(model=model_file, to=())
    with pytest.raises(ValueError, match="back is -1"):
        RandomIndexingFeature(model=model_file, back=-1)


def test_the_command_and_extraction(root, small, tmp_path):
    mt = root / "example_nbest" / "mt"
    model = tmp_path / "train.ri"
    ran = done("train", "random-indexing", mt / "train.en", "-o", model, "--space", "window", "--min-count", 2)
    assert ran.err.startswith("window: ")
    assert says_what_it_wrote(ran, r"the model \([\d.]+ MB\)", model)
    again = tmp_path / "again.ri"
    done("train", "random-indexing", mt / "train.en", "-o", again, "--space", "window", "--min-count", 2, "-j", 1)
    assert model.read_bytes() == again.read_bytes()
    table = tmp_path / "table.npz"
    done("extract", small / "test.nbest", "-f", f"random-indexing,model={model},space=window", "-o", table)
    assert table.stat().st_size > 0
    wrong = refused("extract", small / "test.nbest", "-f", f"random-indexing,model={model}", "-o", table)
    assert "no space 'document', only: window" in wrong
    assert "no word occurs" in refused("train", "random-indexing", mt / "train.en", "-o", again, "--min-count", 10**6)
    assert "not to stdout" in refused("train", "random-indexing", mt / "train.en", "-o", "-")
