"""Parsing against obvious ways to do the same: word by word, sentence by sentence, and again instead of from the cache."""

import numpy as np
import pytest

from docs.results.scripts.parser_table import without_punctuation
from rerank_plugins.core.dependency_tree import DependencyTree, tree_fault
from rerank_plugins.dependency.biaffine.parser_file import read_model
from rerank_plugins.dependency.biaffine.parsing import parse_all
from rerank_plugins.dependency.biaffine.pieces import word_inputs
from rerank_plugins.dependency.parsers import EMBEDDED, EnglishParser
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.kit.files.store import Store
from rerank_plugins.kit.trees.parseval import Attachment
from tests.bench.arc_eager import ArcEager, projective
from tests.bench.timing import seconds
from tests.dependency import naive_parsing

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sentences(root):
    lines = (root / "example_nbest" / "mt" / "tune.nbest").read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(tuple(line.split(" ||| ")[1].split()) for line in lines[:2000]))[:1000]


def test_batches_against_one_word_at_a_time(benchmark, sentences):
    model = read_model(EMBEDDED)
    few = sentences[:20]

    def naive():
        for words in few:
            _, arcs, _ = naive_parsing.scores(word_inputs(model, words).astype(np.float64), model.params)
            arcs.argmax(axis=1)

    parse_all(model, few)
    benchmark(parse_all, model, sentences)
    pace = seconds(lambda: parse_all(model, sentences)) / len(sentences)
    ratio = seconds(naive) / len(few) / pace
    benchmark.extra_info["sentences a second"] = 1 / pace
    benchmark.extra_info["times faster"] = ratio
    assert ratio > 3


def test_reading_the_cache_against_parsing(benchmark, sentences, tmp_path):
    english = EnglishParser()
    english.parse(sentences[:1])
    parsing = seconds(lambda: english.parse(sentences))
    CachedParser(english, Store(tmp_path)).parse(sentences)

    def again():
        return CachedParser(english, Store(tmp_path)).parse(sentences)

    benchmark(again)
    assert len(again()) == len(sentences)
    ratio = parsing / seconds(again)
    benchmark.extra_info["times faster"] = ratio
    assert ratio > 2


def test_the_arc_eager_parser_of_the_table_is_one(treebank):
    """What the table compares with learns its treebank and gives trees."""
    parser = ArcEager(treebank, epochs=15)
    assert parser.used == sum(projective(tree.heads) for tree in treebank)
    scores = Attachment()
    for gold in treebank:
        heads, relations = parser.parse(gold.words, gold.tags)
        assert tree_fault(heads) is None
        scores.add(gold, DependencyTree(gold.words, tuple(heads), tuple(relations), gold.tags))
    assert scores.percent()["LAS"] > 97
    for words in (["unknown"], ["all", "new", "words"]):
        assert tree_fault(parser.parse(words, ["X"] * len(words))[0]) is None


def test_punctuation_is_taken_out_of_trees(treebank):
    for tree in treebank:
        bare = without_punctuation(tree)
        assert tree_fault(bare.heads) is None
        assert [w for w in tree.words if w.isalnum()] == [w for w in bare.words if w.isalnum()]
        assert not {".", ",", "?"} & set(bare.words)
    whole = DependencyTree((".", "yes"), (-1, 0), ("root", "dep"), ("PUNCT", "INTJ"))
    assert without_punctuation(whole) == whole  # its root cannot go
