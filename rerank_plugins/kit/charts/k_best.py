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
from rerank_plugins.kit.charts.hypergraph import Edges, Hypergraph
from rerank_plugins.kit.kernels import filling_kernel, part

NOT_REQUESTED, NO_DERIVATION = -1, -2  # in place of a derivation: not requested yet; there is none


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


class Heaps(NamedTuple):
    """A skew heap of candidates for the next derivation of each of V vertices.

    The derivation of a tail is -1 where there is no tail, or its first derivation is meant.
    """

    # score, edge, left, right: (candidates) as those of derivations
    score: FloatArray
    edge: IntArray
    left: IntArray
    right: IntArray
    # child, sibling: (candidates) the first subtree of a candidate, and the one beside it; -1 if there is none
    child: IntArray
    sibling: IntArray
    top: IntArray  # (V) the best candidate of each vertex, -1 if there is none
    size: IntArray  # (1) the number of candidates


class Requests(NamedTuple):
    """Requests for the first derivation of each of V vertices, numbered by vertex, and for the one after each of D."""

    answer: IntArray  # (V + D) the derivation that is requested, or NOT_REQUESTED or NO_DERIVATION
    opened: IntArray  # (V + D) whether the candidates for the answer are in the heap
    # vertex, number: (V + D) requests that wait, each for the one after it
    vertex: IntArray
    number: IntArray


class Search(NamedTuple):
    """Room for a search."""

    derivations: Derivations
    heaps: Heaps
    requests: Requests


@part
def meld(heaps: Heaps, x: int, y: int) -> int:
    """Merge two skew heaps (Sleator & Tarjan 1986) by a walk down their right spines; return the root."""
    score, edge, left, right = heaps.score, heaps.edge, heaps.left, heaps.right
    child, sibling = heaps.child, heaps.sibling
    top = above = -1
    while x >= 0 and y >= 0:
        before = score[y] > score[x]  # y before x: by score, edge, left and right derivation
        if score[y] == score[x]:
            before = edge[y] < edge[x]
            if edge[y] == edge[x]:
                before = left[y] < left[x] or (left[y] == left[x] and right[y] < right[x])
        if before:
            x, y = y, x
        if above < 0:
            top = x
        else:
            child[above] = x
        above, x = x, sibling[x]
        sibling[above] = child[above]
    rest = y if x < 0 else x
    if above < 0:
        return rest
    child[above] = rest
    return top


@part
def candidate_of(heaps: Heaps, score: float, edge: int, left: int, right: int) -> Any:
    """Make a candidate, which is in no heap yet, and return it."""
    new = heaps.size[0]
    heaps.size[0] = new + 1
    heaps.score[new], heaps.edge[new], heaps.left[new] = score, edge, left
    heaps.right[new], heaps.child[new], heaps.sibling[new] = right, -1, -1
    return new


