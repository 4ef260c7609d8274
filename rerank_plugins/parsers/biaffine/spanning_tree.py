"""The best dependency tree under arc scores: a maximum spanning arborescence (Chu & Liu 1965, Edmonds 1967), one root.

For most sentences, the best heads of the single words already form a tree with one root, which is checked for a whole
batch at once. For the others, a constant larger than any difference between trees is subtracted from the arcs of the
root symbol, so that the best arborescence has as few of them as possible, which is one. Contracting a cycle takes
O(n^2); there are rarely more than a few cycles.
"""

from __future__ import annotations

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.parsers.biaffine.lstm import Float32, Int64


def best_trees(scores: Float32, lengths: Int64) -> Int64:
    """The heads (sentences, longest; 0: the root symbol) of the best tree with one root of each sentence.

    `scores` (sentences, longest, 1 + longest) are those of each head for each word; scores past the end of a sentence
    must be very low. The heads past the end of a sentence are 0.
    """
    # The best head of each word.
    heads = scores.argmax(axis=2)
    words = np.arange(1, scores.shape[2])
    inside = words <= lengths[:, None]
    heads[~inside] = 0
    # They form a tree if the root symbol is above every word; it must be the head of exactly one.
    above = np.hstack([np.zeros((len(heads), 1), np.int64), heads])
    for _ in range(int(scores.shape[1]).bit_length()):  # doubling: the ancestors 1, 2, 4, 8 … steps up
        above = np.take_along_axis(above, above, axis=1)
    trees = ((above == 0).all(axis=1)) & (((heads == 0) & inside).sum(axis=1) == 1)
    # The other sentences need the algorithm.
    for s in np.flatnonzero(~trees & (lengths > 0)):
        n = lengths[s]
        heads[s, :n] = best_tree(scores[s, :n, : n + 1])
    return np.asarray(heads, np.int64)


def best_tree(scores: Float32) -> Int64:
    """The heads (n; 0: the root symbol) of the best tree with one root; `scores` (n, 1 + n) must be finite.

    An arc from a word to itself is never chosen.
    """
    n = len(scores)
    matrix = np.full((n + 1, n + 1), -np.inf)
    matrix[1:] = scores
    matrix[1:, 0] -= (n + 1) * (float(scores.max()) - float(scores.min()) + 1.0)
    np.fill_diagonal(matrix, -np.inf)
    return _arborescence(matrix)[1:]


def _arborescence(scores: FloatArray) -> Int64:
    """The head of each node in the best arborescence from node 0; `scores[d, h]` is that of the arc from h to d.

    The scores are overwritten: a cycle is contracted to the first of its nodes, in place, until there is none.
    """
    # The best head of each node: if there is no cycle, this is the best arborescence.
    heads: Int64 = scores.argmax(axis=1)
    heads[0] = 0
    contracted = []
    member = np.empty(len(heads), np.bool_)
    while (cycle := _cycle(heads)) is not None:
        # An arc that enters the cycle replaces the arc of the cycle to the same node.
        one, others = cycle[0], cycle[1:]
        within = heads[cycle]
        entering = scores[cycle] - scores[cycle, within][:, None]  # the gain over the arc of the cycle
        leaving = scores[:, cycle]
        entered, left = entering.argmax(axis=0), leaving.argmax(axis=1)
        contracted.append((cycle, within, entered, left))
        scores[one] = entering.max(axis=0)
        scores[:, one] = leaving.max(axis=1)
        scores[one, cycle] = scores[:, others] = -np.inf
        member[:] = False
        member[cycle] = True
        heads[member[heads]] = one
        heads[others] = 0  # they are no nodes any more
        heads[one] = scores[one].argmax()
    # Expand the cycles, the last one first: each keeps its arcs, but for that to the node that is entered.
    for cycle, within, entered, left in reversed(contracted):
        head = heads[cycle[0]]
        below = np.flatnonzero(heads == cycle[0])
        heads[below] = cycle[left[below]]
        heads[cycle] = within
        heads[cycle[entered[head]]] = head
    return heads


def _cycle(heads: Int64) -> Int64 | None:
    """The nodes of a cycle of heads; None if all nodes lead to node 0."""
    walk = np.zeros(len(heads), np.int64)  # the number of the walk that first visited each node
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
