"""Beam search over phrases: one stack per number of covered words (Koehn, Och & Marcu 2003; Koehn 2004, Pharaoh).

Hypotheses that agree in coverage, language-model state and end position are recombined: the future cannot tell them
apart. The loser's last step stays as an arc, so that the stacks are a lattice of all that was not pruned. A stack keeps
the `stack_size` best by score plus estimated future score. With n source words, O(n * stack_size * options) steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from decoder.language_model import LanguageModel, State
from decoder.phrase_table import Phrase, PhraseTable
from decoder.weights import Weights

Store = tuple[int, ...]  # of a syntactic language model; empty without one
Key = tuple[int, State, int, Store]  # coverage as bits, language-model state, end of the last source phrase, store


@dataclass(frozen=True, slots=True)
class Option:
    """A translation of the source words start … end - 1, with ln of its four scores and their weighted sum."""

    start: int
    end: int
    target: Phrase
    scores: tuple[float, ...]
    weighted: float


@dataclass(slots=True)
class Node:
    """A recombined partial translation: the best score of any path to it, and the last step of every path.

    `syntax` is the state of a syntactic language model after the best path (cubes.py).
    """

    key: Key
    score: float
    future: float
    arcs: list[Arc] = field(default_factory=list)
    syntax: Any = None


@dataclass(slots=True, eq=False)  # not frozen: an arc is made for each step, in half the time
class Arc:
    """A step from a node by an option (None: the end of the sentence)."""

    origin: Node
    option: Option | None
    language_model: float
    distance: int
    score: float
    syntax: float = 0.0


@dataclass(frozen=True)
class Decoder:
    """Translates with a phrase table, a language model and weights.

    `distortion_limit` is the farthest jump in source words (0: monotone); `table_limit` the number of translations
    that are tried per source phrase.
    """

    table: PhraseTable
    model: LanguageModel
    weights: Weights
    stack_size: int = 60
    table_limit: int = 20
    distortion_limit: int = 6

    def search(self, source: list[str]) -> Node:
        """The node of all complete translations; its arcs lead back through the lattice to a node without arcs."""
        options = self.options(source)
        future = self._futures(options, len(source))
        stacks: list[dict[Key, Node]] = [{} for _ in range(len(source) + 1)]
        root = Node((0, self.model.START, 0, ()), 0.0, 0.0)
        stacks[0][root.key] = root
        for stack in stacks[:-1]:
            for node in sorted(stack.values(), key=lambda node: -node.score - node.future)[: self.stack_size]:
                for start, end in self._reachable(node.key[0], node.key[2], len(source)):
                    for option in options.get((start, end), ()):
                        self._extend(node, option, stacks, future)
        goal = Node(((1 << len(source)) - 1, (), len(source), ()), -math.inf, 0.0)
        for node in stacks[-1].values():
            ln_p, _ = self.model.extend(node.key[1], ("</s>",))
            _recombine(goal, Arc(node, None, ln_p, 0, self.weights.language_model * ln_p))
        return goal

    def options(self, source: list[str]) -> dict[tuple[int, int], list[Option]]:
        """The best translations of each span by span; a word that no phrase covers alone is passed through."""
        result: dict[tuple[int, int], list[Option]] = {}
        for start in range(len(source)):
            for end in range(start + 1, len(source) + 1):
                targets = self.table.get(tuple(source[start:end]), [])
                logs = [(target, tuple(round(math.log(p), 4) for p in scores)) for target, scores in targets]
                if end == start + 1 and not targets:
                    logs = [((source[start],), (0.0, 0.0, 0.0, 0.0))]
                made = [Option(start, end, target, ln, self.weights.phrase(target, ln)) for target, ln in logs]
                made.sort(key=lambda option: (-self._estimate(option), option.target))
                if made:
                    result[start, end] = made[: self.table_limit]
        return result

    def _estimate(self, option: Option) -> float:
        """Score of an option without its left context."""
        return option.weighted + self.context_weight * self.model.extend((), option.target)[0]

    @property
    def context_weight(self) -> float:
        """What ln p of n-grams counts where scores are estimated."""
        return self.weights.language_model

    def _futures(self, options: dict[tuple[int, int], list[Option]], length: int) -> Callable[[int], float]:
        """Estimated score of translating what a coverage leaves: the best of every gap."""
        futures = self._span_futures(options, length)

        @cache
        def future(coverage: int) -> float:
            total, start = 0.0, 0
            for end in range(length + 1):
                if end == length or coverage >> end & 1:
                    total += futures[start, end] if end > start else 0.0
                    start = end + 1
            return total

        return future

    def _span_futures(self, options: dict[tuple[int, int], list[Option]], length: int) -> dict[tuple[int, int], float]:
        """The best estimate of each span, by options and pairs of smaller spans."""
        best = {span: max(self._estimate(option) for option in found) for span, found in options.items()}
        for size in range(2, length + 1):
            for start in range(length - size + 1):
                span = (start, start + size)
                splits = [best[start, middle] + best[middle, start + size] for middle in range(start + 1, start + size)]
                best[span] = max(best.get(span, -math.inf), *splits)
        return best

    def _reachable(self, coverage: int, last: int, length: int) -> list[tuple[int, int]]:
        """Uncovered spans within the distortion limit from which the first gap can still be reached."""
        gap = (~coverage & coverage + 1).bit_length() - 1  # the first uncovered word
        spans = []
        for start in range(gap, min(length, last + self.distortion_limit + 1)):
            if last - start > self.distortion_limit:
                continue
            for end in range(start + 1, length + 1):
                if coverage >> end - 1 & 1:
                    break
                if start == gap or end - gap <= self.distortion_limit:
                    spans.append((start, end))
        return spans

    def _extend(
        self, node: Node, option: Option, stacks: list[dict[Key, Node]], future: Callable[[int], float]
    ) -> None:
        coverage, state, last, _ = node.key
        covered = coverage | (1 << option.end) - (1 << option.start)
        language_model, after = self.model.extend(state, option.target)
        distance = abs(option.start - last)
        step = option.weighted + self.weights.language_model * language_model - self.weights.distortion * distance
        key = (covered, after, option.end, ())
        stack = stacks[covered.bit_count()]
        if key not in stack:
            stack[key] = Node(key, -math.inf, future(covered))
        _recombine(stack[key], Arc(node, option, language_model, distance, step))


def _recombine(node: Node, arc: Arc) -> None:
    node.arcs.append(arc)
    score = arc.origin.score + arc.score
    if score > node.score:
        node.score = score
