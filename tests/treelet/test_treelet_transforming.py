"""Trees transformed as arrays are those that the transformations make, node by node."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.core.scored_trees import SharedTrees
from rerank_plugins.kit.trees.treebank_cleaning import clean
from rerank_plugins.kit.vocabulary.signatures import UnknownWords
from rerank_plugins.treelet import transformations as transforming
from rerank_plugins.treelet.corpus import TreeletCollector
from rerank_plugins.treelet.model import Settings
from rerank_plugins.treelet.training import collect
from rerank_plugins.treelet.transformations import ArrayTransformations
from rerank_plugins.treelet.tree_arrays import UNKNOWN_PHRASE, UNKNOWN_TAG, lay_out
from tests.random_trees import english_trees
from tests.treelet.naive_tree_transformations import transform


def numbers(trees):
    """Lookups that know every label of transformed trees but a few: of phrases, and of tags."""
    phrases, tags = {}, {}
    for tree in trees:
        for node in tree.nodes():
            kind = tags if node.is_preterminal else phrases
            kind.setdefault(node.label, 1000 * node.is_preterminal + 10 + len(kind))
    known = [{label: n for label, n in some.items() if n % 7} for some in (phrases, tags)]
    return lambda label: known[0].get(label, UNKNOWN_PHRASE), lambda label: known[1].get(label, UNKNOWN_TAG)


def check(trees, transformations=None, labels=None):
    slow = [transform(tree) for tree in trees]
    labels = labels or numbers(slow)
    symbol, parent, words, offsets = lay_out(slow, *labels)
    arrays = (transformations or ArrayTransformations(*labels))([SharedTrees.of(trees)])
    np.testing.assert_array_equal(arrays.symbol, symbol)
    np.testing.assert_array_equal(arrays.parent, parent)
    np.testing.assert_array_equal(arrays.offsets, offsets)
    assert [arrays.words[word] if word >= 0 else None for word in arrays.word.tolist()] == words
    assert arrays.sentences() == [tree.words() for tree in trees]


@given(st.lists(english_trees(), min_size=1, max_size=6))
def test_arrays_are_those_of_the_transformed_trees(trees):
    check(trees)


@given(st.lists(english_trees(), min_size=1, max_size=6))
def test_a_corpus_is_that_of_the_transformed_trees(trees):
    slow = TreeletCollector()
    slow.add(map(transform, trees))
    expected, corpus = (each.finish(UnknownWords(1), 1) for each in (slow, collect(trees, Settings())))
    assert (corpus.symbols, corpus.vocabulary.words) == (expected.symbols, expected.vocabulary.words)
    for block, wanted in zip(corpus.blocks(), expected.blocks(), strict=True):
        np.testing.assert_array_equal(block.symbol, wanted.symbol)
        np.testing.assert_array_equal(block.parent, wanted.parent)
        np.testing.assert_array_equal(block.word, wanted.word)
        np.testing.assert_array_equal(block.offsets, wanted.offsets)


@pytest.mark.slow
@given(st.lists(english_trees(), min_size=4, max_size=8))
def test_what_came_before_changes_nothing(trees):
    labels = numbers(map(transform, trees))
    transformations = ArrayTransformations(*labels)
    for some in (trees[:2], trees[1:], trees):
        check(some, transformations, labels)


def test_subtrees_of_earlier_calls_are_there_in_later_ones():
    noun, verb = (
        "(NP (NP (DT the) (NN dog)) (PP (IN of) (NP (NNS traders))))",
        "(VP (MD will) (VP (VB bark) (ADVP (RB now))))",
    )
    trees = list(read_trees([f"(ROOT (S {noun} {verb}))", f"(ROOT (S (NP (PRP I)) (VP (VBD saw) {noun})))"]))
    trees += read_trees([f"(ROOT (SBAR (IN that) (S {noun} {verb})))", f"(ROOT (S {noun} (VP (VBZ says) {noun})))"])
    labels = numbers(map(transform, trees))
    transformations = ArrayTransformations(*labels)
    for some in (trees[:1], trees[1:2], trees[2:], trees):
        check(some, transformations, labels)


def test_subtrees_are_forgotten_in_time(monkeypatch):
    monkeypatch.setattr(transforming, "REMEMBERED", 3)
    trees = list(read_trees(["(ROOT (S (NP (PRP I)) (VP (VBD saw) (NP (CD 7) (NNS days)))))"] * 3))
    labels = numbers(map(transform, trees))
    transformations = ArrayTransformations(*labels)
    for tree in trees:
        check([tree], transformations, labels)


@pytest.mark.parametrize(
    "text",
    [
        "(NP (NP (NN stock) (NNS sales)) (PP (IN by) (NP (NNS traders))))",
        "(S (VP (TO to) (VP (VB win))))",
        "(SBAR (IN that) (S (S (VP (VBG going))) (VP (VBZ helps))))",
        "(ROOT (VP (MD will) (VP (VB be) (VP (VBG going) (NP (NN home))))))",
        "(ROOT (NN Monday))",
        "(NN Monday)",
        "(ROOT (ROOT (S (VP (VB Go)))))",
        "(ROOT (PRN (-LRB- -LRB-) (NP (CD 1,000.5)) (-RRB- -RRB-)))",
    ],
)
def test_trees_by_hand(text):
    check(list(read_trees([text])))


def test_treebank(shared_data):
    with open(shared_data / "treebank_gum" / "gum-dev.ptb", encoding="utf-8") as lines:
        check([tree for tree in map(clean, islice(read_trees(lines), 300)) if tree])
