"""The k best derivations of a hypergraph, lazily: algorithm 3 of Huang & Chiang (2005), exact.

A derivation is an edge with a derivation of each of its tails. Every vertex has a list of those found so far, and a
heap of candidates for the next one; a found derivation's successors (the next derivation of one tail) become candidates
only when the one after it is asked for. From ranks (r, s) come (r, s + 1), and (r + 1, s) where s is the first: each
pair once. Cycles of unary rules need no care: a derivation scores below its parts, which are found before it.

Order: score, then number of the edge, then the tails' derivations as found. O(E + k n log k) after the best scores.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from rerank_plugins.arrays import FloatArray, IntArray
from rerank_plugins.models.pcfg.hypergraph import Hypergraph

UNKNOWN, NONE = -1, -2  # of a derivation's successor: not asked for, there is none
FULL = -3


class Derivations(NamedTuple):
    """D derivations, parts before wholes: `edge` (D), `left` and `right` (D) the tails' derivations or -1, `score` (D).

    `best` lists the k best of the whole sentence, best first.
    """

    vertex: IntArray
    edge: IntArray
    left: IntArray
    right: IntArray
    score: FloatArray
    best: IntArray


@njit(cache=True, nogil=True)
def _before(heap: Any, x: int, y: int) -> bool:
    """Whether candidate x comes before y."""
    score, edge, left, right = heap[0], heap[1], heap[2], heap[3]
    if score[x] != score[y]:
        return bool(score[x] > score[y])
    if edge[x] != edge[y]:
        return bool(edge[x] < edge[y])
    if left[x] != left[y]:
        return bool(left[x] < left[y])
    return bool(right[x] < right[y])


@njit(cache=True, nogil=True)
def _meld(heap: Any, x: int, y: int) -> int:
    """Two skew heaps (Sleator & Tarjan 1986) made one: walk down their right spines, swapping children."""
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


@njit(cache=True, nogil=True)
def _push(heap: Any, counts: Any, vertex: int, score: float, edge: int, left: int, right: int, tops: Any) -> bool:
    place = counts[1]
    if place == len(heap[0]):
        return False
    counts[1] += 1
    heap[0][place], heap[1][place], heap[2][place], heap[3][place] = score, edge, left, right
    heap[4][place] = heap[5][place] = -1
    tops[vertex] = _meld(heap, tops[vertex], place)
    return True


@njit(cache=True, nogil=True)
def _open(vertex: int, edges: Any, scores: Any, best: Any, tops: Any, heap: Any, counts: Any) -> bool:
    """Candidates of a vertex nobody has asked: every edge with the best derivations of its tails, not yet made (-1)."""
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


@njit(cache=True, nogil=True)
def _answer(
    vertex: int,
    last: int,
    edges: Any,
    scores: Any,
    best: Any,
    found: Any,
    values: Any,
    heap: Any,
    counts: Any,
    opened: Any,
    stack: Any,
) -> int:
    """The derivation of a vertex after `last` (the first where `last` is -1); NONE where there is none, FULL where the
    arrays are. A request that needs another's answer waits on the stack for it.
    """
    _, _, lefts, rights = edges
    vertices, edge_of, left_of, right_of, successor, first_found, tops = found
    stack[0, 0], stack[0, 1] = vertex, last
    depth = 1
    while depth:
        v, d = stack[depth - 1]
        if (d < 0 and first_found[v] != UNKNOWN) or (d >= 0 and successor[d] != UNKNOWN):
            depth -= 1
            continue
        if d < 0 and not opened[v]:
            if not _open(v, edges, scores, best, tops, heap, counts):
                return FULL
            opened[v] = True
        if d >= 0 and not opened[len(opened) - 1 - d]:
            edge = edge_of[d]
            left, right = lefts[edge], rights[edge]
            if right >= 0 and successor[right_of[d]] == UNKNOWN:
                stack[depth, 0], stack[depth, 1] = right, right_of[d]
                depth += 1
                continue
            grows = left >= 0 and (right < 0 or right_of[d] == first_found[right])
            if grows and successor[left_of[d]] == UNKNOWN:
                stack[depth, 0], stack[depth, 1] = left, left_of[d]
                depth += 1
                continue
            if right >= 0 and successor[right_of[d]] >= 0:
                after = successor[right_of[d]]
                score = scores[edge] + values[left_of[d]] + values[after]
                if not _push(heap, counts, v, score, edge, left_of[d], after, tops):
                    return FULL
            if grows and successor[left_of[d]] >= 0:
                after = successor[left_of[d]]
                score = scores[edge] + values[after] + (values[right_of[d]] if right >= 0 else 0.0)
                if not _push(heap, counts, v, score, edge, after, right_of[d], tops):
                    return FULL
            opened[len(opened) - 1 - d] = True
        top, result = tops[v], NONE
        if top >= 0:
            edge, left, right = heap[1][top], heap[2][top], heap[3][top]
            if lefts[edge] >= 0 and left < 0:
                left = first_found[lefts[edge]]
                if left == UNKNOWN:
                    stack[depth, 0], stack[depth, 1] = lefts[edge], -1
                    depth += 1
                    continue
            if rights[edge] >= 0 and right < 0:
                right = first_found[rights[edge]]
                if right == UNKNOWN:
                    stack[depth, 0], stack[depth, 1] = rights[edge], -1
                    depth += 1
                    continue
            if counts[0] == len(values):
                return FULL
            tops[v] = _meld(heap, heap[4][top], heap[5][top])
            result = counts[0]
            counts[0] += 1
            vertices[result], edge_of[result], left_of[result], right_of[result] = v, edge, left, right
            values[result], successor[result] = heap[0][top], UNKNOWN
        if d < 0:
            first_found[v] = result
        else:
            successor[d] = result
        depth -= 1
    return int(first_found[vertex] if last < 0 else successor[last])


@njit(cache=True, nogil=True)
def _fill(
    top: int, edges: Any, scores: Any, best: Any, found: Any, values: Any, heap: Any, counts: Any, ranked: Any
) -> int:
    """Fill `ranked` with the derivations of the top vertex, as many as there are; FULL where the arrays are."""
    opened = np.zeros(len(best) + len(values), np.bool_)  # vertices from the front, derivations from the back
    stack = np.empty((len(best) + len(values) + 2, 2), np.int64)
    last = -1
    for rank in range(len(ranked)):
        last = _answer(top, last, edges, scores, best, found, values, heap, counts, opened, stack)
        if last < 0:
            return last
        ranked[rank] = last
    return 0


def k_best(graph: Hypergraph, k: int) -> Derivations:
    """The k best derivations of the top vertex, fewer where there are no more."""
    edges = (graph.first, graph.next, graph.left, graph.right)
    room = 4096 + 64 * k
    while True:
        counts, ranked = np.zeros(2, np.int64), np.full(k, -1, np.int32)  # derivations, candidates
        parts = [np.full(room, UNKNOWN, np.int32) for _ in range(5)]
        found = (*parts, *(np.full(len(graph.first), UNKNOWN, np.int32) for _ in range(2)))
        values, candidates = np.empty(room), room + len(graph.left)
        heap = (np.empty(candidates), *(np.empty(candidates, np.int32) for _ in range(5)))
        state = 0
        if graph.top >= 0 and graph.best[graph.top] > -math.inf:
            state = _fill(graph.top, edges, graph.score, graph.best, found, values, heap, counts, ranked)
        if state != FULL:
            size = int(counts[0])
            vertex, edge, left, right = (part[:size] for part in parts[:4])
            return Derivations(vertex, edge, left, right, values[:size], ranked[ranked >= 0])
        room *= 4
