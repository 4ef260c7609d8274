"""The k best derivations of a hypergraph, lazily and exactly: algorithm 3 of Huang & Chiang (2005).

A derivation is an edge with a derivation of each of its tails. Every vertex has a list of its derivations so far, and a
heap of candidates for the next one. The successors of a derivation, in which one tail takes its next derivation, become
candidates only when the derivation after it is requested. The successors of the ranks (r, s) are (r, s + 1) and, if s
is the first rank, (r + 1, s), so that each pair occurs once. Cycles of unary rules need no special care: a derivation
scores below its parts, which are derived before it.

Derivations are ordered by score, then by the number of the edge, then by the numbers of the tails' derivations. The
cost is O(E + k n log k), once the best scores are known.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from rerank_plugins.arrays import FloatArray, IntArray
from rerank_plugins.kernel_cache import njit_part
from rerank_plugins.models.pcfg.hypergraph import Hypergraph

UNKNOWN, NONE = -1, -2  # in place of a successor: not requested yet; there is none
FULL = -3  # a kernel needs larger arrays


class Derivations(NamedTuple):
    """D derivations; the parts of a derivation come before it.

    `vertex`, `edge`  (D) the vertex that is derived, and the last edge
    `left`, `right`   (D) the derivations of the edge's tails, -1 if there is none
    `score`           (D) the sum of the scores of all edges
    `best`            (k) the derivations of the top vertex, best first
    """

    vertex: IntArray
    edge: IntArray
    left: IntArray
    right: IntArray
    score: FloatArray
    best: IntArray


@njit_part()
def _before(heap: Any, x: int, y: int) -> bool:
    """Return whether candidate x comes before candidate y, by score, edge, left and right derivation."""
    score, edge, left, right = heap[0], heap[1], heap[2], heap[3]
    if score[x] != score[y]:
        return bool(score[x] > score[y])
    if edge[x] != edge[y]:
        return bool(edge[x] < edge[y])
    if left[x] != left[y]:
        return bool(left[x] < left[y])
    return bool(right[x] < right[y])


@njit_part()
def _meld(heap: Any, x: int, y: int) -> int:
    """Merge two skew heaps (Sleator & Tarjan 1986) by a walk down their right spines; return the root."""
    child, sibling = heap[4], heap[5]
    if x < 0 or y < 0:
        return max(x, y)
    if _before(heap, y, x):
        x, y = y, x
    top = x
    while True:
        rest = sibling[x]
        sibling[x] = child[x]
        if rest < 0:
            child[x] = y
            return top
        if _before(heap, y, rest):
            rest, y = y, rest
        child[x] = rest
        x = rest


@njit_part()
def _push(heap: Any, counts: Any, vertex: int, score: float, edge: int, left: int, right: int, tops: Any) -> bool:
    """Add a candidate to the heap of a vertex; false if the arrays are full."""
    place = counts[1]
    if place == len(heap[0]):
        return False
    counts[1] += 1
    heap[0][place], heap[1][place], heap[2][place], heap[3][place] = score, edge, left, right
    heap[4][place] = heap[5][place] = -1
    tops[vertex] = _meld(heap, tops[vertex], place)
    return True


@njit_part()
def _open_vertex(vertex: int, edges: Any, scores: Any, best: Any, tops: Any, heap: Any, counts: Any) -> bool:
    """Add the first candidates of a vertex: each edge with the first derivations of its tails, left implicit (-1)."""
    first_edge, following, lefts, rights = edges
    edge = first_edge[vertex]
    while edge >= 0:
        score = scores[edge]
        if lefts[edge] >= 0:
            score += best[lefts[edge]]
        if rights[edge] >= 0:
            score += best[rights[edge]]
        if score > -math.inf and not _push(heap, counts, vertex, score, edge, -1, -1, tops):
            return False
        edge = following[edge]
    return True


@njit_part()
def _answer(
    vertex: int,
    last: int,
    edges: Any,
    scores: Any,
    best: Any,
    derivations: Any,
    values: Any,
    heap: Any,
    counts: Any,
    opened: Any,
    stack: Any,
) -> int:
    """Return the derivation of `vertex` after `last`, or its first one if `last` is -1.

    The result is NONE if there is none, and FULL if the arrays are full. A request that depends on another one waits on
    the stack until that is answered. In `opened`, vertices are marked from the front and derivations from the back.
    """
    _, _, lefts, rights = edges
    vertices, edge_of, left_of, right_of, successor, first_derivation, tops = derivations
    stack[0, 0], stack[0, 1] = vertex, last
    depth = 1
    while depth:
        # The request on top of the stack: the derivation of v after d. It may have been answered in the meantime.
        v, d = stack[depth - 1]
        if (d < 0 and first_derivation[v] != UNKNOWN) or (d >= 0 and successor[d] != UNKNOWN):
            depth -= 1
            continue
        # First request for this vertex: all edges become candidates.
        if d < 0 and not opened[v]:
            if not _open_vertex(v, edges, scores, best, tops, heap, counts):
                return FULL
            opened[v] = True
        # First request for what follows d: the successors of d become candidates (algorithm 3, LazyNext).
        if d >= 0 and not opened[len(opened) - 1 - d]:
            edge = edge_of[d]
            left, right = lefts[edge], rights[edge]
            # The next derivations of both tails are requested first, where they are needed.
            if right >= 0 and successor[right_of[d]] == UNKNOWN:
                stack[depth, 0], stack[depth, 1] = right, right_of[d]
                depth += 1
                continue
            grows = left >= 0 and (right < 0 or right_of[d] == first_derivation[right])
            if grows and successor[left_of[d]] == UNKNOWN:
                stack[depth, 0], stack[depth, 1] = left, left_of[d]
                depth += 1
                continue
            # Ranks (r, s + 1).
            if right >= 0 and successor[right_of[d]] >= 0:
                after = successor[right_of[d]]
                score = scores[edge] + values[left_of[d]] + values[after]
                if not _push(heap, counts, v, score, edge, left_of[d], after, tops):
                    return FULL
            # Ranks (r + 1, s), only if s is the first rank.
            if grows and successor[left_of[d]] >= 0:
                after = successor[left_of[d]]
                score = scores[edge] + values[after] + (values[right_of[d]] if right >= 0 else 0.0)
                if not _push(heap, counts, v, score, edge, after, right_of[d], tops):
                    return FULL
            opened[len(opened) - 1 - d] = True
        # The best candidate is the answer, after the first derivations of its tails have been requested.
        top, result = tops[v], NONE
        if top >= 0:
            edge, left, right = heap[1][top], heap[2][top], heap[3][top]
            if lefts[edge] >= 0 and left < 0:
                left = first_derivation[lefts[edge]]
                if left == UNKNOWN:
                    stack[depth, 0], stack[depth, 1] = lefts[edge], -1
                    depth += 1
                    continue
            if rights[edge] >= 0 and right < 0:
                right = first_derivation[rights[edge]]
                if right == UNKNOWN:
                    stack[depth, 0], stack[depth, 1] = rights[edge], -1
                    depth += 1
                    continue
            if counts[0] == len(values):
                return FULL
            # Pop it from the heap and append it to the derivations.
            tops[v] = _meld(heap, heap[4][top], heap[5][top])
            result = counts[0]
            counts[0] += 1
            vertices[result], edge_of[result], left_of[result], right_of[result] = v, edge, left, right
            values[result], successor[result] = heap[0][top], UNKNOWN
        # Record the answer and go back to the request that waits for it.
        if d < 0:
            first_derivation[v] = result
        else:
            successor[d] = result
        depth -= 1
    return int(first_derivation[vertex] if last < 0 else successor[last])


@njit_part()
def _keep_parts(ranked: Any, count: int, columns: Any, values: Any) -> int:
    """Renumber the derivations that are parts of the best, which come first then; return their number."""
    vertices, edges, lefts, rights, number = columns
    number[:count] = -1
    for rank in range(len(ranked)):
        number[ranked[rank]] = 0
    for d in range(count - 1, -1, -1):
        if number[d] == 0:
            if lefts[d] >= 0:
                number[lefts[d]] = 0
            if rights[d] >= 0:
                number[rights[d]] = 0
    kept = 0
    for d in range(count):
        if number[d] == 0:
            number[d] = kept
            vertices[kept], edges[kept], values[kept] = vertices[d], edges[d], values[d]
            lefts[kept] = number[lefts[d]] if lefts[d] >= 0 else -1
            rights[kept] = number[rights[d]] if rights[d] >= 0 else -1
            kept += 1
    for rank in range(len(ranked)):
        ranked[rank] = number[ranked[rank]]
    return kept


@njit(cache=True, nogil=True)
def derive(top: int, edges: Any, scores: Any, best: Any, k: int) -> Any:
    """Return the columns of `Derivations` for the k best derivations of the top vertex, and their scores."""
    room = 1024 + 64 * k
    while True:
        columns = np.full((5, room), UNKNOWN, np.int32)
        by_vertex = np.full((2, len(best)), UNKNOWN, np.int32)
        values, keys = np.empty(room), np.empty(room + len(scores))
        nodes = np.empty((5, len(keys)), np.int32)
        derivations = (columns[0], columns[1], columns[2], columns[3], columns[4], by_vertex[0], by_vertex[1])
        heap = (keys, nodes[0], nodes[1], nodes[2], nodes[3], nodes[4])
        counts, ranked = np.zeros(2, np.int64), np.empty(k, np.int32)  # counts of derivations and of candidates
        opened = np.zeros(len(best) + room, np.bool_)  # vertices from the front, derivations from the back
        stack = np.empty((len(best) + room + 2, 2), np.int64)
        last, rank = -1, 0
        while rank < k and top >= 0 and best[top] > -math.inf:
            last = _answer(top, last, edges, scores, best, derivations, values, heap, counts, opened, stack)
            if last < 0:
                break
            ranked[rank] = last
            rank += 1
        if last != FULL:
            parts = (columns[0], columns[1], columns[2], columns[3], columns[4])
            kept = _keep_parts(ranked[:rank], counts[0], parts, values)
            return columns[:4, :kept], values[:kept], ranked[:rank]
        room *= 4  # the arrays were full: start again with larger ones


def k_best(graph: Hypergraph, k: int) -> Derivations:
    """Return the k best derivations of the top vertex, or all if there are fewer, and all their parts."""
    edges = (graph.first, graph.next, graph.left, graph.right)
    (vertex, edge, left, right), score, best = derive(graph.top, edges, graph.score, graph.best, k)
    return Derivations(vertex, edge, left, right, score, best)
