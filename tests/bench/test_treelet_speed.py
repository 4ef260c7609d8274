"""Speed of the treelet model: trees side by side in arrays, against trees one by one and against a walk over the tree."""

import numpy as np
import pytest

from docs.results.scripts.constituency_speed import nbest_lists
from rerank_plugins.constituency.model_file import EMBEDDED as GRAMMAR
from rerank_plugins.constituency.parser import PcfgParser
from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.core.scored_trees import SharedTrees
from rerank_plugins.kit.charts.inside import Chart
from rerank_plugins.treelet.language_model import TreeletLanguageModel
from rerank_plugins.treelet.model import Settings
from rerank_plugins.treelet.sampling import TreeletSampler
from rerank_plugins.treelet.training import collect, train
from rerank_plugins.treelet.transformations import ArrayTransformations
from tests.bench.timing import seconds
from tests.treelet.naive_tree_transformations import transform
from tests.treelet.naive_treelet import NaiveTreelet
from tests.treelet.test_treelet import BANK


@pytest.fixture(scope="module")
def trees():
    """Sentences of 15 to 25 words drawn from a small model: what they say does not matter here."""
    settings = Settings("pcfg")
    small = train(collect(read_trees(BANK.splitlines()), settings), settings, jobs=1)
    return TreeletSampler(small, 15, 25).sample_trees(500, np.random.default_rng(1))


def test_trees_side_by_side_are_faster(trees):
    settings = Settings()
    model = train(collect(trees, settings), settings, jobs=1)
    changed = [transform(tree) for tree in trees]
    naive = NaiveTreelet(changed, settings.orders)
    model.score_trees(changed, transformed=True)
    naive.ln_p(changed[0])
    together = seconds(lambda: model.score_trees(changed, True))
    alone = seconds(lambda: [model.score_trees([tree], True) for tree in changed])
    walking = seconds(lambda: [naive.ln_p(tree) for tree in changed[:50]]) * len(changed) / 50
    changing = seconds(lambda: [transform(tree) for tree in trees])
    print(f"{len(trees) / together:,.0f} trees/s together, {len(trees) / alone:,.0f} one by one, "
          f"{len(trees) / walking:,.0f} by the twin; transformations {len(trees) / changing:,.0f}")  # fmt: skip
    assert together < alone / 2
    assert together < walking / 10


def test_transformations_in_arrays_against_trees(trees):
    arrays = ArrayTransformations(len, len)
    arrays([SharedTrees.of(trees[:2])])  # compiles
    changing = seconds(lambda: [transform(tree) for tree in trees])
    numbering = seconds(lambda: arrays([SharedTrees.of(trees)]))
    print(f"{len(trees) / changing:,.0f} trees/s as trees, {len(trees) / numbering:,.0f} as arrays")
    assert changing > 2 * numbering


@pytest.mark.skipif(not GRAMMAR.is_file(), reason="no embedded grammar")
def test_a_list_against_each_hypothesis_alone(benchmark):
    """The whole model, parser included: hypotheses of a list share chart cells and subtrees."""
    lists = nbest_lists(300)
    lm = TreeletLanguageModel(parser=PcfgParser(k=10))
    parser, trees = lm.parser.parser, lm.trees
    lm.totals(lists[0][:2])

    def totals(parts):
        for part in parts:
            parser.chart = Chart(parser.chart.rules)
            trees.__dict__.pop("_transformations", None)
            lm.__dict__.pop("_totals", None)
            lm.totals(part)

    benchmark(totals, lists)
    together = seconds(lambda: totals(lists), 3)
    alone = seconds(lambda: totals([words] for texts in lists for words in texts))
    benchmark.extra_info["ms a hypothesis"] = 1000 * together / sum(map(len, lists))
    benchmark.extra_info["times faster"] = alone / together
    assert alone > 1.3 * together
