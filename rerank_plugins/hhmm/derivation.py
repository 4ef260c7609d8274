"""Builds the tree of a beam's best derivation, by back-pointers from the last word to the first.

A step of a derivation (transitions.py) is a reduction by a rule and the reading of a word. Replayed from the first word
on, the steps build the tree: an incomplete constituent is a tree with a place for the constituent that it awaits. The
best derivation is the one whose probability, with unary chains summed over, is highest; each chain is then replaced by
the most probable one between its ends. If no derivation of a sentence is complete, the result is the sequence of its
parts below one phrase (`FRAGMENT`), without the constituents that they still await.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rerank_plugins import ScoredTree, Tree
from rerank_plugins.constituency.annotation import plain
from rerank_plugins.constituency.grammar import ROOT, Grammar
from rerank_plugins.hhmm.event_counts import WITHIN
from rerank_plugins.hhmm.model import Beam, HhmmModel
from rerank_plugins.hhmm.search_tables import EMPTY
from rerank_plugins.kit.trees.binarisation import JOINED, split_unaries

FRAGMENT = "FRAG"


class Step(NamedTuple):
    """One word of a derivation: a reduction, and the reading of the word at `position`.

    `rule` is the number of the grammar's rule (-1 before the first word) and `reduction` its kind; `tag` is the word's
    preterminal and `expansion` the kind of expansion before it.
    """

    rule: int
    reduction: int
    tag: int
    expansion: int
    position: int


def steps(model: HhmmModel, beam: Beam, row: int = 0) -> list[Step]:
    """Return the steps of the best derivation of a store, from the first word on, or from the last restart."""
    backwards = []
    now: Beam | None = beam
    while now is not None and len(now):
        before, rule, reduction, tag, expansion = now.back[row].tolist()
        rule = int(model.tables.numbers[rule]) if rule >= 0 else rule
        backwards.append(Step(rule, reduction, tag, expansion, now.length - 1))
        if before == EMPTY:
            break
        now, row = now.before, before
    return backwards[::-1]


@dataclass
class _Node:
    """A symbol and its parts in a tree under construction; a preterminal has its word."""

    symbol: int
    parts: list[_Node] = field(default_factory=list)
    word: str = ""


class _Element(NamedTuple):
    """An incomplete constituent: its top node, the node whose last part is missing, and that part's symbol."""

    active: _Node
    waiting: _Node
    awaited: int


@dataclass
class Replay:
    """Builds the tree of a derivation from its steps.

    `elements` and `done` are the store after the steps so far: incomplete constituents, and the node that has just been
    completed. `within` is false while that node is a word that the awaited symbol of the last element has read.
    """

    grammar: Grammar
    elements: list[_Element] = field(default_factory=list)
    done: _Node | None = None
    within: bool = True

    def __post_init__(self) -> None:
        self._chains = UnaryChains(self.grammar)

    def take(self, step: Step, word: str) -> None:
        """Replay one step: reduce, then read the word."""
        self.close()
        if self.done is not None:
            parent, place, awaited = self.grammar.binary[step.rule].tolist()
            node = _Node(parent, [self._over(place, self.done)])
            if step.reduction == WITHIN:
                self.elements.append(_Element(node, node, awaited))
            else:
                active = self._fill(node)
                self.elements.append(_Element(active, node, awaited))
        self.done = _Node(step.tag, word=word)
        self.within = step.expansion == WITHIN

    def close(self) -> None:
        """Fill the awaited place of the last element with the last word, if the awaited symbol read it."""
        if self.done is not None and not self.within:
            self.done, self.within = self._fill(self.done), True

    def _fill(self, node: _Node) -> _Node:
        """Remove the last element and return its active node, completed by `node`."""
        active, waiting, awaited = self.elements.pop()
        waiting.parts.append(self._over(awaited, node))
        return active

    def _over(self, place: int, node: _Node) -> _Node:
        """Put the most probable unary chain from `place` down to the node on top of the node."""
        for symbol in reversed(self._chains.best(place, node.symbol)):
            node = _Node(symbol, [node])
        return node

    def trees(self, *, complete: bool) -> list[Tree]:
        """Return one tree with root ROOT if the derivation is `complete`, else its parts from left to right."""
        if self.done is None:
            return []
        if complete:
            return [self._named(self._over(ROOT, self.done))]
        return [self._named(node) for node in (*(element.active for element in self.elements), self.done)]

    def _named(self, top: _Node) -> Tree:
        """Return the tree in the treebank's form: base labels, without intermediate nodes and marks."""
        built: dict[int, Tree] = {}
        order, todo = [], [top]
        while todo:
            node = todo.pop()
            order.append(node)
            todo.extend(node.parts)
        for node in reversed(order):
            label = self.grammar.bases[self.grammar.base[node.symbol]]
            built[id(node)] = Tree(label, tuple(built[id(part)] for part in node.parts) or (node.word,))
        tree = built[id(top)]
        if self.grammar.settings.get("unaries") == JOINED:
            tree = split_unaries(tree)
        return plain(tree)


