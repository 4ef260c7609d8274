"""Similarity by structured vectors: by hand, beside its twin, as a feature of lists, as measures of pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_adapters.applications.similarity.measure_data import measures_of
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.job.specs import Names, Spec
from rerank_plugins import Hypothesis, ModelError, NBestList
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.kit.files.languages import embedded
from rerank_plugins.kit.nbest_lists import posteriors
from rerank_plugins.similarity.feature import SvsSimilarityFeature
from rerank_plugins.similarity.meaning import between as between_meanings
from rerank_plugins.similarity.measures.table import Measures
from rerank_plugins.similarity.random_indexing import write_model as write_vectors
from rerank_plugins.similarity.random_indexing_training import Settings
from rerank_plugins.similarity.random_indexing_training import train as train_vectors
from rerank_plugins.similarity.structured_vectors import (
    between,
    largest_children,
    pair_by_pair,
    parsed_vectors,
    three_vectors,
    unit_vectors,
)
from rerank_plugins.svs.model import EMBEDDED, read_model, write_model
from rerank_plugins.svs.parsing import SvsParser
from rerank_plugins.svs.vector_tree import VectorTree
from rerank_plugins.treelet.language_model import TreeletLanguageModel
from tests.command_line import done, refused
from tests.conftest import ROOT
from tests.similarity import naive_svs_similarity as naive
from tests.svs.naive_svs_parsing import WORDS, random_model

PAIRS = ROOT / "example_nbest" / "similarity" / "pairs.tsv"
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(tuple), min_size=1, max_size=5)


def sentence_vectors(trees, concepts):
    return unit_vectors([None if tree is None else three_vectors(tree) for tree in trees], concepts)


def node(vector, begin, end, children=(), phrases=("X",)):
    vector = np.array(vector, float)
    return VectorTree("x", phrases, (begin, end), children, "" if children else "w", vector, 0.0, 0.0)


def sentence(top, *children):
    """ROOT over a phrase over children of 1, 2, … words."""
    begin, made = 0, []
    for width, vector in children:
        made.append(node(vector, begin, begin + width))
        begin += width
    return node([1, 0], 0, begin, (node(top, 0, begin, tuple(made)),))


def test_equations_6_and_7_by_hand():
    one = sentence([1, 0], (2, [1, 0]), (3, [0, 1]))
    other = sentence([1, 1], (2, [3, 4]), (1, [1, 0]))
    vectors = sentence_vectors([one, other, None], 2)
    top, phrase = between(vectors, vectors)
    assert top[0, 1] == pytest.approx(1 / np.sqrt(2))
    straight = 0.0  # the second children are orthogonal: harmonic mean of 0.6 and 0
    crossed = 2 * 1 * 0.8 / (1 + 0.8)
    assert phrase[0, 1] == pytest.approx(max(straight, crossed))
    np.testing.assert_allclose(np.diag(top), [1, 1, 0])
    np.testing.assert_allclose(np.diag(phrase), [1, 1, 0])
    assert not top[2].any()
    assert not phrase[:, 2].any()


def test_the_two_largest_children():
    """What binarisation added is no child; a chain is gone down; a word stands for both; of equals the first."""
    words = [node([i, 1], i, i + 1) for i in range(5)]
    added = node([9, 9], 1, 5, (words[1], node([8, 8], 2, 5, (words[2], node([7, 7], 3, 5, words[3:])), ())), ())
    top = node([1, 1], 0, 5, (words[0], added))
    assert [child.span for child in largest_children(top)] == [(0, 1), (3, 5)]
    chain = node([1, 1], 0, 5, (node([1, 1], 0, 5, (top,)),))
    assert largest_children(chain) == largest_children(top)
    assert [child.span for child in largest_children(node([1, 1], 0, 3, tuple(words[:3])))] == [(0, 1), (1, 2)]
    assert largest_children(words[2]) == (words[2], words[2])


@settings(max_examples=40)
@given(st.integers(0, 10**6), SENTENCES, st.sampled_from([0.0, 1e-3, 0.05]))
def test_vectors_are_those_of_the_tree_in_a_list_alone_and_in_another_order(seed, sentences, threshold):
    model = random_model(seed, 3, split=True)
    parser = SvsParser(model, threshold)
    together = parsed_vectors(parser, sentences)
    np.testing.assert_array_equal(parsed_vectors(parser, sentences[::-1])[::-1], together)
    for words, vectors in zip(sentences, together, strict=True):
        fresh = SvsParser(model, threshold)  # as in a process of its own
        np.testing.assert_array_equal(parsed_vectors(fresh, [words])[0], vectors)
        np.testing.assert_allclose(sentence_vectors([fresh.parse(words)], 3)[0], vectors, atol=1e-12)


@settings(max_examples=60)
@given(st.integers(0, 10**6), SENTENCES, SENTENCES, st.integers(1, 3))
def test_similarities_agree_with_their_twin(seed, left, right, concepts):
    parser = SvsParser(random_model(seed, concepts))
    ours, theirs = parser.parse_all(left), parser.parse_all(right)
    a, b = sentence_vectors(ours, concepts), sentence_vectors(theirs, concepts)
    found = between(a, b)
    for i, one in enumerate(ours):
        for j, other in enumerate(theirs):
            wanted = naive.similarities(one, other)
            np.testing.assert_allclose([each[i, j] for each in found], wanted, atol=1e-9)
    size = min(len(a), len(b))
    for whole, rows in zip(found, pair_by_pair(a[:size], b[:size]), strict=True):
        np.testing.assert_allclose(rows, np.diag(whole[:size, :size]), atol=1e-12)


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "random.svs"
    write_model(random_model(4, 3), path)  # which parses all short sentences
    return path


def list_of(*texts, id_="1", **more):
    return NBestList(id_, tuple(Hypothesis(text, score=-float(i)) for i, text in enumerate(texts)), **more)


def test_the_feature_is_consensus_and_more(model_file, tmp_path):
    lines = tmp_path / "lines.txt"
    lines.write_text("a b\nb c\n", encoding="utf-8")
    texts = ["a b c", "b", "", "unheard words", "a b c", " ".join("a" * 81)]
    nbest = list_of(*texts, source="c a", context="b b")
    feature = SvsSimilarityFeature(model=model_file, to=("list", "source", "context", "file"), file=lines)
    assert feature.components[:3] == ("list.top", "list.phrase", "source.top")
    values = feature.extract(nbest)
    parser = SvsParser(read_model(model_file), feature.threshold)
    trees = [parser.parse(tuple(text.split())) if len(text.split()) <= 80 else None for text in texts]
    weights = posteriors(nbest, "score", 0.5)
    for i, tree in enumerate(trees):
        others = [j for j in range(len(texts)) if j != i]
        mass = sum(weights[others])
        for k in (0, 1):
            wanted = sum(weights[j] * naive.similarities(tree, trees[j])[k] for j in others) / mass
            assert values[i, k] == pytest.approx(wanted, abs=1e-9)
        for column, text in ((2, "c a"), (4, "b b"), (6, "b c")):
            wanted = naive.similarities(tree, parser.parse(tuple(text.split())))
            np.testing.assert_allclose(values[i, column : column + 2], wanted, atol=1e-9)
    assert not values[[2, 5]].any()
    assert values[:2].all()
    assert not SvsSimilarityFeature(model=model_file).extract(list_of("a b")).any()  # a list of one


def test_each_distinct_hypothesis_is_parsed_once(model_file, monkeypatch):
    asked = []
    read_all = SvsParser.read_all
    monkeypatch.setattr(SvsParser, "read_all", lambda self, s, read: asked.extend(s) or read_all(self, s, read))
    feature = SvsSimilarityFeature(model=model_file)
    first = feature.extract(list_of("a b", "b", "a b"))
    np.testing.assert_array_equal(feature.extract(list_of("a b", "b", "a b")), first)
    SvsSimilarityFeature(model=model_file, posterior="uniform").extract(list_of("b", "c c"))
    assert asked == [("a", "b"), ("b",), ("c", "c")]


def test_what_cannot_be(model_file, tmp_path):
    with pytest.raises(ValueError, match="threshold is 1, wanted 0 or more and less than 1"):
        SvsSimilarityFeature(threshold=1)
    with pytest.raises(ValueError, match="longest is 0"):
        SvsSimilarityFeature(longest=0)
    vectors = tmp_path / "words.ri"
    write_vectors(train_vectors([("text", ["a b", "b c"])], Settings(min_count=1)), vectors)
    for path, message in [
        (vectors, "holds a random-indexing model, wanted a svs model"),
        (tmp_path / "no", "cannot be"),
    ]:
        with pytest.raises(ModelError, match=message):
            SvsSimilarityFeature(model=path).extract(list_of("a"))


def test_the_measures(model_file, tmp_path):
    parser = SvsParser(read_model(model_file))
    pairs = [
        (["a", "b"], ["a", "b"]),
        (["a", "b", "c"], ["c"]),
        ([], ["a"]),
        (["a"], ["a"] * 81),
        (["zzz"], ["Qx", "b"]),
    ]
    values = Measures(svs=parser).columns(pairs, {"svs"})[:, -2:]
    np.testing.assert_allclose(values[0], 1)
    for row, (a, b) in enumerate(pairs):
        trees = [parser.parse(tuple(side)) if len(side) <= 80 else None for side in (a, b)]
        np.testing.assert_allclose(values[row], naive.similarities(*trees), atol=1e-9)
    assert not values[2:4].any()
    assert values[4].all()  # unknown words have a vector by what they look like
    untried = Measures(svs=parser).columns([(["a"] * 81, ["a"] * 81)], {"svs"})[0, -2:]
    assert (untried == 1).all()  # equal sentences, also without trees
    plain = tmp_path / "pairs.tsv"
    plain.write_text("a b\ta b\n\ta\n", encoding="utf-8")
    found = done("similarity", "apply", plain, "--measure", "svs.phrase", "--svs", model_file).lines
    assert [float(line) for line in found] == [1, 0]
    assert "give them by --svs" in refused("similarity", "apply", plain, "--measure", "svs.top")
    system = tmp_path / "x.sim"
    families = ("overlap", "ngrams", "strings", "shape", "tfidf", "entities")
    options = [part for family in families for part in ("--without", family)]
    done("similarity", "train", PAIRS, "-o", system, "--svs", model_file, *options)
    missing = refused("similarity", "apply", PAIRS, "-M", system)
    assert "trained with structured vectors of 7 symbols and 3 concepts (measures of svs): give it by --svs" in missing
    assert len(done("similarity", "apply", PAIRS, "-M", system, "--svs", model_file).lines) == 30


@pytest.mark.slow
def test_the_embedded_model_gives_the_same_values_in_a_list_and_alone():
    parser = SvsParser(read_model(EMBEDDED), 1e-3)
    words = ["the", "old", "man", "went", "down", "to", "the", "river", "and", "said", "that", "it", "was", "good", "."]
    texts = [tuple(words[:place] + words[place + 1 :]) for place in range(12)] + [tuple(words), ("good", ".")]
    together = parsed_vectors(parser, texts)
    assert together[:, 0].any(axis=1).all()
    np.testing.assert_array_equal(parsed_vectors(parser, texts[::-1])[::-1], together)
    for text, vectors in zip(texts[::4], together[::4], strict=True):
        np.testing.assert_array_equal(parsed_vectors(parser, [text])[0], vectors)


@pytest.mark.slow
def test_the_embedded_model():
    feature = SvsSimilarityFeature(to=("context",))
    texts = ("The dog chased a cat .", "A cat was chased by the dog .", "Yes .", "")
    values = feature.extract(list_of(*texts, context="The dog chased a cat ."))
    np.testing.assert_allclose(values[0], 1)
    assert 0 < values[1:3].min() <= values[1:3].max() < 1
    assert not values[3].any()
    pairs = [(text.split(), texts[0].split()) for text in texts]
    columns = measures_of(svs="en").columns(pairs, {"svs"})
    np.testing.assert_allclose(columns[:, -3:-1], values, atol=1e-9)
    np.testing.assert_allclose(columns[:, -1], [1, 1, 0, 0], atol=1e-9)  # the passive means the same


def test_the_feature_compares_meanings(model_file):
    texts = ("The dog chased a cat .", "A cat was chased by the dog .", "A cat chased the dog .", "Rivers froze .", "")
    nbest = list_of(*texts, context="The dog chased a cat .")
    concepts = embedded("concepts.svs")
    feature = SvsSimilarityFeature(
        measures=("meaning", "top"), to=("context", "list"), model=model_file, concepts=concepts
    )
    assert feature.components == ("context.meaning", "context.top", "list.meaning", "list.top")
    assert [parser.trained_on.language for parser in feature.parsers] == ["en"]
    values = feature.extract(nbest)
    same, passive, swap, other, empty = values[:, 0]
    assert same == pytest.approx(1)
    assert passive == pytest.approx(1)
    assert 0.4 < swap < 0.9
    assert other < 0.2
    assert empty == 0
    sentences = feature.vectors([hypothesis.words for hypothesis in nbest]).meanings
    weights, matrix = posteriors(nbest, "score", 0.5), between_meanings(sentences, sentences)
    for i in range(len(texts)):
        others = [j for j in range(len(texts)) if j != i]
        assert values[i, 2] == pytest.approx(weights[others] @ matrix[i, others] / weights[others].sum())
    assert SvsSimilarityFeature(model=model_file).parsers == ()
    one, two = SvsSimilarityFeature(measures=("meaning",)), TreeletLanguageModel()
    assert one.parsers[0] is two.parsers[0]  # which parses each sentence once
    with pytest.raises(ValueError, match="`measures` must name one or more"):
        SvsSimilarityFeature(measures=())


def test_a_language_has_concepts_of_its_own():
    """With the embedded German models: a passive, words of one concept, and a sentence about something else."""
    names = Names(load_plugins(BUILTIN), language="de")
    table = {"use": "svs-similarity", "measures": ["meaning"], "to": ["context"]}
    feature = Spec.read("feature", table, names).make()
    assert feature.concepts == embedded("concepts.svs", "de")
    texts = ("der Hund biss den Lehrer .", "der Lehrer wurde vom Hund gebissen .", "das Mädchen trank Milch .")
    same, passive, other = feature.extract(list_of(*texts, context=texts[0]))[:, 0]
    assert same == pytest.approx(1)
    assert same > passive > 2 * other
    vectors = Spec.read("feature", table | {"concepts": str(embedded("vectors.svs", "de"))}, names).make()
    assert vectors.extract(list_of(*texts, context=texts[0]))[0, 0] == pytest.approx(1)


def test_ten_concepts_of_a_model_of_vectors_compare_meanings():
    feature = SvsSimilarityFeature(measures=("meaning",), concepts=EMBEDDED, to=("context",))
    texts = ("The dog chased a cat .", "A cat was chased by the dog .", "Rivers froze .")
    same, passive, other = feature.extract(list_of(*texts, context=texts[0]))[:, 0]
    assert same == pytest.approx(passive) == pytest.approx(1)
    assert other < 0.6
