"""Posteriors of concepts on given trees: every assignment of concepts, expected flows, and trees of another parser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.svs.given_trees import ConceptsOnTrees
from rerank_plugins.svs.model import EMBEDDED, read_model
from rerank_plugins.svs.parsing import SvsParser
from rerank_plugins.svs.training import train_svs
from rerank_plugins.svs.tree_posteriors import (
    IDENTITY,
    UNKNOWN_ROW,
    ConceptCounts,
    GivenTrees,
    add_expected,
    inferred,
    posteriors,
)
from tests.svs import naive_tree_posteriors as naive
from tests.svs.test_svs_training import BANK, SMALL


def random_trees(rng, sizes, rules=4, relations=2):
    """Trees of these sizes with any number of children, and relations and rules at random."""
    parents, offsets = [], [0]
    for size in sizes:
        parents += [offsets[-1] + int(rng.integers(node + 1, size)) for node in range(size - 1)] + [-1]
        offsets.append(offsets[-1] + size)
    draws = (rng.integers(-1, most, len(parents)).astype(np.int32) for most in (relations, rules))
    return GivenTrees(np.array(offsets, np.int64), np.array(parents, np.int32), *draws)


def random_parameters(rng, k, rules=4, relations=2, zeros=0.0):
    p, transfer, root = rng.random((rules, k)), rng.random((relations, k, k)), rng.random(k)
    p[rng.random(p.shape) < zeros] = 0
    transfer[rng.random(transfer.shape) < zeros] = 0
    return p, transfer / np.maximum(transfer.sum(axis=2, keepdims=True), 1e-9), root / root.sum()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(1, 3),
       st.sampled_from([0.0, 0.3]))  # fmt: skip
def test_posteriors_are_sums_over_all_assignments(seed, sizes, k, zeros):
    rng = np.random.default_rng(seed)
    trees, parameters = random_trees(rng, sizes), random_parameters(rng, k, zeros=zeros)
    wanted, logs = naive.posteriors(trees, *parameters)
    found = posteriors(trees, *parameters)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    weights, counts = rng.random(len(sizes)), ConceptCounts(*(np.zeros_like(each) for each in parameters))
    np.testing.assert_allclose(add_expected(trees, weights, *parameters, counts, found[:0]), logs, atol=1e-12)
    possible, weighed = np.repeat(logs > -np.inf, sizes), np.repeat(weights, sizes)[:, None] * found
    for rule, sums in enumerate(counts.rules):
        np.testing.assert_allclose(sums, weighed[possible & (trees.rule == rule)].sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(counts.roots, weighed[possible & (trees.parent < 0)].sum(axis=0), atol=1e-12)
    # Σ of the expected flows into a concept is the expected count of children with it.
    children = weighed[possible & (trees.relation >= 0) & (trees.parent >= 0)]
    np.testing.assert_allclose((counts.flows * parameters[1]).sum(axis=(0, 1)), children.sum(axis=0), atol=1e-12)


def test_a_constituent_has_the_posterior_of_its_head_where_l_is_the_identity():
    rng = np.random.default_rng(1)
    trees = GivenTrees(
        np.array([0, 4], np.int64), np.array([2, 2, 3, -1], np.int32), np.array([IDENTITY, 0, IDENTITY, 0], np.int32),
        np.array([0, 1, UNKNOWN_ROW, 2], np.int32),
    )  # fmt: skip
    found = posteriors(trees, *random_parameters(rng, 3))
    np.testing.assert_allclose(found[[0, 2]], found[[3, 3]], atol=1e-14)
    assert abs(found[1] - found[0]).max() > 1e-3


def test_a_long_tree_neither_underflows_nor_overflows():
    rng = np.random.default_rng(2)
    trees = random_trees(rng, [3000])
    p, transfer, root = random_parameters(rng, 3)
    for factor in (1e-9, 1e9):
        found = posteriors(trees, p * factor, transfer, root)
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)


def test_the_trees_of_the_own_parser_have_the_states_of_its_chart():
    """On a tree that the parser found, ln p is that of the parser: all its states and rules are in the model."""
    model = train_svs([read_trees(BANK)], [1.0], SMALL)
    concepts, parser = ConceptsOnTrees(model), SvsParser(model, threshold=0)
    for words in ("the cat saw the dog .", "The dog barked ."):
        parse = parser.parse(tuple(words.split()))
        given_trees, leaves = concepts.lay_out([parse.tree()])
        assert (given_trees.rule >= 0).all()
        posterior, (total,) = inferred(given_trees, concepts.p, model.transfer, model.root)
        assert total == pytest.approx(parse.log_probability, rel=1e-9)
        assert len(leaves) == len(words.split())
        np.testing.assert_array_equal(concepts.of_words([parse.tree()]), posterior[leaves])


def test_trees_of_other_labels_have_posteriors():
    """States and rules that the model does not have, and words without the tag, leave what is known elsewhere."""
    concepts = ConceptsOnTrees(read_model(EMBEDDED))
    trees = list(read_trees([
        "(ROOT (S (NP (DT the) (NN dog)) (VP (VBD ate) (NP (NNS bones)) (PP (IN in) (NP (NN peace))))))",
        "(TOP (ODD (STRANGE dog) (VBD barked)))",
    ]))  # fmt: skip
    found = concepts.of_words(trees)
    assert found.shape == (8, 10)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-9)
    np.testing.assert_array_equal(concepts.of_words(trees[:1]), found[:6])
