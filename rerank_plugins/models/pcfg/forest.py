"""Binarised trees as flat arrays, the data on which grammars are counted and trained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rerank_plugins.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.models.vocabulary.signatures import UNKNOWN, UnknownWords
from rerank_plugins.trees.constituency import Tree
from rerank_plugins.trees.penn import normal_form

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


def plant(trees: Sequence[Tree], unknown: UnknownWords | None = None, weights: Sequence[float] | None = None) -> Forest:
    """Lay out binarised trees, with brackets in normal form and rare words replaced by signatures as `unknown` says.

    `weights` (one per tree, default 1) are the counts of the trees. The root of every tree must be ROOT; a node has one
    or two children, a preterminal one word.
    """
    sentences = (unknown or UnknownWords()).replaced([tuple(map(normal_form, tree.words())) for tree in trees])
    words = tuple(sorted({word for sentence in sentences for word in sentence} | {UNKNOWN}))
    rows: list[tuple[str, int, int, int]] = []
    offsets = [0]
    number = {word: i for i, word in enumerate(words)}
    for tree, sentence in zip(trees, sentences, strict=True):
        _add(tree, iter([number[word] for word in sentence]), rows)
        offsets.append(len(rows))
    labels = (ROOT_LABEL, *sorted({row[0] for row in rows} - {ROOT_LABEL}))
    index = {label: i for i, label in enumerate(labels)}
    table = np.array([(index[label], *rest) for label, *rest in rows], np.int32).reshape(-1, 4)
    label, left, right, word = (np.ascontiguousarray(table[:, column]) for column in range(4))
    counts = np.ones(len(trees)) if weights is None else np.asarray(weights, np.float64)
    return Forest(labels, words, label, left, right, word, np.array(offsets, np.int64), counts)


def _add(tree: Tree, words: Iterable[int], rows: list[tuple[str, int, int, int]]) -> None:
    """Append the nodes of a tree in post-order, without recursion; `words` yields the number of each leaf."""
    words = iter(words)
    finished: list[int] = []
    waiting: list[tuple[Tree, bool]] = [(tree, False)]
    while waiting:
        node, expanded = waiting.pop()
        if node.is_preterminal:
            rows.append((node.label, -1, -1, next(words)))
        elif not expanded:
            waiting.append((node, True))
            waiting += [(child, False) for child in reversed(node.children) if isinstance(child, Tree)]
            continue
        elif len(node.children) == 1:
            rows.append((node.label, finished.pop(), -1, -1))
        else:
            right, left = finished.pop(), finished.pop()
            rows.append((node.label, left, right, -1))
        finished.append(len(rows) - 1)
