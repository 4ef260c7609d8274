"""The best derivation of a beam, back to the first word: its stores word by word, and its tree.

A step of a derivation (stepping.py) is a reduction by a rule and the reading of a word. Read again from the first word
on, the steps build the tree: an incomplete constituent is a tree with a place for what it awaits. The best derivation
is that whose unary chains are summed over; each chain is then the likeliest between its ends. A sentence of which no
derivation is complete gives its parts, below one phrase (`FRAGMENT`), with what they still await left out.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rerank_plugins.interfaces import ScoredTree
from rerank_plugins.models.hhmm.counting import WITHIN
from rerank_plugins.models.hhmm.model import HhmmModel
from rerank_plugins.models.hhmm.store import Beam
from rerank_plugins.models.hhmm.transitions import EMPTY
from rerank_plugins.models.pcfg.grammar import ROOT, Grammar
from rerank_plugins.trees.binarisation import remove_ancestors, remove_intermediate
from rerank_plugins.trees.constituency import Tree
from rerank_plugins.trees.unaries import JOINED, split_unaries

FRAGMENT = "FRAG"


class Step(NamedTuple):
    """A reduction by a `rule` of the grammar (-1 before the first word), its kind, the word's `tag`, and the kind of
    expansion that it was read after.
    """

    rule: int
    reduction: int
    tag: int
    expansion: int
    position: int


def steps(model: HhmmModel, beam: Beam, row: int = 0) -> list[Step]:
    """How the best derivation of a store came about, from the first word, or the last that began anew, on."""
    found = []
    now: Beam | None = beam
    while now is not None and len(now):
        before, rule, reduction, tag, expansion = now.back[row].tolist()
        rule = int(model.tables.numbers[rule]) if rule >= 0 else rule
        found.append(Step(rule, reduction, tag, expansion, now.length - 1))
        if before == EMPTY:
            break
        now, row = now.before, before
    return found[::-1]


@dataclass
class _Node:
    """A symbol over its parts while the tree is built; a preterminal has its word."""

    symbol: int
    parts: list[_Node] = field(default_factory=list)
    word: str = ""


class _Element(NamedTuple):
    """An incomplete constituent: its top node, the node whose last part is missing, and the symbol of that part."""

    active: _Node
    waiting: _Node
    awaited: int


@dataclass
class Replay:
    """Steps of a derivation read from the first word on, with the symbols of a grammar."""

    grammar: Grammar
    elements: list[_Element] = field(default_factory=list)
    done: _Node | None = None
    within: bool = True

    def __post_init__(self) -> None:
        self._chains = UnaryChains(self.grammar)

    def take(self, step: Step, word: str) -> None:
        """Reduce, and read a word."""
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
        """Let the last word fill what is awaited, if it was read there."""
        if self.done is not None and not self.within:
            self.done, self.within = self._fill(self.done), True

    def _fill(self, node: _Node) -> _Node:
        """The active node of the last element, its missing part now there."""
        active, waiting, awaited = self.elements.pop()
        waiting.parts.append(self._over(awaited, node))
        return active

    def _over(self, place: int, node: _Node) -> _Node:
        """The node below the unary chain that leads to it from its place."""
        for symbol in reversed(self._chains.best(place, node.symbol)):
            node = _Node(symbol, [node])
        return node

    def trees(self, *, complete: bool) -> list[Tree]:
        """One tree below ROOT if all is `complete`, else the parts from left to right."""
        if self.done is None:
            return []
        if complete:
            return [self._named(self._over(ROOT, self.done))]
        return [self._named(node) for node in (*(element.active for element in self.elements), self.done)]

    def _named(self, top: _Node) -> Tree:
        """The treebank's tree: base labels, intermediate nodes and marks of ancestors gone."""
        built: dict[int, Tree] = {}
        order, todo = [], [top]
        while todo:
            node = todo.pop()
            order.append(node)
            todo.extend(node.parts)
        for node in reversed(order):
            label = self.grammar.bases[self.grammar.base[node.symbol]]
            built[id(node)] = Tree(label, tuple(built[id(part)] for part in node.parts) or (node.word,))
        found = built[id(top)]
        if self.grammar.settings.get("unaries") == JOINED:
            found = split_unaries(found)
        return remove_ancestors(remove_intermediate(found))


