"""What each feature adds to the lead of one hypothesis over another by boosted trees: exact Shapley values.

Let t(S) be the sum of the trees for a row that has the features in S from A and all others from B. The Shapley value of
a feature is what it adds to t on average when the features of B are replaced by those of A one after the other, over
all orders. The values sum to t(all) - t(none), the lead of A over B by the trees. This is the baseline Shapley value
of Sundararajan & Najmi (2020, The many Shapley values for model explanation) with B as the baseline.

A leaf is reached by S exactly if S contains p features (at which the path follows A, and B would leave it) and none of
q others (at which it follows B). A leaf of value v therefore gives each of the p features v (p-1)! q! / (p+q)!, and
takes v p! (q-1)! / (p+q)! from each of the q (Lundberg et al. 2020, From local explanations to global understanding
with explainable AI for trees, interventional TreeSHAP). The time is O(leaves * depth), whatever the number of features.
"""

from __future__ import annotations

from math import comb

import numpy as np

from rerank_adapters.tuners.trees import Trees
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.feature_table import FeatureTable


def tree_lead(trees: Trees, table: FeatureTable, first: int, second: int) -> dict[str, float]:
    """By name, what each feature of the trees adds to the lead of row `first` of the table over row `second`.

    The values sum to the difference of `trees.scores(table)` in these rows. Raises ConfigError where the table lacks a
    feature of the trees.
    """
    values = trees.standardised(table)
    return dict(zip(trees.names, shapley_values(trees, values[first], values[second]).tolist(), strict=True))


def shapley_values(trees: Trees, first: FloatArray, second: FloatArray) -> FloatArray:
    """(names): the Shapley value of each feature between two rows of standardised features (names)."""
    to_first, to_second = (
        np.where(row[trees.feature] <= trees.threshold, trees.left, trees.right).tolist() for row in (first, second)
    )
    feature = trees.feature.tolist()
    nothing: frozenset[int] = frozenset()
    paths = [
        (root, nothing, nothing) for root in trees.roots.tolist()
    ]  # a node, and features of A and of B that led there
    for _ in range(trees.depth):
        below = []
        for node, of_first, of_second in paths:
            split = feature[node]
            if to_first[node] == to_second[node] or split in of_first:
                below.append((to_first[node], of_first, of_second))
            elif split in of_second:
                below.append((to_second[node], of_first, of_second))
            else:
                below.append((to_first[node], of_first | {split}, of_second))
                below.append((to_second[node], of_first, of_second | {split}))
        paths = below
    shares = np.zeros(len(trees.names))
    for leaf, of_first, of_second in paths:
        share = float(trees.value[leaf]) / comb(len(of_first) + len(of_second), len(of_first))
        shares[list(of_first)] += share / max(len(of_first), 1)
        shares[list(of_second)] -= share / max(len(of_second), 1)
    return shares