class UnaryChains:
    """The most probable chain of unary rules between two symbols of a grammar, computed on demand and cached."""

    def __init__(self, grammar: Grammar) -> None:
        self._children: dict[int, list[tuple[int, float]]] = {}
        for (parent, child), logp in zip(grammar.unary.tolist(), grammar.unary_logp.tolist(), strict=True):
            self._children.setdefault(parent, []).append((child, -logp))
        self._chains: dict[tuple[int, int], tuple[int, ...]] = {}

    def best(self, top: int, bottom: int) -> tuple[int, ...]:
        """Return the symbols above `bottom`, from `top` down; none if the two are the same (Dijkstra's algorithm)."""
        if (top, bottom) not in self._chains:
            queue: list[tuple[float, int, tuple[int, ...]]] = [(0.0, top, ())]
            seen: set[int] = set()
            while queue:
                cost, symbol, above = heapq.heappop(queue)
                if symbol == bottom:
                    self._chains[top, bottom] = above
                    break
                if symbol not in seen:
                    seen.add(symbol)
                    for child, more in self._children.get(symbol, ()):
                        heapq.heappush(queue, (cost + more, child, (*above, symbol)))
        return self._chains[top, bottom]


class BestTree(NamedTuple):
    """The best tree of a sentence, and whether one derivation spans all its words."""

    scored: ScoredTree
    complete: bool


def best_tree(model: HhmmModel, sentence: Sequence[str]) -> BestTree | None:
    """Return the tree of the best derivation with ln p(derivation, words); None for an empty sentence.

    The model must keep derivations. If some word could not be parsed, or no derivation is complete, the tree consists
    of parts below `FRAGMENT`, and ln p is that of the words.
    """
    if not sentence:
        return None
    # Read the words; the model restarts after each unparsed word, so the derivation is a sequence of stretches.
    stretches: list[Beam] = []  # the last beam of each stretch
    beam, total = model.start(), 0.0
    for word in sentence:
        ln_p, after = model.advance(beam, word)
        total += ln_p
        if after.unparsed > beam.unparsed and beam.length:
            stretches.append(beam)
        beam = after
    stretches.append(beam)
    total += model.finish(beam)
    # Replay the best derivation of each stretch; words before its first step stand alone.
    replay = Replay(model.grammar)
    parts: list[Tree] = []
    complete, row = completion(model, beam)
    for stretch in stretches:
        whole = stretch is beam and complete is not None
        replay.elements, replay.done = [], None
        taken = steps(model, stretch, row if whole else 0) if len(stretch) else []
        first = taken[0].position if taken else stretch.length
        parts += [unread(word) for word in sentence[_covered(parts) : first]]
        for step in taken:
            replay.take(step, sentence[step.position])
        replay.close()
        parts += replay.trees(complete=whole)
        parts += [unread(word) for word in sentence[_covered(parts) : stretch.length]]
    if len(parts) == 1 and complete is not None:
        return BestTree(ScoredTree(parts[0], complete), True)
    bodies = [child for part in parts for child in (part.subtrees if part.label == "ROOT" else (part,))]
    return BestTree(ScoredTree(Tree("ROOT", (Tree(FRAGMENT, tuple(bodies)),)), total), False)


def completion(model: HhmmModel, beam: Beam) -> tuple[float | None, int]:
    """Return ln p of the best complete derivation since the last restart, and its row; None if none is complete."""
    if not len(beam):
        return None, 0
    nodes, finished = beam.stores[:, -1], beam.stores[:, 0] < 0
    viterbi = np.where(finished, beam.viterbi * model.tables.ending[nodes], 0.0)
    row = int(viterbi.argmax())
    return (math.log(viterbi[row]) + beam.scale, row) if viterbi[row] > 0 else (None, 0)


def unread(word: str) -> Tree:
    """Return the tree of an unparsed word, which no store could read."""
    return Tree("X", (word,))


def _covered(parts: Sequence[Tree]) -> int:
    """Return the number of words of all parts."""
    return sum(len(part.words()) for part in parts)
