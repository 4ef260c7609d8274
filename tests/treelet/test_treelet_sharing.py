"""What hypotheses share changes no value: alone, in a list, in another order, in parts, the treelet model scores alike."""

import numpy as np
import pytest

from rerank_plugins.constituency.model_file import EMBEDDED as GRAMMAR
from rerank_plugins.constituency.parser import PcfgParser
from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.core.parse import Parse
from rerank_plugins.core.scored_trees import KBestTrees, SharedTrees
from rerank_plugins.kit.charts.inside import Chart
from rerank_plugins.kit.files.packed_parses import pack, unpack
from rerank_plugins.treelet import transformations
from rerank_plugins.treelet.language_model import EMBEDDED as MODEL
from rerank_plugins.treelet.language_model import TreeletLanguageModel
from rerank_plugins.treelet.subtree_numbers import Interner, intern

needs_models = pytest.mark.skipif(not (GRAMMAR.is_file() and MODEL.is_file()), reason="no embedded models")
HYPOTHESES = [
    "the old man saw the dog in the garden .",
    "old man saw the dog in the garden .",
    "the old man sees the dog in the garden .",
    "yesterday the old man saw the dog in the garden .",
    "the old man saw the dog in 1984 .",
    "in the garden , the old man saw the dog .",
    "the the old man saw dog the in garden .",
    "the old man saw the dog in the garden .",
    "the dog",
    "xyzzy",
]
SENTENCES = [tuple(text.split()) for text in HYPOTHESES]


@pytest.fixture(scope="module")
def lm():
    return TreeletLanguageModel(parser=PcfgParser(k=10), k=10)


def fresh(lm):
    """The same models, without anything that earlier sentences have left."""
    other = TreeletLanguageModel(parser=PcfgParser(k=10), k=10)
    parser = lm.parser.parser
    parser.chart = Chart(parser.chart.rules)
    other.parser.__dict__["parser"] = parser
    other.__dict__["trees"] = lm.trees
    lm.trees.__dict__.pop("_transformations", None)
    return other


@needs_models
def test_a_hypothesis_has_the_same_value_in_any_company(lm):
    alone = [fresh(lm).totals([sentence])[0] for sentence in SENTENCES]
    for order in (range(10), range(9, -1, -1), [3, 1, 4, 0, 5, 9, 2, 6, 8, 7]):
        np.testing.assert_array_equal(fresh(lm).totals([SENTENCES[i] for i in order]), [alone[i] for i in order])
    parts = [fresh(lm).totals(SENTENCES[start::3]) for start in range(3)]  # as three processes share the work out
    np.testing.assert_array_equal([parts[i % 3][i // 3] for i in range(10)], alone)


@needs_models
def test_a_hypothesis_has_the_same_value_when_subtrees_are_forgotten(lm, monkeypatch):
    together = fresh(lm).totals(SENTENCES)
    monkeypatch.setattr(transformations, "REMEMBERED", 10)
    one = fresh(lm)
    np.testing.assert_array_equal([one.totals([sentence])[0] for sentence in SENTENCES], together)


@needs_models
def test_arrays_of_the_parser_are_its_trees(lm):
    """Built, packed and unpacked, laid out again: the k best trees are the same, and so is their score."""
    for sentence, parse in zip(SENTENCES, lm.parser.parse(SENTENCES), strict=True):
        scored = parse.constituents
        assert isinstance(scored, KBestTrees) or len(scored) == 1
        assert scored == tuple(scored)
        assert unpack(pack(parse), sentence).constituents == tuple(scored)
        trees = [tree for tree, _ in scored]
        assert list(SharedTrees.of(trees)) == trees
        assert all(tree.words() == sentence for tree in trees)
        again = lm.trees.score_sentences([trees])
        np.testing.assert_array_equal(again, lm.totals([sentence]))


@needs_models
def test_some_of_the_k_best(lm):
    (parse,) = lm.parser.parse(SENTENCES[:1])
    first = parse.constituents[:3]
    assert first == tuple(parse.constituents)[:3]
    assert unpack(pack(Parse(None, first)), SENTENCES[0]).constituents == first
    assert first != parse.constituents
    assert first != "trees"


def test_subtrees_of_several_sentences_have_one_number():
    """Trees whose words differ stand in one table, every distinct word and subtree once."""
    trees = list(read_trees(["(S (NP (DT a) (NN dog)) (VP (VB ran)))", "(S (NP (DT a) (NN dog)) (VP (VB sat)))"]))
    both = SharedTrees.of(trees)
    assert list(both) == trees
    assert len(both.label) == 3 + 2 * 3  # DT, NN and NP once; VB, VP and S twice
    assert sorted(both.words) == ["a", "dog", "ran", "sat"]


def test_sequences_keep_their_numbers_as_the_table_grows():
    interner, known = Interner(), {}
    rng = np.random.default_rng(1)
    for _ in range(3000):
        key = rng.integers(0, 4, rng.integers(1, 7))
        number = intern(*interner.arrays(1, len(key)), key, len(key))
        assert known.setdefault(tuple(key.tolist()), number) == number
    assert sorted(known.values()) == list(range(len(interner)))
    assert all(interner.sequence(number) == list(key) for key, number in known.items())
