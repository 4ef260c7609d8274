"""Similarity by structured vectors: by hand, beside its twin, as a feature of lists, as measures of pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins.features.svs_similarity import SvsSimilarity
from rerank_plugins.models.svs.parsing import SvsParser
from rerank_plugins.models.svs.similarity import between, largest_children, pair_by_pair, sentence_vectors
from rerank_plugins.models.svs.vector_tree import VectorTree
from tests import naive_svs_similarity as naive
from tests.naive_svs_parsing import WORDS, random_model

SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(tuple), min_size=1, max_size=5)


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


@pytest.fixture
def feature(monkeypatch):
    model = random_model(7, 3)
    monkeypatch.setattr(SvsSimilarity, "_parser", property(lambda self: PARSERS.setdefault(0, SvsParser(model))))
    PARSERS.clear()
    return SvsSimilarity


PARSERS: dict[int, SvsParser] = {}
