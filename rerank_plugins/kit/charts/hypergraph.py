"""Hypergraphs of items over spans, with scored edges, and the best derivation of each vertex (Viterbi).

Item e of a chart has two vertices: 2e, its category over its span by an emission or a binary rule, and 2e + 1, the same
with any chain of unary rules on top. Edges are emissions (no tails), binary rules (tails 2x + 1 and 2y + 1), the empty
chain (2e → 2e + 1, score 0) and unary rules; a tree scores the sum of its edges. By ln of the expected number of times
that the rule is used over its spans, the best tree is that of the max-rule-product criterion of Petrov & Klein (2007);
by ln p of the rule, it is that of the best derivation.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray
from rerank_plugins.kit.kernels import filling_kernel, part


class Edges(NamedTuple):
    """V vertices, and the edges that have been added so far, with room for more."""

    # first, next: (V), (E) linked lists: the edges into v are first[v], next[first[v]] and so on, until -1
    first: IntArray
    next: IntArray
    # left, right: (E) the tails of an edge, -1 if there is none
    left: IntArray
    right: IntArray
    score: FloatArray  # (E) the score of an edge
    best: FloatArray  # (V) the score of the best derivation of each vertex, -inf if there is none


def make_edges(vertices: int, room: int) -> Edges:
    """Return so many vertices without edges, and room for edges."""
    following, left, right = np.empty((3, room), np.int32)
    first, best = np.full(vertices, -1, np.int32), np.full(vertices, -np.inf)
    return Edges(first, following, left, right, np.empty(room), best)


@part
def add_edge(edges: Edges, edge: int, vertex: int, left: int, right: int, score: float) -> int:
    """Add edge number `edge` into a vertex; return the number of edges."""
    edges.next[edge], edges.first[vertex] = edges.first[vertex], edge
    edges.left[edge], edges.right[edge], edges.score[edge] = left, right, score
    return edge + 1


class Hypergraph(NamedTuple):
    """`size` edges with scores in logarithms, and the vertex of ROOT over the whole sentence, -1 if there is none."""

    edges: Edges
    size: int
    top: int


@filling_kernel
def best_scores(starts: IntArray, edges: Edges, count: int) -> None:
    """Take the logarithm of the scores, and fill in the score of the best derivation of each vertex (Viterbi).

    Cells are visited from narrow to wide. Within a cell, unary rules are relaxed until no score rises.
    """
    first, following, left, right = edges.first, edges.next, edges.left, edges.right
    score, best = edges.score, edges.best
    for edge in range(count):
        score[edge] = math.log(score[edge])
    for cell in range(len(starts) - 1):
        for item in range(starts[cell], starts[cell + 1]):
            edge = first[2 * item]
            while edge >= 0:
                value = score[edge]
                if left[edge] >= 0:
                    value += best[left[edge]] + best[right[edge]]
                if value > best[2 * item]:
                    best[2 * item] = value
                edge = following[edge]
        rising = True
        while rising:
            rising = False
            for item in range(starts[cell], starts[cell + 1]):
                edge = first[2 * item + 1]
                while edge >= 0:
                    value = score[edge] + best[left[edge]]
                    if value > best[2 * item + 1]:
                        best[2 * item + 1] = value
                        rising = True
                    edge = following[edge]


def hypergraph(starts: IntArray, edges: Edges, count: int, top: int) -> Hypergraph:
    """Return the hypergraph of the first `count` edges, whose item `top` is ROOT over the whole sentence, or -1.

    Their scores are no logarithms before. Cell c, from narrow cells to wide ones, has the items starts[c] to
    starts[c + 1].
    """
    best_scores(starts, edges, count)
    return Hypergraph(edges, count, 2 * top + 1 if top >= 0 else -1)


@filling_kernel
def write_heads(first: IntArray, following: IntArray, heads: IntArray) -> None:
    """Write the vertex that each edge leads to."""
    for vertex in range(len(first)):
        edge = first[vertex]
        while edge >= 0:
            heads[edge] = vertex
            edge = following[edge]


def joined(graph: Hypergraph, number: IntArray, starts: IntArray, most: float) -> Hypergraph:
    """Return the hypergraph in which items with the same `number` (items) are one, with posteriors as scores.

    The expected numbers of edges between the same vertices add up; those of unary rules are `most` at most. Numbers
    are those of the new items, of which cell c has starts[c] to starts[c + 1].
    """
    old, size = graph.edges, graph.size
    heads = np.empty(size, np.int32)
    write_heads(old.first, old.next, heads)
    columns = [
        np.where(end >= 0, 2 * number[end // 2] + end % 2, -1) for end in (heads, old.left[:size], old.right[:size])
    ]
    vertices = 2 * int(starts[-1])
    key = np.zeros(size, np.int64)
    for column in columns:
        key = key * (vertices + 1) + column + 1
    _, chosen, edge = np.unique(key, return_index=True, return_inverse=True)
    head, left, right = (column[chosen].astype(np.int32) for column in columns)
    scores = np.bincount(edge, np.exp(old.score[:size]), len(chosen)).astype(np.float64)
    chain = head % 2 == 1
    scores[chain] = np.where(left[chain] == head[chain] - 1, 1.0, np.minimum(scores[chain], most))
    # The edges are sorted by the vertex that they lead to.
    edges = make_edges(vertices, len(chosen))
    last = np.append(head[1:] != head[:-1], True)[: len(head)]
    edges.next[:] = np.where(last, -1, np.arange(1, len(head) + 1))
    begins = np.flatnonzero(np.append(True, head[1:] != head[:-1])[: len(head)])
    edges.first[head[begins]] = begins
    edges.left[:], edges.right[:], edges.score[:] = left, right, scores
    return hypergraph(starts, edges, len(chosen), int(number[graph.top // 2]) if graph.top >= 0 else -1)
