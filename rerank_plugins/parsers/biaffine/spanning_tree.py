"""The best dependency tree under arc scores: maximum spanning arborescence (Chu & Liu 1965, Edmonds 1967), one root.

The best head of each word alone makes a tree with one root for most sentences: that is checked for a whole batch. For
the others, a constant larger than any difference between trees is taken from the root symbol's arcs, so that the best
arborescence has as few of them as it can: one. Contracting a cycle is O(n^2); there are rarely more than a few.
"""

from __future__ import annotations

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.parsers.biaffine.lstm import Float32, Int64


def best_trees(scores: Float32, lengths: Int64) -> Int64:
    """Heads (sentences, longest; 0: the root symbol) of the best tree of each sentence, among those with one root.

    `scores` (sentences, longest, 1 + longest) of each head for each word; those past a sentence's end are low, and
    heads of words that are not there are 0.
    """
    heads = scores.argmax(axis=2)
    words = np.arange(1, scores.shape[2])
    inside = words <= lengths[:, None]
    heads[~inside] = 0
    above = np.hstack([np.zeros((len(heads), 1), np.int64), heads])
    for _ in range(int(scores.shape[1]).bit_length()):  # from head to head's head: 1, 2, 4, 8 ... steps up
        above = np.take_along_axis(above, above, axis=1)
    trees = ((above == 0).all(axis=1)) & (((heads == 0) & inside).sum(axis=1) == 1)
    for s in np.flatnonzero(~trees & (lengths > 0)):
        n = lengths[s]
        heads[s, :n] = best_tree(scores[s, :n, : n + 1])
    return np.asarray(heads, np.int64)


def best_tree(scores: Float32) -> Int64:
    """Heads (n; 0: the root symbol) of the best tree with one root; `scores` (n, 1 + n) are finite.

    The arc from a word to itself is never taken.
    """
    n = len(scores)
    matrix = np.full((n + 1, n + 1), -np.inf)
    matrix[1:] = scores
    matrix[1:, 0] -= (n + 1) * (float(scores.max()) - float(scores.min()) + 1.0)
    np.fill_diagonal(matrix, -np.inf)
    return _arborescence(matrix)[1:]


def _arborescence(scores: FloatArray) -> Int64:
    """Head of each node in the best arborescence from node 0; `scores[d, h]` of the arc from h to d."""
    heads: Int64 = scores.argmax(axis=1)
    heads[0] = 0
    cycle = _cycle(heads)
    if cycle is None:
        return heads
    rest = np.setdiff1d(np.arange(len(heads)), cycle)
    entering = scores[np.ix_(cycle, rest)] - scores[cycle, heads[cycle], None]  # gain over the cycle's own arc
    leaving = scores[np.ix_(rest, cycle)]
    merged = np.pad(scores[np.ix_(rest, rest)], (0, 1), constant_values=-np.inf)  # the cycle as one node, the last
    merged[-1, :-1], merged[:-1, -1] = entering.max(axis=0), leaving.max(axis=1)
    found = _arborescence(merged)
    heads[rest] = np.where(
        found[:-1] == len(rest), cycle[leaving.argmax(axis=1)], rest[np.minimum(found[:-1], len(rest) - 1)]
    )
    heads[cycle[entering[:, found[-1]].argmax()]] = rest[found[-1]]
    return heads


def _cycle(heads: Int64) -> Int64 | None:
    """The nodes of a cycle of heads, None where all lead to node 0."""
    walk = np.zeros(len(heads), np.int64)  # the walk that met a node first
    walk[0] = -1
    for start in range(1, len(heads)):
        node = start
        while walk[node] == 0:
            walk[node] = start
            node = int(heads[node])
        if walk[node] == start:
            nodes = [node]
            while heads[nodes[-1]] != node:
                nodes.append(int(heads[nodes[-1]]))
            return np.array(nodes)
    return None
