"""Binarised trees as flat arrays, the data on which grammars are counted and trained."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rerank_plugins.core.arrays import BoolArray, FloatArray, IntArray, LongArray
from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.vocabulary.signatures import UNKNOWN, UnknownWords

ROOT_LABEL = "ROOT"


@dataclass(frozen=True, eq=False)
class Forest:
    """N nodes of T binarised trees, tree after tree, each in post-order: children before parents, the root last.

    `labels`   names; ROOT first, then in alphabetical order
    `words`    the closed vocabulary, sorted: words, signatures, `UNK`
    `label`    (N) int32 index into labels
    `left`     (N) int32 the first child's node, -1 in a preterminal
    `right`    (N) int32 the second child's node, -1 in a preterminal and where there is one child
    `word`     (N) int32 index into words in a preterminal, else -1
    `offsets`  (T + 1) int64: tree t has nodes offsets[t] to offsets[t + 1]
    `weights`  (T) the count of each tree
    """

    labels: tuple[str, ...]
    words: tuple[str, ...]
    label: IntArray
    left: IntArray
    right: IntArray
    word: IntArray
    offsets: LongArray
    weights: FloatArray

    @property
    def node_weights(self) -> FloatArray:
        """(N) the weight of each node's tree."""
        return np.repeat(self.weights, np.diff(self.offsets))

    def chosen(self, trees: BoolArray) -> Forest:
        """Return the forest of those trees that the mask has, with the same labels and words."""
        sizes = np.diff(self.offsets)
        nodes = np.repeat(trees, sizes)
        offsets = np.concatenate(([0], np.cumsum(sizes[trees])))
        moved = np.repeat(self.offsets[:-1][trees] - offsets[:-1], sizes[trees])
        left, right = (
            np.where(child[nodes] >= 0, child[nodes] - moved, -1).astype(np.int32) for child in (self.left, self.right)
        )
        return replace(
            self,
            label=self.label[nodes],
            left=left,
            right=right,
            word=self.word[nodes],
            offsets=offsets,
            weights=self.weights[trees],
        )

    def renamed(self, names: Sequence[str]) -> Forest:
        """Return the forest with another name for each of its labels, in their order; labels may get the same name."""
        labels = (ROOT_LABEL, *sorted(set(names) - {ROOT_LABEL}))
        index = {name: i for i, name in enumerate(labels)}
        number = np.array([index[name] for name in names], np.int32)
        return replace(self, labels=labels, label=number[self.label])


def plant(trees: Iterable[Tree], unknown: UnknownWords | None = None, weights: Iterable[float] | None = None) -> Forest:
    """Lay out binarised trees, with brackets in normal form and rare words replaced by signatures as `unknown` says.

    `weights` (one per tree, default 1) are the counts of the trees. The root of every tree must be ROOT; a node has one
    or two children, a preterminal one word. The trees are read one by one, and none is kept.
    """
    numbers: dict[str, int] = {}  # of the labels, in the order in which they come
    columns = array("i"), array("i"), array("i")
    offsets, sentences = [0], []
    for tree in trees:
        sentences.append(tuple(map(normal_form, _add(tree, numbers, *columns))))
        offsets.append(len(columns[0]))
    replaced = (unknown or UnknownWords()).replaced(sentences)
    words = tuple(sorted({word for sentence in replaced for word in sentence} | {UNKNOWN}))
    number = {word: i for i, word in enumerate(words)}
    label, left, right = (np.array(column, np.int32) for column in columns)
    word = np.full(len(label), -1, np.int32)
    word[left < 0] = np.fromiter((number[form] for sentence in replaced for form in sentence), np.int32)
    labels = (ROOT_LABEL, *sorted(numbers.keys() - {ROOT_LABEL}))
    index = {name: i for i, name in enumerate(labels)}
    renumbered = np.array([index[name] for name in numbers], np.int32)
    counts = np.ones(len(sentences)) if weights is None else np.fromiter(weights, np.float64)
    return Forest(labels, words, renumbered[label], left, right, word, np.array(offsets, np.int64), counts)


def _add(tree: Tree, numbers: dict[str, int], label: array[int], left: array[int], right: array[int]) -> list[str]:
    """Append the nodes of a tree in post-order, without recursion, and return its words."""
    words: list[str] = []
    finished: list[int] = []
    waiting: list[tuple[Tree, bool]] = [(tree, False)]
    while waiting:
        node, expanded = waiting.pop()
        children = node.children
        first = second = -1
        if isinstance(children[0], str):
            words.append(children[0])
        elif not expanded:
            waiting.append((node, True))
            waiting += [(child, False) for child in reversed(children) if isinstance(child, Tree)]
            continue
        else:
            if len(children) > 1:
                second = finished.pop()
            first = finished.pop()
        finished.append(len(label))
        label.append(numbers.setdefault(node.label, len(numbers)))
        left.append(first)
        right.append(second)
    return words
