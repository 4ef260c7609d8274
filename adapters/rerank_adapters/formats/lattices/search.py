"""A word lattice in Python objects, and its best distinct word sequences.

A lattice is an acyclic graph of weighted arcs, of which some have no word (epsilon). Its n-best list holds the n word
sequences of lowest cost, where the cost of a sequence is that of the best path with these words: equal sequences along
different paths, which differ in their times, pronunciations or epsilon arcs, count once.

The search is A* over prefixes of words. A prefix is represented by the set of nodes that its paths reach, with the
lowest cost of each. This is the weighted subset of the determinisation of the lattice (Mohri 1997), constructed only
where the search comes. The estimate of the rest is the exact cost from each node to the end, so the prefix on top of
the queue always belongs to the best word sequence not yet found (Mohri and Riley 2002, An efficient algorithm for the
n-best-strings problem), and each sequence of length m costs at most m + 1 prefixes. Costs may be negative, since there
are no cycles.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from math import inf

from rerank_plugins import FormatError

Reached = tuple[float, float, float]  # the scaled, the acoustic and the LM cost of the best path to a node
Subset = dict[int, Reached]


@dataclass(frozen=True)
class Arc:
    """An arc to the node `to`; `word` is "" for an epsilon. The costs are negative natural logarithms, unscaled."""

    to: int
    word: str
    acoustic: float
    lm: float


@dataclass
class Lattice:
    """A lattice under construction: arcs by their start node, and the final nodes with their (acoustic, LM) costs."""

    arcs: dict[int, list[Arc]] = field(default_factory=dict)
    finals: dict[int, tuple[float, float]] = field(default_factory=dict)
    start: int | None = None

    def add(self, node: int, arc: Arc) -> None:
        """Add an arc; the start node of the first one is that of the lattice, unless `start` is set."""
        if self.start is None:
            self.start = node
        self.arcs.setdefault(node, []).append(arc)


@dataclass(frozen=True)
class Scales:
    """How the costs of an arc are weighted: acoustic · a + lm · l + word_penalty for each arc with a word."""

    acoustic: float = 1.0
    lm: float = 1.0
    word_penalty: float = 0.0

    def cost(self, arc: Arc) -> float:
        """The cost of an arc."""
        return self.acoustic * arc.acoustic + self.lm * arc.lm + (self.word_penalty if arc.word else 0.0)


@dataclass(frozen=True)
class WordSequence:
    """A word sequence, its scaled cost, and the unscaled acoustic and LM costs of its best path."""

    words: tuple[str, ...]
    cost: float
    acoustic: float
    lm: float


def best_sequences(lattice: Lattice, n: int, scales: Scales, path: str, line: int) -> list[WordSequence]:
    """The n distinct word sequences of lowest cost, the best first; fewer where the lattice has fewer.

    Raises FormatError, with the path and the line, for a lattice with a cycle or without a path to a final node.
    """
    order = _topological(lattice, path, line)
    rest = _rest(lattice, order, scales)
    start = lattice.start if lattice.start is not None else 0
    if rest.get(start, inf) == inf:
        raise FormatError("the lattice has no path from its start to a final node", path=path, line=line)
    place = {node: position for position, node in enumerate(order)}
    return list(_search(lattice, start, n, scales, rest, place))


def _topological(lattice: Lattice, path: str, line: int) -> list[int]:
    """The nodes so that all arcs lead forward, by depth-first search without recursion."""
    state: dict[int, int] = {}  # 1: on the way from the root, 2: done
    finished: list[int] = []
    for root in [*([lattice.start] if lattice.start is not None else []), *lattice.arcs, *lattice.finals]:
        if root in state:
            continue
        state[root] = 1
        stack = [(root, iter(lattice.arcs.get(root, ())))]
        while stack:
            node, arcs = stack[-1]
            following = next(arcs, None)
            if following is None:
                stack.pop()
                state[node] = 2
                finished.append(node)
            elif state.get(following.to) == 1:
                message = f"the lattice has a cycle through node {following.to}; expected an acyclic one"
                raise FormatError(message, path=path, line=line)
            elif following.to not in state:
                state[following.to] = 1
                stack.append((following.to, iter(lattice.arcs.get(following.to, ()))))
    return finished[::-1]


def _rest(lattice: Lattice, order: list[int], scales: Scales) -> dict[int, float]:
    """The lowest cost from each node to the end of the lattice; inf where there is no way."""
    rest: dict[int, float] = {}
    for node in reversed(order):
        final = lattice.finals.get(node)
        best = scales.acoustic * final[0] + scales.lm * final[1] if final is not None else inf
        for arc in lattice.arcs.get(node, ()):
            best = min(best, scales.cost(arc) + rest[arc.to])
        rest[node] = best
    return rest


def _search(
    lattice: Lattice, start: int, n: int, scales: Scales, rest: dict[int, float], place: dict[int, int]
) -> Iterator[WordSequence]:
    """Yield the word sequences in the order of their costs; of equal costs the one queued first comes first."""
    ticket = count()
    queue: list[tuple[float, int, tuple[str, ...], Subset | Reached]] = []

    def put(words: tuple[str, ...], subset: Subset) -> None:
        estimate = min(reached[0] + rest[node] for node, reached in subset.items())
        if estimate < inf:
            heapq.heappush(queue, (estimate, next(ticket), words, subset))

    put((), {start: (0.0, 0.0, 0.0)})
    sequences = 0
    while queue and sequences < n:
        cost, _, words, reached = heapq.heappop(queue)
        if isinstance(reached, tuple):  # a complete sequence
            sequences += 1
            yield WordSequence(words, cost, reached[1], reached[2])
            continue
        closed = _closed(lattice, reached, scales, rest, place)
        ends = [_ended(closed[node], lattice.finals[node], scales) for node in closed if node in lattice.finals]
        if ends:
            best = min(ends)
            heapq.heappush(queue, (best[0], next(ticket), words, best))
        following: dict[str, Subset] = {}
        for node, (cost_here, acoustic, lm) in closed.items():
            for arc in lattice.arcs.get(node, ()):
                if arc.word and rest[arc.to] < inf:
                    total = cost_here + scales.cost(arc)
                    subset = following.setdefault(arc.word, {})
                    if arc.to not in subset or total < subset[arc.to][0]:
                        subset[arc.to] = (total, acoustic + arc.acoustic, lm + arc.lm)
        for word, subset in following.items():
            put((*words, word), subset)


def _closed(lattice: Lattice, subset: Subset, scales: Scales, rest: dict[int, float], place: dict[int, int]) -> Subset:
    """The subset with the nodes that epsilon arcs lead to, each with its lowest cost; in topological order."""
    closed = dict(subset)
    waiting = [(place[node], node) for node in subset]
    heapq.heapify(waiting)
    while waiting:
        _, node = heapq.heappop(waiting)
        cost, acoustic, lm = closed[node]
        for arc in lattice.arcs.get(node, ()):
            if arc.word or rest[arc.to] == inf:
                continue
            total = cost + scales.cost(arc)
            known = closed.get(arc.to)
            if known is None:
                heapq.heappush(waiting, (place[arc.to], arc.to))
            if known is None or total < known[0]:
                closed[arc.to] = (total, acoustic + arc.acoustic, lm + arc.lm)
    return closed


def _ended(reached: Reached, final: tuple[float, float], scales: Scales) -> Reached:
    cost = reached[0] + scales.acoustic * final[0] + scales.lm * final[1]
    return cost, reached[1] + final[0], reached[2] + final[1]
