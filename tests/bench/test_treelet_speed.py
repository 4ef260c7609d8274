"""Speed of the treelet model: trees side by side in arrays, against trees one by one and against a walk over the tree."""

import time

import numpy as np
import pytest

from rerank_plugins.models.treelet import Settings
from rerank_plugins.models.treelet.sampling import TreeletSampler
from rerank_plugins.models.treelet.training import collect, train
from rerank_plugins.trees.constituency import read_trees
from rerank_plugins.trees.treelet_transforms import transform
from tests.naive_treelet import NaiveTreelet
from tests.test_treelet import BANK

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def trees():
    """Sentences of 15 to 25 words drawn from a small model: what they say does not matter here."""
    settings = Settings("pcfg")
    small = train(collect(read_trees(BANK.splitlines()), settings), settings, jobs=1)
    return TreeletSampler(small, 15, 25).sample_trees(500, np.random.default_rng(1))


def seconds(function, *arguments):
    started = time.process_time()
    function(*arguments)
    return time.process_time() - started


def test_trees_side_by_side_are_faster(trees):
    settings = Settings()
    model = train(collect(trees, settings), settings, jobs=1)
    changed = [transform(tree) for tree in trees]
    naive = NaiveTreelet(changed, settings.orders)
    model.score_trees(changed, transformed=True)
    naive.ln_p(changed[0])
    together = seconds(model.score_trees, changed, True)
    alone = seconds(lambda: [model.score_trees([tree], True) for tree in changed])
    walking = seconds(lambda: [naive.ln_p(tree) for tree in changed[:50]]) * len(changed) / 50
    changing = seconds(lambda: [transform(tree) for tree in trees])
    print(f"{len(trees) / together:,.0f} trees/s together, {len(trees) / alone:,.0f} one by one, "
          f"{len(trees) / walking:,.0f} by the twin; transformations {len(trees) / changing:,.0f}")  # fmt: skip
    assert together < alone / 2
    assert together < walking / 10
