"""The meaning that sentences share: beside its twin, its maximum, symmetry, roles and what cannot be compared."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins.core.constituency_tree import Tree, read_trees
from rerank_plugins.similarity import meaning
from rerank_plugins.similarity.meaning import (
    ARGUMENTS,
    EMPTY,
    FITTED,
    Meaning,
    Parts,
    between,
    has_part,
    meanings,
    pair_by_pair,
)
from rerank_plugins.svs.concept_training import ConceptSettings, train_concepts
from rerank_plugins.svs.given_trees import ConceptsOnTrees
from rerank_plugins.svs.training import train_svs
from tests.random_trees import trees
from tests.similarity import naive_meaning as naive
from tests.svs.test_svs_training import BANK, SMALL

WORDS = ["dogs", "dogged", "doggedly", "a", "the", ".", "cat", "42"]
PARTS = st.builds(Parts, st.floats(0, 1), st.floats(0, 2), st.floats(0, 1))


def random_meaning(rng):
    n, k = int(rng.integers(1, 7)), 3
    places = np.flatnonzero(rng.random(n) < 0.6).astype(np.int32)
    posteriors = rng.dirichlet(np.ones(k) * 0.3, len(places))
    above = tuple(int(rng.integers(-1, n)) for _ in range(n))
    words = tuple(rng.choice(WORDS, n).tolist())
    return Meaning(
        words, tuple(word[:3] for word in words), tuple(rng.integers(-1, 3, n).tolist()), above,
        rng.random(n) * 5, rng.random(n) < 0.8, places, posteriors / np.array([0.5, 0.3, 0.2]), posteriors,
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), PARTS, st.booleans(), st.sampled_from([5, 4_000_000]))
def test_values_are_those_of_the_equations(seed, parts, of_pairs, shared):
    rng = np.random.default_rng(seed)
    one, other = ([random_meaning(rng) for _ in range(rng.integers(1, 5))] + [EMPTY] for _ in range(2))
    rarity = {word: float(rng.random()) for word in WORDS[:6]} if of_pairs else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meaning, "SHARED", shared)  # blocks of one sentence, or all at a time
        values = between(one, other, parts, rarity)
        mine = between(one, one, parts, rarity)
    wanted = [[naive.meaning(a, b, parts, rarity) for b in other] for a in one]
    np.testing.assert_allclose(values, wanted, atol=1e-12)
    np.testing.assert_allclose(mine, [[naive.meaning(a, b, parts, rarity) for b in one] for a in one], atol=1e-12)
    size = min(len(one), len(other))
    np.testing.assert_allclose(pair_by_pair(one[:size], other[:size], parts, rarity), np.diag(values[:size, :size]),
                               atol=1e-12)  # fmt: skip


@pytest.fixture(scope="module")
def models():
    """A model of concepts, and one of vectors."""
    bank = list(read_trees(BANK))
    settings_ = ConceptSettings("en", concepts=3, least=0.01, dimensions=4, head_prior=0.1, relation_prior=0.1)
    return train_concepts([bank], [1.0], settings_), ConceptsOnTrees(train_svs([bank], [1.0], SMALL))


@settings(max_examples=40, deadline=None)
@given(st.lists(trees, min_size=1, max_size=4))
def test_a_sentence_means_most_of_itself(models, found):
    found = [Tree("ROOT", (tree,)) for tree in found]
    for concepts in models:
        each = meanings(concepts, found)
        assert [one.words for one in each] == [tuple(map(str.lower, tree.words())) for tree in found]
        values = between(each, each)
        np.testing.assert_allclose(values, values.T)
        countable = [one.counts.any() for one in each]
        np.testing.assert_allclose(np.diag(values), np.array(countable, float), atol=1e-12)
        assert values.max(initial=0) <= 1 + 1e-12


def test_a_passive_means_the_same_and_a_swap_does_not(models):
    active, passive, swap = read_trees([
        "(ROOT (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog)))))",
        "(ROOT (S (NP (DT the) (NN dog)) (VP (VBD was) (VP (VBN seen) (PP (IN by) (NP (DT the) (NN cat)))))))",
        "(ROOT (S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT the) (NN cat)))))",
    ])  # fmt: skip
    each = meanings(models[0], [active, passive, swap])
    assert between(each, each, FITTED._replace(role=0.0))[0, 2] == pytest.approx(1)
    assert between(each, each)[0, 2] < 1 - 1e-4
    # Of the words that both have, those of the passive have their roles; `seen` and `saw` differ as words do.
    assert each[0].roles[1] == each[1].roles[6] == ARGUMENTS["subject"]
    assert each[0].roles[4] == each[1].roles[1] == ARGUMENTS["object"]
    assert each[0].stems[2] == each[1].stems[3] == "see"
    values = between(each, each)
    assert values[0, 2] < values[0, 1]


def test_words_count_and_punctuation_does_not():
    tokens = ["cat", "3.5", "don't", "-lrb-", "...", "''", "."]
    assert [has_part(token) for token in tokens] == [True, True, True, True, False, False, False]


def test_sentences_without_words(models):
    (dot,) = read_trees(["(ROOT (. .))"])
    each = meanings(models[0], [dot, None])
    assert not between(each, each).any()
    assert not pair_by_pair(each, each[::-1]).any()
    assert between([], []).shape == (0, 0)
    assert between([EMPTY], [EMPTY]).tolist() == [[0.0]]
