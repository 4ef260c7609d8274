"""The k best derivations of a hypergraph, lazily and exactly: algorithm 3 of Huang & Chiang (2005).

A derivation is an edge with a derivation of each of its tails; every vertex has a list of its derivations so far, and
a heap of candidates for the next. The successors of the ranks (r, s) are (r, s + 1) and, if s is the first rank, (r +
1, s); they become candidates when the derivation after it is requested. Derivations are ordered by score, then by the
number of the edge, then by those of the tails' derivations. The cost is O(E + k n log k) after the best scores.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray
from rerank_plugins.kit.bundles import bundled
from rerank_plugins.kit.charts.hypergraph import Hypergraph
from rerank_plugins.kit.kernels import filling_kernel, part

UNKNOWN, NONE = -1, -2  # in place of a successor: not requested yet; there is none
FULL = -3  # a kernel needs larger arrays
# A candidate, a node of a skew heap: left and right are -1 where there is no tail, or its first derivation is meant.
CANDIDATE = np.dtype(
    [
        ("score", np.float64), ("edge", np.int32), ("left", np.int32), ("right", np.int32), ("child", np.int32),
        ("sibling", np.int32), ("unused", np.int32),
    ]
)  # fmt: skip
# A derivation, the next one of its vertex, whether the candidates for that are in the heap, and its number in the end.
DERIVATION = np.dtype(
    [
        ("score", np.float64), ("vertex", np.int32), ("edge", np.int32), ("left", np.int32), ("right", np.int32),
        ("successor", np.int32), ("opened", np.int32), ("number", np.int32), ("unused", np.int32),
    ]
)  # fmt: skip
# The first derivation of a vertex, the root of its heap, and whether its edges are in the heap.
VERTEX = np.dtype([("first", np.int32), ("top", np.int32), ("opened", np.int32)])


class Derivations(NamedTuple):
    """D derivations; the parts of a derivation come before it."""

    # vertex, edge: (D) the vertex that is derived, and the last edge
    vertex: IntArray
    edge: IntArray
    # left, right: (D) the derivations of the edge's tails, -1 if there is none
    left: IntArray
    right: IntArray
    score: FloatArray  # (D) the sum of the scores of all edges
    best: IntArray  # (k) the derivations of the top vertex, best first


class Search(NamedTuple):
    """What a search fills: candidates, derivations, vertices (V), and requests that wait for others, as (n, 2).

    `counts` (2) are the numbers of derivations and of candidates.
    """

    heap: Any
    derivations: Any
    vertices: Any
    requests: Any
    counts: Any


@part
def _before(x: Any, y: Any) -> bool:
    """Return whether candidate x comes before candidate y, by score, edge, left and right derivation."""
    if x.score != y.score:
        return bool(x.score > y.score)
    if x.edge != y.edge:
        return bool(x.edge < y.edge)
    if x.left != y.left:
        return bool(x.left < y.left)
    return bool(x.right < y.right)


@part
def _meld(heap: Any, x: int, y: int) -> int:
    """Merge two skew heaps (Sleator & Tarjan 1986) by a walk down their right spines; return the root."""
    if x < 0 or y < 0:
        return max(x, y)
    top = above = -1
    while y >= 0:
        if x < 0 or _before(heap[y], heap[x]):
            x, y = y, x
        if above < 0:
            top = x
        else:
            heap[above].child = x
        above, x = x, heap[x].sibling
        heap[above].sibling = heap[above].child
    heap[above].child = x
    return top


@part
def _push(work: Search, vertex: int, score: float, edge: int, left: int, right: int) -> bool:
    """Add a candidate to the heap of a vertex; false if the arrays are full."""
    place = work.counts[1]
    if place == len(work.heap):
        return False
    work.counts[1] += 1
    new = work.heap[place]
    new.score, new.edge, new.left, new.right, new.child, new.sibling = score, edge, left, right, -1, -1
    work.vertices[vertex].top = _meld(work.heap, work.vertices[vertex].top, place)
    return True


@part
def _open_vertex(graph: Hypergraph, vertex: int, work: Search) -> bool:
    """Add the first candidates of a vertex: each edge with the first derivations of its tails, left implicit (-1)."""
    edge = graph.first[vertex]
    while edge >= 0:
        score = graph.score[edge]
        if graph.left[edge] >= 0:
            score += graph.best[graph.left[edge]]
        if graph.right[edge] >= 0:
            score += graph.best[graph.right[edge]]
        if score > -math.inf and not _push(work, vertex, score, edge, -1, -1):
            return False
        edge = graph.next[edge]
    return True


@part
def _answer(graph: Hypergraph, vertex: int, last: int, work: Search) -> int:
    """Return the derivation of `vertex` after `last`, or its first one if `last` is -1.

    The result is NONE if there is none, and FULL if the arrays are full. A request that depends on another one waits
    until that is answered.
    """
    heap, derivations, vertices, requests = work.heap, work.derivations, work.vertices, work.requests
    requests[0, 0], requests[0, 1] = vertex, last
    depth = 1
    while depth:
        # The latest request: the derivation of v after d. It may have been answered in the meantime.
        v, d = requests[depth - 1, 0], requests[depth - 1, 1]
        if (vertices[v].first if d < 0 else derivations[d].successor) != UNKNOWN:
            depth -= 1
            continue
        # First request for this vertex: all edges become candidates.
        if d < 0 and not vertices[v].opened:
            if not _open_vertex(graph, v, work):
                return FULL
            vertices[v].opened = 1
        # First request for what follows d: the successors of d become candidates (algorithm 3, LazyNext).
        if d >= 0 and not derivations[d].opened:
            edge, of_left, of_right = derivations[d].edge, derivations[d].left, derivations[d].right
            left, right = graph.left[edge], graph.right[edge]
            # The next derivations of both tails are requested first, where they are needed.
            after_right = derivations[of_right].successor if right >= 0 else NONE
            grows = left >= 0 and (right < 0 or of_right == vertices[right].first)
            after_left = derivations[of_left].successor if grows else NONE
            if after_right == UNKNOWN or after_left == UNKNOWN:
                requests[depth, 0] = right if after_right == UNKNOWN else left
                requests[depth, 1] = of_right if after_right == UNKNOWN else of_left
                depth += 1
                continue
            # Ranks (r, s + 1), and (r + 1, s) only if s is the first rank.
            for step_left in range(2):
                if (after_left if step_left else after_right) < 0:
                    continue
                x, y = (after_left, of_right) if step_left else (of_left, after_right)
                score = graph.score[edge] + derivations[x].score + (derivations[y].score if right >= 0 else 0.0)
                if not _push(work, v, score, edge, x, y):
                    return FULL
            derivations[d].opened = 1
        # The best candidate is the answer, after the first derivations of its tails have been requested.
        top, result = vertices[v].top, NONE
        if top >= 0:
            edge, of_left, of_right = heap[top].edge, heap[top].left, heap[top].right
            left, right = graph.left[edge], graph.right[edge]
            if left >= 0 and of_left < 0:
                of_left = vertices[left].first
            if right >= 0 and of_right < 0:
                of_right = vertices[right].first
            waits_left = left >= 0 and of_left == UNKNOWN
            if waits_left or (right >= 0 and of_right == UNKNOWN):
                requests[depth, 0], requests[depth, 1] = left if waits_left else right, -1
                depth += 1
                continue
            result = work.counts[0]
            if result == len(derivations):
                return FULL
            # Pop it from the heap and append it to the derivations.
            vertices[v].top = _meld(heap, heap[top].child, heap[top].sibling)
            work.counts[0] += 1
            new = derivations[result]
            new.score, new.vertex, new.edge, new.left, new.right = heap[top].score, v, edge, of_left, of_right
            new.successor, new.opened = UNKNOWN, 0
        # Record the answer and go back to the request that waits for it.
        if d < 0:
            vertices[v].first = result
        else:
            derivations[d].successor = result
        depth -= 1
    return int(vertices[vertex].first if last < 0 else derivations[last].successor)


@part
def _keep_parts(derivations: Any, count: int, ranked: Any, ranks: int, columns: Any, scores: Any) -> int:
    """Write the derivations that are parts of the best to the columns, with new numbers; return how many there are."""
    for d in range(count):
        derivations[d].number = -1
    for rank in range(ranks):
        derivations[ranked[rank]].number = 0
    for d in range(count - 1, -1, -1):
        if derivations[d].number == 0:
            if derivations[d].left >= 0:
                derivations[derivations[d].left].number = 0
            if derivations[d].right >= 0:
                derivations[derivations[d].right].number = 0
    kept = 0
    for d in range(count):
        if derivations[d].number == 0:
            derivation = derivations[d]
            derivation.number, scores[kept] = kept, derivation.score
            columns[0, kept], columns[1, kept] = derivation.vertex, derivation.edge
            columns[2, kept] = derivations[derivation.left].number if derivation.left >= 0 else -1
            columns[3, kept] = derivations[derivation.right].number if derivation.right >= 0 else -1
            kept += 1
    for rank in range(ranks):
        ranked[rank] = derivations[ranked[rank]].number
    return kept


@filling_kernel
def derive(graph: Hypergraph, work: Search, columns: Any, scores: Any, ranked: Any) -> bool:
    """Fill in the `columns` and `scores` of `Derivations` for the best derivations of the top vertex, `ranked` (k).

    Sets `work.counts` to the numbers of both. Returns whether the arrays were large enough.
    """
    for v in range(len(work.vertices)):
        work.vertices[v].first, work.vertices[v].top, work.vertices[v].opened = UNKNOWN, -1, 0
    work.counts[0] = work.counts[1] = 0
    last, ranks = -1, 0
    while ranks < len(ranked) and graph.top >= 0 and graph.best[graph.top] > -math.inf:
        last = _answer(graph, graph.top, last, work)
        if last < 0:
            break
        ranked[ranks] = last
        ranks += 1
    if last == FULL:
        return False
    work.counts[0] = _keep_parts(work.derivations, work.counts[0], ranked, ranks, columns, scores)
    work.counts[1] = ranks
    return True


def k_best(graph: Hypergraph, k: int) -> Derivations:
    """Return the k best derivations of the top vertex, or all if there are fewer, and all their parts."""
    vertices, room = len(graph.best), 1024 + 64 * k
    while True:
        heap, derivations = np.empty(room + len(graph.score), CANDIDATE), np.empty(room, DERIVATION)
        requests, counts = np.empty((vertices + room + 2, 2), np.int64), np.zeros(2, np.int64)
        work = bundled(Search(heap, derivations, np.empty(vertices, VERTEX), requests, counts))
        columns, scores, ranked = np.empty((4, room), np.int32), np.empty(room), np.empty(k, np.int32)
        if derive(graph, work, columns, scores, ranked):
            kept, ranks = counts.tolist()
            vertex, edge, left, right = columns[:, :kept]
            return Derivations(vertex, edge, left, right, scores[:kept], ranked[:ranks])
        room *= 4  # the arrays were full: start again with larger ones