class UnaryChains:
    """The likeliest chain of unary rules between two symbols of a grammar, found when it is asked for."""

    def __init__(self, grammar: Grammar) -> None:
        self._children: dict[int, list[tuple[int, float]]] = {}
        for (parent, child), logp in zip(grammar.unary.tolist(), grammar.unary_logp.tolist(), strict=True):
            self._children.setdefault(parent, []).append((child, -logp))
        self._found: dict[tuple[int, int], tuple[int, ...]] = {}

    def best(self, top: int, bottom: int) -> tuple[int, ...]:
        """The symbols above `bottom`, from `top` down; none where the two are the same (Dijkstra)."""
        if (top, bottom) not in self._found:
            queue: list[tuple[float, int, tuple[int, ...]]] = [(0.0, top, ())]
            seen: set[int] = set()
            while queue:
                cost, symbol, above = heapq.heappop(queue)
                if symbol == bottom:
                    self._found[top, bottom] = above
                    break
                if symbol not in seen:
                    seen.add(symbol)
                    for child, more in self._children.get(symbol, ()):
                        heapq.heappush(queue, (cost + more, child, (*above, symbol)))
        return self._found[top, bottom]


class BestTree(NamedTuple):
    """The best tree of a sentence, and whether it is one derivation from ROOT to the last word."""

    scored: ScoredTree
    complete: bool


def best_tree(model: HhmmModel, sentence: Sequence[str]) -> BestTree | None:
    """The tree of the best derivation, and ln p of that derivation and the words; None for no words.

    `model` keeps derivations. Where words were lost or nothing is complete, the tree is parts below `FRAGMENT`, and the
    probability is that of the words.
    """
    if not sentence:
        return None
    ends: list[Beam] = []  # of each stretch of words between losses
    beam, total = model.start(), 0.0
    for word in sentence:
        ln_p, after = model.advance(beam, word)
        total += ln_p
        if after.unparsed > beam.unparsed and beam.length:
            ends.append(beam)
        beam = after
    ends.append(beam)
    total += model.finish(beam)
    replay = Replay(model.grammar)
    parts: list[Tree] = []
    complete, row = completion(model, beam)
    for end in ends:
        whole = end is beam and complete is not None
        replay.elements, replay.done = [], None
        taken = steps(model, end, row if whole else 0) if len(end) else []
        first = taken[0].position if taken else end.length
        parts += [unread(word) for word in sentence[_covered(parts) : first]]
        for step in taken:
            replay.take(step, sentence[step.position])
        replay.close()
        parts += replay.trees(complete=whole)
        parts += [unread(word) for word in sentence[_covered(parts) : end.length]]
    if len(parts) == 1 and complete is not None:
        return BestTree(ScoredTree(parts[0], complete), True)
    bodies = [child for part in parts for child in (part.subtrees if part.label == "ROOT" else (part,))]
    return BestTree(ScoredTree(Tree("ROOT", (Tree(FRAGMENT, tuple(bodies)),)), total), False)


def completion(model: HhmmModel, beam: Beam) -> tuple[float | None, int]:
    """Ln p of the best complete derivation and the words since the last one that was lost, and its row; None: none."""
    if not len(beam):
        return None, 0
    nodes, done = beam.stores[:, -1], beam.stores[:, 0] < 0
    worth = np.where(done, beam.likely * model.tables.ending[nodes], 0.0)
    row = int(worth.argmax())
    return (math.log(worth[row]) + beam.scale, row) if worth[row] > 0 else (None, 0)


def unread(word: str) -> Tree:
    """The tree of a word that no store could read."""
    return Tree("X", (word,))


def _covered(parts: Sequence[Tree]) -> int:
    return sum(len(part.words()) for part in parts)
