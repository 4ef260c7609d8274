"""The nodes of trees in the order of the passes of EM, with equal subtrees as one node.

Equal subtrees have equal inside probabilities, and both outside probabilities and expected counts are sums over their
occurrences, so EM needs each distinct subtree of a corpus only once. Most words, and a third of the phrases, occur
several times in some ten thousand trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rerank_plugins.constituency import latent_kernels as kernels
from rerank_plugins.constituency.binarised_trees import Forest
from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray

NODES = 1 << 20  # of a part of a forest; its vectors take 16 bytes per distinct node and state


class Subtrees(NamedTuple):
    """N nodes by height, and within a height by rule; children come before their parents.

    `rule`      (N) the rule of each node
    `left`      (N) int32 the first child, -1 in a preterminal
    `right`     (N) int32 the second child, -1 in a preterminal and where there is one child
    `runs`      (runs + 1) where each run of nodes of the same height and rule begins
    `weights`   (N) the sum of the weights of the trees in which the node occurs, for each occurrence
    `roots`     the nodes that are roots, and `root_weights` the sum of the weights of their trees
    """

    rule: IntArray
    left: IntArray
    right: IntArray
    runs: LongArray
    weights: FloatArray
    roots: LongArray
    root_weights: FloatArray


def parts(forest: Forest, size: int | None = None) -> Iterator[tuple[int, int]]:
    """Cut a forest into parts of about `size` nodes: yield the first tree of each and the one after its last."""
    first, last, size = 0, len(forest.weights), size or NODES
    while first < last:
        end = int(np.searchsorted(forest.offsets, forest.offsets[first] + size))
        end = min(max(end, first + 1), last)
        yield first, end
        first = end


def subtrees(forest: Forest, rule: IntArray, first: int, end: int, *, shared: bool = True) -> Subtrees:
    """Lay out the trees from `first` to `end`; `rule` is the rule of each node of the forest.

    With `shared`, equal subtrees become one node. Otherwise every node remains.
    """
    begin = int(forest.offsets[first])
    span = slice(begin, int(forest.offsets[end]))
    rule, height = rule[span], np.zeros(span.stop - begin, np.int32)
    left, right = (np.where(child[span] >= 0, child[span] - begin, -1) for child in (forest.left, forest.right))
    kernels.heights(left, right, height)
    order = np.lexsort((rule, height))
    number = np.full(len(rule) + 1, -1, np.int32)  # the place of each node in the result; that of node -1 is -1
    if shared:
        kept, ends = [], np.searchsorted(height[order], np.arange(height.max(initial=0) + 2))
        total = 0
        for start, stop in pairwise(ends.tolist()):
            level = order[start:stop]
            children = number[left[level]].astype(np.int64) << 32 | number[right[level]] + 1
            by_children = np.lexsort((children, rule[level]))
            level, children = level[by_children], children[by_children]
            new = np.append(True, (rule[level[1:]] != rule[level[:-1]]) | (children[1:] != children[:-1]))
            number[level] = total + np.cumsum(new) - 1
            total += int(new.sum())
            kept.append(level[new])
        order = np.concatenate(kept)
    else:
        number[order] = np.arange(len(order))
    tree_weights = forest.weights[first:end]
    weights = np.repeat(tree_weights, np.diff(forest.offsets[first : end + 1]))
    roots, root = np.unique(number[forest.offsets[first + 1 : end + 1] - 1 - begin], return_inverse=True)
    steps = (np.diff(rule[order]) != 0) | (np.diff(height[order]) != 0)
    return Subtrees(
        np.ascontiguousarray(rule[order], np.int32),
        number[left[order]],
        number[right[order]],
        np.concatenate(([0], np.flatnonzero(steps) + 1, [len(order)])).astype(np.int64),
        np.bincount(number[:-1], weights, len(order)).astype(np.float64),
        roots.astype(np.int64),
        np.bincount(root, tree_weights, len(roots)).astype(np.float64),
    )
