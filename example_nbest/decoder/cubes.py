"""Beam search that scores only what is likely to survive: cube pruning (Chiang 2007; Huang & Chiang 2007).

The nodes of a stack that cover the same words up to the same last one, best first, and the translations of a span they
can go on with, best first, are the two sides of a rectangle of candidates. Each stack takes candidates from the corners
of its rectangles inwards, `pops` of them, the highest estimate first. The estimate has ln p by n-grams in full. A
syntactic model, which costs a thousand times as much, is asked about a candidate only when it is taken, and until then
is supposed to give its new words what the n-gram model does. With pops and stacks without bound this is the search of
beam.py.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from decoder.beam import Arc, Decoder, Key, Node, Option
from decoder.language_model import State
from decoder.syntactic import Syntactic

Future = Callable[[int], float]  # estimated score of what a coverage leaves


class Rectangle(NamedTuple):
    """Nodes (best first) times options (best first), which all cover the same words afterwards."""

    nodes: Sequence[Node]
    options: Sequence[Option]
    covered: int
    distance: int


class Candidate(NamedTuple):
    """Row i and column j of a rectangle, ordered by estimate, then by age."""

    minus_estimate: float
    age: int
    rectangle: Rectangle
    i: int
    j: int
    language_model: float
    after: State


@dataclass(frozen=True)
class CubeDecoder(Decoder):
    """A decoder that scores `pops` hypotheses a stack, by a syntactic language model too where there is one.

    Its weight is `weights.syntactic`. Of recombined hypotheses the best passes its syntactic state on.
    """

    pops: int = 300
    syntax: Syntactic | None = None

    @property
    def context_weight(self) -> float:
        """What ln p of n-grams counts where scores are estimated: for the syntactic model as well."""
        return self.weights.language_model + (self.weights.syntactic or 0.0)

    def search(self, source: list[str]) -> Node:
        """The node of all complete translations; its arcs lead back through the lattice to a node without arcs."""
        options = self.options(source)
        future = self._futures(options, len(source))
        waiting: list[list[Candidate]] = [[] for _ in range(len(source) + 1)]
        start = self.syntax.start if self.syntax else None
        nodes = [Node((0, self.model.START, 0, ()), 0.0, 0.0, syntax=start)]
        age = count()
        for covered in range(len(source)):
            if covered:
                nodes = self._take(waiting[covered], future, age)
            groups: dict[tuple[int, int], list[Node]] = defaultdict(list)
            for node in nodes:
                groups[node.key[0], node.key[2]].append(node)
            for (coverage, last), members in groups.items():
                for start, end in self._reachable(coverage, last, len(source)):
                    if (start, end) in options:
                        after = coverage | (1 << end) - (1 << start)
                        rectangle = Rectangle(members, options[start, end], after, abs(start - last))
                        self._offer(waiting[after.bit_count()], rectangle, 0, 0, future, age)
        goal = Node(((1 << len(source)) - 1, (), len(source), ()), -math.inf, 0.0)
        for node in self._take(waiting[-1], future, age):
            ln_p, _ = self.model.extend(node.key[1], ("</s>",))
            syntax = self.syntax.finish(node.syntax) if self.syntax else 0.0
            _recombine(goal, Arc(node, None, ln_p, 0, self._weighted(ln_p, syntax), syntax), None)
        return goal

    def _weighted(self, language_model: float, syntax: float) -> float:
        return self.weights.language_model * language_model + (self.weights.syntactic or 0.0) * syntax

    def _offer(
        self,
        heap: list[Candidate],
        rectangle: Rectangle,
        i: int,
        j: int,
        future: Future,
        age: count[int],
    ) -> None:
        """Estimate a candidate and let it wait."""
        node, option = rectangle.nodes[i], rectangle.options[j]
        ln_p, after = self.model.extend(node.key[1], option.target)
        gain = option.weighted + self.context_weight * ln_p - self.weights.distortion * rectangle.distance
        estimate = node.score + gain + future(rectangle.covered)
        heapq.heappush(heap, Candidate(-estimate, next(age), rectangle, i, j, ln_p, after))

    def _take(self, heap: list[Candidate], future: Future, age: count[int]) -> list[Node]:
        """The best nodes of a stack, best first: the most promising candidates scored and recombined."""
        stack: dict[Key, Node] = {}
        for _ in range(self.pops):
            if not heap:
                break
            _, _, rectangle, i, j, ln_p, after = heapq.heappop(heap)
            self._add(stack, rectangle, rectangle.nodes[i], rectangle.options[j], ln_p, after, future)
            if j + 1 < len(rectangle.options):
                self._offer(heap, rectangle, i, j + 1, future, age)
            if j == 0 and i + 1 < len(rectangle.nodes):  # so every candidate is offered once
                self._offer(heap, rectangle, i + 1, 0, future, age)
        return sorted(stack.values(), key=lambda node: -node.score - node.future)[: self.stack_size]

    def _add(
        self, stack: dict[Key, Node], rectangle: Rectangle, node: Node, option: Option, ln_p: float, after: State,
        future: Future,
    ) -> None:  # fmt: skip
        syntax, beam, store = self.syntax.extend(node.syntax, option.target) if self.syntax else (0.0, None, ())
        step = option.weighted + self._weighted(ln_p, syntax) - self.weights.distortion * rectangle.distance
        key = (rectangle.covered, after, option.end, store)
        if key not in stack:
            stack[key] = Node(key, -math.inf, future(rectangle.covered))
        _recombine(stack[key], Arc(node, option, ln_p, rectangle.distance, step, syntax), beam)


def _recombine(node: Node, arc: Arc, beam: object) -> None:
    node.arcs.append(arc)
    score = arc.origin.score + arc.score
    if score > node.score:
        node.score, node.syntax = score, beam
