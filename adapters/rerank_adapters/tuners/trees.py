"""Sums of regression trees over features that are standardised within their list.

A feature of a row becomes its difference from the mean of its list, in standard deviations of the list; so trees see
how a hypothesis compares with the others of its list, and neither the scale of a feature nor the difficulty of the
segment. The trees are plain arrays, and so is their file: reading and applying them needs no other library.

What each feature adds to the lead of one hypothesis over another by the trees are exact Shapley values. Let t(S) be the
sum of the trees for a row that has the features in S from A and all others from B. The Shapley value of a feature is
what it adds to t on average when the features of B are replaced by those of A one after the other, over all orders. The
values sum to t(all) - t(none), the lead of A over B by the trees. This is the baseline Shapley value of Sundararajan &
Najmi (2020, The many Shapley values for model explanation) with B as the baseline.

A leaf is reached by S exactly if S contains p features (at which the path follows A, and B would leave it) and none of
q others (at which it follows B). A leaf of value v therefore gives each of the p features v (p-1)! q! / (p+q)!, and
takes v p! (q-1)! / (p+q)! from each of the q (Lundberg et al. 2020, From local explanations to global understanding
with explainable AI for trees, interventional TreeSHAP). The time is O(leaves * depth), whatever the number of features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Annotated

import numpy as np

from rerank_adapters.tuners.within_lists import CONSTANT
from rerank_plugins import ConfigError, FeatureTable, FloatArray, Scorer
from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.kit.files.model_schema import Array, ModelFile, Setting

CELLS = 1 << 20  # rows * trees that are followed at once


@dataclass(frozen=True, eq=False)
class Trees(Scorer):
    """Trees whose values are summed: `names` are their features, `roots` (trees) the nodes at which they begin.

    From node i, a row goes to `left[i]` where its feature number `feature[i]` is at most `threshold[i]`, and to
    `right[i]` otherwise. A leaf leads to itself, with threshold infinity, and has a `value`; that of other nodes is 0.
    `depth` is the number of steps after which every row has reached a leaf.
    """

    names: Annotated[tuple[str, ...], Setting(size="F")]
    depth: Annotated[int, Setting()]
    roots: Annotated[IntArray, Array("T", below="N")]
    feature: Annotated[IntArray, Array("N", below="F")]
    threshold: Annotated[FloatArray, Array("N", values="numbers")]
    left: Annotated[IntArray, Array("N", below="N")]
    right: Annotated[IntArray, Array("N", below="N")]
    value: Annotated[FloatArray, Array("N")]

    def scores(self, table: FeatureTable) -> FloatArray:
        """(rows): the sum of the trees' values. Raises ConfigError where the table lacks one of the features."""
        return self.sums(self.standardised(table))

    def standardised(self, table: FeatureTable) -> FloatArray:
        """(rows, names): what the trees see of a table. Raises ConfigError where it lacks one of the features."""
        position = {name: i for i, name in enumerate(table.names)}
        missing = [name for name in self.names if name not in position]
        if missing:
            raise ConfigError(f"the boosted trees need features that are not there: {', '.join(missing)}")
        columns = table.values[:, [position[name] for name in self.names]]
        return standardised_in_lists(columns, table.offsets)

    def sums(self, values: FloatArray) -> FloatArray:
        """(rows): the sum of the trees' values, from features that are standardised (rows, names)."""
        sums = np.zeros(len(values))
        if not len(self.roots):
            return sums
        step = max(1, CELLS // len(self.roots))
        for begin in range(0, len(values), step):
            block = values[begin : begin + step]
            rows = np.arange(len(block))[:, None]
            node = np.broadcast_to(self.roots, (len(block), len(self.roots)))
            for _ in range(self.depth):
                goes_left = block[rows, self.feature[node]] <= self.threshold[node]
                node = np.where(goes_left, self.left[node], self.right[node])
            sums[begin : begin + step] = self.value[node].sum(axis=1)
        return sums

    def write(self, path: Path) -> None:
        """Write the trees to a model file. Raises OSError."""
        FILE.write(self, path)

    @classmethod
    def read(cls, path: Path) -> Trees:
        """Read trees from their file. Raises ModelError for a file that is missing, damaged, or holds no such trees."""
        return FILE.read(path)


FILE = ModelFile(Trees, "boosted-trees", "model of boosted trees")


def standardised_in_lists(values: FloatArray, offsets: LongArray) -> FloatArray:
    """(rows, F): each value less the mean of its list, over the list's standard deviation; 0 where that is 0."""
    lengths = np.diff(offsets)
    starts = offsets[:-1]
    centred = values - np.repeat(np.add.reduceat(values, starts, axis=0) / lengths[:, None], lengths, axis=0)
    spread = np.sqrt(np.add.reduceat(centred**2, starts, axis=0) / lengths[:, None])
    magnitude = np.maximum.reduceat(np.abs(values), starts, axis=0)
    constant = spread <= CONSTANT * magnitude
    scale = np.where(constant, np.inf, spread)
    return np.asarray(centred / np.repeat(scale, lengths, axis=0))


def joined(names: Sequence[str], trees: Sequence[dict[str, FloatArray]], depth: int, scale: float) -> Trees:
    """Trees from the arrays of each one, whose nodes are numbered from 0; their values are multiplied by `scale`."""
    sizes = np.array([0, *(len(tree["value"]) for tree in trees)], np.int64)
    roots = np.cumsum(sizes)[:-1]

    def all_of(name: str) -> FloatArray:
        return np.concatenate([tree[name] for tree in trees] or [np.zeros(0)])

    shift = np.repeat(roots, sizes[1:])
    return Trees(
        tuple(names),
        depth,
        roots.astype(np.int32),
        all_of("feature").astype(np.int32),
        all_of("threshold").astype(np.float64),
        (all_of("left") + shift).astype(np.int32),
        (all_of("right") + shift).astype(np.int32),
        scale * all_of("value").astype(np.float64),
    )


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
    values = np.zeros(len(trees.names))
    for leaf, of_first, of_second in paths:
        value = float(trees.value[leaf]) / comb(len(of_first) + len(of_second), len(of_first))
        values[list(of_first)] += value / max(len(of_first), 1)
        values[list(of_second)] -= value / max(len(of_second), 1)
    return values
