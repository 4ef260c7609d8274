"""Parsed sentences in which every constituent has a vector, in two forms: views of a filled chart, and trees.

A `ChartNode` is a view of a constituent of the best tree in a chart. It computes only what is read of it, and is valid
until the chart is filled again. A `VectorTree` has its own copy of everything, so it can be kept; its vectors are
scaled to sum to one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rerank_plugins import FloatArray, IntArray, Tree
from rerank_plugins.svs.vector_cells import Heap
from rerank_plugins.svs.vector_rules import VectorRules
from rerank_plugins.svs.vector_semirings import EMISSION


@dataclass(frozen=True)
class Tables:
    """What constituents are read from: the rules, the phrases of each symbol and those that unary rules pass over."""

    rules: VectorRules
    phrases: Sequence[tuple[str, ...]]
    between: Sequence[tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class ChartNode:
    """A constituent of the best tree in a chart, valid only until the chart is filled again.

    `item` is its item in `heap`, and `begin` its first word.
    """

    tables: Tables
    heap: Heap
    item: int
    begin: int

    @property
    def symbol(self) -> int:
        """The number of its symbol lc."""
        return int(self.heap.symbol[self.item])

    @property
    def span(self) -> tuple[int, int]:
        """The first word, and the word after the last."""
        return self.begin, self.begin + int(self.heap.width[self.heap.cell[self.item]])

    @property
    def phrases(self) -> tuple[str, ...]:
        """Its labels in the treebank's form of the tree, topmost first: none if binarisation added it."""
        rule = int(self.heap.rule[self.item])
        below = self.tables.between[-2 - rule] if rule <= -2 else ()
        return (*self.tables.phrases[self.symbol], *below)

    @cached_property
    def children(self) -> tuple[ChartNode, ...]:
        """None (over a word), one or two."""
        left, right = int(self.heap.left[self.item]), int(self.heap.right[self.item])
        if left < 0:
            return ()
        one = ChartNode(self.tables, self.heap, left, self.begin)
        return (one,) if right < 0 else (one, ChartNode(self.tables, self.heap, right, one.span[1]))

    @property
    def vector(self) -> FloatArray:
        """(K) e_γ times a power of two, by eq. 4."""
        rules, heap, rule = self.tables.rules, self.heap, int(self.heap.rule[self.item])
        if rule == EMISSION:
            return np.asarray(rules.word_p[heap.right[self.item]], np.float64)
        if rule < 0:
            return np.asarray(rules.chain_p[-2 - rule] * heap.vector[heap.left[self.item]], np.float64)
        both = heap.vector[heap.left[self.item]] * heap.vector[heap.right[self.item]]
        return np.asarray(rules.p[rule] * both, np.float64)


def vectors_of(rules: VectorRules, heap: Heap, items: IntArray) -> tuple[FloatArray, IntArray]:
    """(n, K) e_γ of items in trees times powers of two, by eq. 4, and (n) these powers."""
    rule, x, y = heap.rule[items], heap.left[items], heap.right[items]
    two, one = rule >= 0, rule < EMISSION
    e = rules.word_p[np.where(rule == EMISSION, y, 0)]
    e[two] = rules.p[rule[two]] * heap.vector[x[two]] * heap.vector[y[two]]
    e[one] = rules.chain_p[-2 - rule[one]] * heap.vector[x[one]]
    below_left, below_right = (heap.power[heap.cell[each]] for each in (np.maximum(x, 0), np.where(two, y, 0)))
    return e, np.where(rule == EMISSION, 0, below_left) + np.where(two, below_right, 0)


@dataclass(frozen=True, slots=True, eq=False)
class VectorTree:
    """A constituent of a binarised tree: e_γ[i] = P(yield | lc, i) is exp(log_scale) · vector[i]."""

    label: str  # the symbol lc in the model: relation and annotated category
    # its labels in the treebank's form of the tree, topmost first: none if binarisation added it, several if it
    # stands for a chain of unary rules
    phrases: tuple[str, ...]
    span: tuple[int, int]  # first word, and the word after the last
    children: tuple[VectorTree, ...]  # none (over a word), one or two
    word: str  # of a preterminal, else ""
    vector: FloatArray  # (K) sums to one
    log_scale: float  # ln Σ e
    # ln aᵀe with the prior a of lc (-inf for a word whose tag has none of its concepts); at the root, ln p(tree,
    # words), summed over concepts
    log_probability: float

    def nodes(self) -> Iterator[VectorTree]:
        """This constituent and all below it, parents before children, from left to right."""
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(reversed(node.children))

    def tree(self) -> Tree:
        """The tree in the treebank's form, without relations, annotations and intermediate nodes.

        If nothing but intermediate nodes is at the top, their children are put under an X.
        """
        restored: list[tuple[Tree, ...]] = []
        for node in reversed(list(self.nodes())):  # children before parents, and from right to left
            below: tuple[Tree | str, ...] = (node.word,)
            if node.children:
                below = tuple(tree for _ in node.children for tree in restored.pop())
            for label in reversed(node.phrases):
                below = (Tree(label, below),)
            restored.append(below)  # type: ignore[arg-type]
        top = restored.pop()
        return top[0] if len(top) == 1 else Tree("X", top)
