"""A random forest that tells the sources of pairs apart.

scikit-learn (the extra `ml`) trains it, but is not needed to apply or store it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.kit.files.array_values import ContentsError, found
from rerank_plugins.kit.files.model_schema import Array

TREES, MIN_LEAF_PAIRS = 200, 5


@dataclass(frozen=True, eq=False)
class RandomForest:
    """The nodes of all trees, concatenated; `roots` (trees) has the index of each tree's root.

    `children` (nodes, 2) has the indices of the left and the right child, -1 for a leaf. A row goes left if
    values[feature] <= threshold, with `features` (nodes) and `thresholds` (nodes). `shares` (nodes, classes) has the
    proportions of the classes among the training rows in a node.
    """

    roots: Annotated[LongArray, Array("T", below="N")]
    children: Annotated[LongArray, Array("N", "2")]
    features: Annotated[LongArray, Array("N", values="not negative")]
    thresholds: Annotated[FloatArray, Array("N")]
    shares: Annotated[FloatArray, Array("N", "C", values="probabilities")]

    def probabilities(self, values: FloatArray) -> FloatArray:
        """(n, classes) mean over the trees of the class proportions in the leaf that each row (n, features) reaches."""
        rows = np.arange(len(values))
        single_precision = values.astype(np.float32)  # scikit-learn compares in single precision
        total = np.zeros((len(values), self.shares.shape[1]))
        for root in self.roots:
            node = np.full(len(values), root)
            while (inside := self.children[node, 0] >= 0).any():
                right = single_precision[rows, self.features[node]] > self.thresholds[node]
                node = np.where(inside, self.children[node, right.astype(np.int64)], node)
            total += self.shares[node]
        return np.asarray(total / len(self.roots), np.float64)

    def check(self, features: int, classes: int) -> None:
        """Raise ContentsError for a forest that does not read so many features, or tell so many classes apart.

        Each node has no child or two, nodes that come after it: no row goes round.
        """
        nodes, inside = np.arange(len(self.children))[:, None], self.children[:, :1] >= 0
        fits = np.where(inside, self.children > nodes, self.children == -1) & (self.children < len(nodes))
        if not fits.all():
            raise ContentsError(f"forest.children has {found(self.children, ~fits)}, wanted -1 or a later node")
        columns, highest = self.shares.shape[1], int(self.features.max(initial=0))
        if columns != classes or highest >= features or not len(self.roots):
            problem = f"forest.shares has {columns} columns, and forest.features goes up to {highest}"
            raise ContentsError(f"{problem}, wanted {classes} columns and at most {features - 1}, and a tree")


def train_forest(values: FloatArray, classes: LongArray, seed: int) -> RandomForest:
    """Train a forest to predict the class (n) of each row. Raises ConfigError if scikit-learn is not installed."""
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ImportError:
        raise ConfigError("a random forest needs scikit-learn: pip install 'rerank-plugins[ml]'") from None
    fitted = RandomForestClassifier(TREES, min_samples_leaf=MIN_LEAF_PAIRS, random_state=seed).fit(values, classes)
    trees = [estimator.tree_ for estimator in fitted.estimators_]
    roots = np.cumsum([0, *(tree.node_count for tree in trees)])
    children: list[LongArray] = []
    for tree, root in zip(trees, roots, strict=False):
        indices = np.column_stack([tree.children_left, tree.children_right]).astype(np.int64)
        children.append(np.where(indices >= 0, indices + root, -1))
    shares = np.concatenate([tree.value[:, 0] for tree in trees])
    return RandomForest(
        roots[:-1].astype(np.int64),
        np.concatenate(children),
        np.maximum(np.concatenate([tree.feature for tree in trees]), 0).astype(np.int64),
        np.concatenate([tree.threshold for tree in trees]).astype(np.float64),
        shares / shares.sum(axis=1, keepdims=True),
    )
