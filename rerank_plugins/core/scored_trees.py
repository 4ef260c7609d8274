"""Trees with their probabilities, as parsers yield them: the k best are arrays of their distinct subtrees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, overload

import numpy as np

from rerank_plugins.core.arrays import IntArray
from rerank_plugins.core.constituency_tree import Tree


@dataclass(frozen=True, eq=False)
class SharedTrees(Sequence[Tree]):
    """Trees over the same words; a tree object is built when it is indexed.

    `labels`    the labels by number, and `words` the words
    `label`     (N) the label of each distinct subtree
    `bounds`    (N, 2) the children of subtree n are children[bounds[n, 0] : bounds[n, 1]]: numbers below n, or for the
                tag of word w the number -1 - w alone
    `roots`     (k) the subtrees that are the trees
    """

    labels: tuple[str, ...]
    words: tuple[str, ...]
    label: IntArray
    bounds: IntArray
    children: IntArray
    roots: IntArray

    @classmethod
    def of(cls, trees: Iterable[Tree]) -> SharedTrees:
        """The arrays of trees, which may have different words; each distinct word then stands in `words` once."""
        labels: dict[str, int] = {}
        words: dict[str, int] = {}
        nodes: dict[tuple[int, ...], int] = {}

        def number(label: str, children: Sequence[int]) -> int:
            return nodes.setdefault((labels.setdefault(label, len(labels)), *children), len(nodes))

        trees, known = list(trees), dict[int, int]()
        roots = [
            tree.fold(
                lambda tag: number(tag.label, [-1 - words.setdefault(tag.word, len(words))]),
                lambda node, below: number(node.label, below),
                known,
            )
            for tree in trees
        ]
        return cls.of_nodes(list(labels), list(words), list(nodes), roots)

    @classmethod
    def of_nodes(
        cls, labels: Sequence[str], words: Sequence[str], nodes: Sequence[Sequence[int]], roots: Sequence[int]
    ) -> SharedTrees:
        """The arrays of trees whose distinct subtrees are `nodes`: the number of the label, those of the children."""
        ends = np.cumsum([0, *(len(node) - 1 for node in nodes)])
        return cls(
            tuple(labels),
            tuple(words),
            np.array([node[0] for node in nodes], np.int32),
            np.stack([ends[:-1], ends[1:]], axis=1).astype(np.int32),
            np.array([child for node in nodes for child in node[1:]], np.int32),
            np.array(roots, np.int32),
        )

    def nodes(self) -> list[list[int]]:
        """The distinct subtrees, as `of_nodes` takes them."""
        label, children = self.label.tolist(), self.children.tolist()
        bounds = zip(label, self.bounds.tolist(), strict=True)
        return [[number, *children[start:end]] for number, (start, end) in bounds]

    @cached_property
    def _subtrees(self) -> list[Tree]:
        subtrees: list[Tree] = []
        children = self.children.tolist()
        for label, (start, end) in zip(self.label.tolist(), self.bounds.tolist(), strict=True):
            below = children[start:end]
            parts = (self.words[-1 - below[0]],) if below[0] < 0 else tuple(subtrees[child] for child in below)
            subtrees.append(Tree(self.labels[label], parts))
        return subtrees

    @cached_property
    def _first(self) -> Tree:
        """The first tree alone, for those who want no others: it has a small part of the subtrees."""
        wanted, below = [int(self.roots[0])], dict[int, list[int]]()
        for number in wanted:  # which grows as it is read; the arrays may have many more subtrees
            start, end = self.bounds[number].tolist()
            below[number] = self.children[start:end].tolist()
            if below[number][0] >= 0:
                wanted += below[number]
        built: dict[int, Tree] = {}
        for number in sorted(below):  # children have lower numbers than their parents
            children = below[number]
            parts = (self.words[-1 - children[0]],) if children[0] < 0 else tuple(built[child] for child in children)
            built[number] = Tree(self.labels[self.label[number]], parts)
        return built[wanted[0]]

    def __len__(self) -> int:
        return len(self.roots)

    @overload
    def __getitem__(self, place: int) -> Tree: ...
    @overload
    def __getitem__(self, place: slice) -> SharedTrees: ...
    def __getitem__(self, place: int | slice) -> Tree | SharedTrees:
        """The tree of this index, or the trees of a slice."""
        if isinstance(place, slice):
            return replace(self, roots=self.roots[place])
        if place == 0 and len(self.roots) and "_subtrees" not in self.__dict__:
            return self._first
        return self._subtrees[int(self.roots[place])]


class ScoredTree(NamedTuple):
    """A constituency tree and ln p(tree, words), or ln p(tree | words) if the parser does not model the words."""

    tree: Tree
    log_probability: float


@dataclass(frozen=True, eq=False)
class KBestTrees(Sequence[ScoredTree]):
    """The k best trees of a sentence as arrays of their distinct subtrees; equal to a sequence of the same trees."""

    trees: SharedTrees
    log_probabilities: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.log_probabilities)

    @overload
    def __getitem__(self, place: int) -> ScoredTree: ...
    @overload
    def __getitem__(self, place: slice) -> KBestTrees: ...
    def __getitem__(self, place: int | slice) -> ScoredTree | KBestTrees:
        """The scored tree of this index, or of a slice."""
        if isinstance(place, slice):
            return KBestTrees(self.trees[place], self.log_probabilities[place])
        return ScoredTree(self.trees[place], self.log_probabilities[place])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]
