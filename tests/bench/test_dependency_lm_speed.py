"""Scoring trees and training on them, against the twin in dictionaries."""

import numpy as np

from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.dependency.ancestor_paths import TreeCollector
from rerank_plugins.dependency.model import Settings, train
from tests.bench.timing import seconds
from tests.dependency.naive_dependency_lm import NaiveStupidBackoff

WORDS, LABELS = 5000, 40


def forest(size: int) -> list[DependencyTree]:
    """Trees of 5 to 30 Zipf-distributed words."""
    rng = np.random.default_rng(0)
    trees = []
    for length in rng.integers(5, 31, size).tolist():
        words = np.minimum(rng.zipf(1.3, length), WORDS).tolist()
        heads = [int(rng.integers(-1, i)) if i > 1 else i - 1 for i in range(length)]
        heads = [max(0, head) if i else -1 for i, head in enumerate(heads)]
        labels = rng.integers(0, LABELS, length).tolist()
        trees.append(DependencyTree(tuple(f"w{w}" for w in words), tuple(heads), tuple(f"g{g}" for g in labels)))
    return trees


TREES = forest(3000)
SIZE = sum(len(tree.words) for tree in TREES)


def trained():
    collector = TreeCollector()
    collector.add(TREES)
    return train(collector, Settings(order=4, min_count=2), jobs=1)


def test_training(benchmark):
    trained()  # compiles
    benchmark.extra_info["words"] = SIZE
    benchmark(trained)


def test_scoring(benchmark):
    model = trained()
    model.totals(TREES[:1])
    benchmark.extra_info["words"] = SIZE
    benchmark(model.totals, TREES)


def test_scoring_beats_the_twin_by_far():
    model, naive = trained(), NaiveStupidBackoff(TREES[:500], 4, True, 2)
    model.totals(TREES[:1])
    ours = seconds(lambda: model.totals(TREES), 3) / len(TREES)
    theirs = seconds(lambda: [naive.probability(tree) for tree in TREES[:100]]) / 100
    assert theirs > 3 * ours