@filling_kernel
def derive(edges: Edges, top: int, search: Search, ranked: IntArray) -> int:
    """Find the best derivations of the vertex `top`, `ranked` (k), and their parts; return how many there are in all.

    It is -1 if the arrays had no room for them. On entry, `ranked` has NO_DERIVATION, every answer is NOT_REQUESTED,
    nothing is opened, and the heaps are empty.

    It is long because it is a recursion with a stack of its own, whose steps resume one another.
    """
    derivations, heaps, requests = search.derivations, search.heaps, search.requests
    tail_left, tail_right, edge_score, best = edges.left, edges.right, edges.score, edges.best
    vertex_of, edge_of, score_of = derivations.vertex, derivations.edge, derivations.score
    left_of, right_of = derivations.left, derivations.right
    answer, opened, vertices, numbers = requests.answer, requests.opened, requests.vertex, requests.number
    count, wanted = 0, top
    for rank in range(len(ranked)):
        vertices[0], numbers[0], depth = top, wanted, 1
        while depth > 0:
            # The latest request, which may have been answered in the meantime.
            vertex, number = vertices[depth - 1], numbers[depth - 1]
            if answer[number] != NOT_REQUESTED:
                depth -= 1
                continue
            # A tail of which a derivation must be known first, and the request for that.
            tail, needed = NOT_REQUESTED, 0
            if opened[number]:
                pass
            elif number < len(best):
                # The first request for this vertex: all edges become candidates, with the first derivations of tails.
                edge = edges.first[vertex]
                while edge >= 0:
                    score = edge_score[edge]
                    if tail_left[edge] >= 0:
                        score += best[tail_left[edge]]
                    if tail_right[edge] >= 0:
                        score += best[tail_right[edge]]
                    if score > -math.inf:
                        new = candidate_of(heaps, score, edge, NOT_REQUESTED, NOT_REQUESTED)
                        heaps.top[vertex] = meld(heaps, heaps.top[vertex], new)
                    edge = edges.next[edge]
            else:
                # The successors of the last derivation become candidates (algorithm 3, LazyNext): the ranks (r, s + 1),
                # and (r + 1, s) if s is the first rank.
                last = number - len(best)
                edge, x, y = edge_of[last], left_of[last], right_of[last]
                left, right = tail_left[edge], tail_right[edge]
                after_x = after_y = NO_DERIVATION
                if right >= 0:
                    after_y = answer[len(best) + y]
                if left >= 0 and (right < 0 or y == answer[right]):
                    after_x = answer[len(best) + x]
                if after_y == NOT_REQUESTED:
                    tail, needed = right, len(best) + y
                elif after_x == NOT_REQUESTED:
                    tail, needed = left, len(best) + x
                else:
                    if after_y >= 0:
                        score = edge_score[edge] + score_of[x] + score_of[after_y]
                        new = candidate_of(heaps, score, edge, x, after_y)
                        heaps.top[vertex] = meld(heaps, heaps.top[vertex], new)
                    if after_x >= 0:
                        score = edge_score[edge] + score_of[after_x]
                        if right >= 0:
                            score += score_of[y]
                        new = candidate_of(heaps, score, edge, after_x, y)
                        heaps.top[vertex] = meld(heaps, heaps.top[vertex], new)
            # The best candidate is the answer, once the first derivations of its tails are known.
            result, candidate = NO_DERIVATION, heaps.top[vertex]
            if tail < 0:
                opened[number] = 1
                if candidate >= 0:
                    edge, x, y = heaps.edge[candidate], heaps.left[candidate], heaps.right[candidate]
                    left, right = tail_left[edge], tail_right[edge]
                    if left >= 0 and x < 0:
                        x = answer[left]
                    if right >= 0 and y < 0:
                        y = answer[right]
                    if left >= 0 and x == NOT_REQUESTED:
                        tail = needed = left
                    elif right >= 0 and y == NOT_REQUESTED:
                        tail = needed = right
                    elif count == len(edge_of):
                        return -1
                    else:
                        heaps.top[vertex] = meld(heaps, heaps.child[candidate], heaps.sibling[candidate])
                        vertex_of[count], edge_of[count], score_of[count] = vertex, edge, heaps.score[candidate]
                        left_of[count], right_of[count] = x, y
                        result = count
                        count += 1
            # Either another request comes first, or this one is answered.
            if tail >= 0:
                vertices[depth], numbers[depth] = tail, needed
                depth += 1
            else:
                answer[number] = result
                depth -= 1
        ranked[rank] = answer[wanted]
        if answer[wanted] == NO_DERIVATION:
            break
        wanted = len(best) + answer[wanted]
    return count


class KBest:
    """Finds the best derivations of one hypergraph after another, in arrays that it keeps."""

    def __init__(self) -> None:
        self._make_room(0, 0, 0)

    def _make_room(self, vertices: int, edges: int, derivations: int) -> None:
        """Provide room for so many derivations of a hypergraph of this size."""
        candidates = edges + 2 * derivations  # every edge once, and two successors of each derivation
        vertex, edge, left, right = np.empty((4, derivations), np.int32)
        kept = Derivations(vertex, edge, left, right, np.empty(derivations), np.empty(0, np.int32))
        edge, left, right, child, sibling = np.empty((5, candidates), np.int32)
        top, size = np.empty(vertices, np.int32), np.empty(1, np.int32)
        heaps = Heaps(np.empty(candidates), edge, left, right, child, sibling, top, size)
        answer, opened, waiting, numbers = np.empty((4, vertices + derivations), np.int32)
        self._search = Search(kept, heaps, Requests(answer, opened, waiting, numbers))
        self._room = vertices, edges, derivations

    def __call__(self, graph: Hypergraph, k: int) -> Derivations:
        """Return the k best derivations of the top vertex, or all if there are fewer, and all their parts."""
        vertices, room = len(graph.edges.best), 1024 + 64 * k
        if graph.top < 0 or graph.edges.best[graph.top] == -np.inf:
            k = 0
        while True:
            wanted = vertices, graph.size, room
            if any(size > present for size, present in zip(wanted, self._room, strict=True)):
                self._make_room(*(2 * size for size in map(max, wanted, self._room)))
            kept, heaps, requests = self._search.derivations, self._search.heaps, self._search.requests
            heaps.top.fill(-1)
            heaps.size.fill(0)
            requests.answer.fill(NOT_REQUESTED)
            requests.opened.fill(0)
            ranked = np.full(k, NO_DERIVATION, np.int32)
            count = derive(graph.edges, graph.top, self._search, ranked)
            if count >= 0:
                vertex, edge, left = (column[:count].copy() for column in (kept.vertex, kept.edge, kept.left))
                right, score = kept.right[:count].copy(), kept.score[:count].copy()
                return Derivations(vertex, edge, left, right, score, ranked[ranked != NO_DERIVATION])
            room *= 4  # the arrays were full: start again with larger ones
