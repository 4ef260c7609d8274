"""A random forest as plain arrays: trained by scikit-learn (the extra `ml`), applied and kept without it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.errors import ConfigError

TREES, SMALLEST_LEAF = 200, 5


@dataclass(frozen=True, eq=False)
class RandomForest:
    """The nodes of all trees one after the other; `roots` (trees) says where each begins.

    A node has (nodes, 2) `children`, -1 for a leaf: the left one where values[feature] <= threshold; and (nodes,
    classes) the shares of the classes.
    """

    roots: LongArray
    children: LongArray
    features: LongArray
    thresholds: FloatArray
    shares: FloatArray

    def probabilities(self, values: FloatArray) -> FloatArray:
        """(n, classes) the mean over the trees of the shares in the leaf that a row (n, features) comes to."""
        rows = np.arange(len(values))
        narrow = values.astype(np.float32)  # as scikit-learn compares
        total = np.zeros((len(values), self.shares.shape[1]))
        for root in self.roots:
            node = np.full(len(values), root)
            while (inside := self.children[node, 0] >= 0).any():
                right = narrow[rows, self.features[node]] > self.thresholds[node]
                node = np.where(inside, self.children[node, right.astype(np.int64)], node)
            total += self.shares[node]
        return np.asarray(total / len(self.roots), np.float64)


def train_forest(values: FloatArray, classes: LongArray, seed: int) -> RandomForest:
    """A forest that tells the classes (n) of rows apart. Raises ConfigError where scikit-learn is not installed."""
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ImportError:
        raise ConfigError("a random forest needs scikit-learn: pip install 'rerank-plugins[ml]'") from None
    fitted = RandomForestClassifier(TREES, min_samples_leaf=SMALLEST_LEAF, random_state=seed).fit(values, classes)
    trees = [each.tree_ for each in fitted.estimators_]
    roots = np.cumsum([0, *(tree.node_count for tree in trees)])
    children: list[LongArray] = []
    for tree, root in zip(trees, roots, strict=False):
        both = np.column_stack([tree.children_left, tree.children_right]).astype(np.int64)
        children.append(np.where(both >= 0, both + root, -1))
    shares = np.concatenate([tree.value[:, 0] for tree in trees])
    return RandomForest(
        roots[:-1].astype(np.int64),
        np.concatenate(children),
        np.maximum(np.concatenate([tree.feature for tree in trees]), 0).astype(np.int64),
        np.concatenate([tree.threshold for tree in trees]).astype(np.float64),
        shares / shares.sum(axis=1, keepdims=True),
    )
