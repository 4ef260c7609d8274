"""A taxonomy of concepts, entered by downward and left by upward transitions (the paper's §5.1, equation 25).

The nodes of the hierarchy are individuals of the world, and arcs with labels lead from each concept to its children, as
the names of files and folders do. A node may have several parents. The extension of a concept is the node itself and
all nodes below it, so that different concepts are different sets. The set of all individuals stands above all nodes.

From a referent e_S1, the relation `label` leads down to the child of that name: it departs from the smallest concept
that includes S1, and its destination is limited to S1. `UP-label` leads to the child of that name of a concept S0 above
S1, so that siblings, ancestors and siblings of ancestors are reached without naming the way back. If several ancestors
have such a child, the nearest is meant, as with nested scopes; a way that leads back to S1 itself is none.

Transitions are computed when they are needed, and kept by referent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from rerank_plugins import IntArray
from rerank_plugins.referential.relations import EMPTY, TOP, SetTable

UP = "UP-"
ABOVE_ALL = -1  # the parent of nodes without a parent
Arcs = Mapping[str, tuple[int, ...]]  # from a label to the children that have it


class Taxonomy:
    """Arcs between individuals by number: `children[parent][label]`, in the order of the file."""

    def __init__(self, sets: SetTable, children: Mapping[int, Arcs]) -> None:
        self.sets, self.children = sets, children
        self.parents: dict[int, list[int]] = {}
        for parent, arcs in children.items():
            for nodes in arcs.values():
                for node in nodes:
                    self.parents.setdefault(node, []).append(parent)
        self.labels = tuple(dict.fromkeys(label for arcs in children.values() for label in arcs))
        self._extensions: dict[int, int] = {ABOVE_ALL: TOP}
        self._smallest: dict[int, tuple[int, ...]] = {EMPTY: ()}
        self._down: dict[int, Arcs] = {}
        self._up: dict[int, Arcs] = {}

    def extension(self, concept: int) -> int:
        """The number of the set of a concept: the node and all nodes below it."""
        if concept not in self._extensions:
            below, agenda = {concept}, [concept]
            while agenda:
                for nodes in self.children.get(agenda.pop(), {}).values():
                    agenda += [node for node in nodes if node not in below]
                    below.update(nodes)
            number = self.sets.of(np.array(sorted(below), np.int32))
            self._extensions[concept] = number
            if number != EMPTY:
                self._smallest.setdefault(number, (concept,))
        return self._extensions[concept]

    def smallest(self, referent: int) -> tuple[int, ...]:
        """The concepts that include a referent while no concept below them does; several where branches are shared."""
        if referent == TOP and referent not in self._smallest:
            tops = (node for nodes in self.children.get(ABOVE_ALL, {}).values() for node in nodes)
            self._smallest[TOP] = next(((node,) for node in tops if self.extension(node) == TOP), (ABOVE_ALL,))
        if referent not in self._smallest:
            members = self.sets.members(referent).tolist()
            common = self._ancestors(members[0])
            for member in members[1:]:
                if len(common) == 1:  # only the set of all individuals includes them
                    break
                common &= self._ancestors(member)
            self._smallest[referent] = tuple(sorted(common - self._closure(self._above(common))))
        return self._smallest[referent]

    def is_concept(self, referent: int) -> bool:
        """Whether the referent is the extension of a concept."""
        return any(self.extension(concept) == referent for concept in self.smallest(referent))

    def down(self, referent: int) -> Arcs:
        """The labels of the downward transitions that depart from a referent, with the children they lead to."""
        if referent not in self._down:
            arcs: dict[str, tuple[int, ...]] = {}
            for concept in self.smallest(referent):
                for label, nodes in self.children.get(concept, {}).items():
                    arcs[label] = (*arcs.get(label, ()), *nodes)
            if not self.is_concept(referent):
                arcs = {label: nodes for label, nodes in arcs.items() if self.descend(referent, nodes) != EMPTY}
            self._down[referent] = arcs
        return self._down[referent]

    def up(self, referent: int) -> Arcs:
        """The labels of the upward transitions that depart from a referent, with the children they lead to."""
        if referent not in self._up:
            arcs: dict[str, tuple[int, ...]] = {}
            level: Sequence[int] = self.smallest(referent)
            own = self.is_concept(referent)
            here = set(level) if own else set()
            seen: set[int] = set()
            if own:
                level = self._above(level)
            while level:
                seen.update(level)
                for concept in level:
                    for label, nodes in self.children.get(concept, {}).items():
                        if not (len(nodes) == 1 and nodes[0] in here):
                            arcs.setdefault(label, nodes)
                level = [concept for concept in self._above(level) if concept not in seen]
            self._up[referent] = arcs
        return self._up[referent]

    def descend(self, referent: int, nodes: Sequence[int]) -> int:
        """The destination of a downward transition to these children."""
        return self.sets.intersection(referent, self.union(nodes))

    def union(self, nodes: Sequence[int]) -> int:
        """The number of the union of some concepts: the destination of an upward transition."""
        if len(nodes) == 1:
            return self.extension(nodes[0])
        parts: list[IntArray] = [self.sets.members(self.extension(node)) for node in nodes]
        return self.sets.of(np.unique(np.concatenate(parts)))

    def _above(self, concepts: Iterable[int]) -> list[int]:
        parents = (p for concept in concepts if concept != ABOVE_ALL for p in self.parents.get(concept, [ABOVE_ALL]))
        return list(dict.fromkeys(parents))

    def _ancestors(self, node: int) -> set[int]:
        """The node, all nodes above it, and the set of all individuals."""
        return self._closure([node]) | {ABOVE_ALL}

    def _closure(self, nodes: Iterable[int]) -> set[int]:
        closure: set[int] = set()
        agenda = list(nodes)
        while agenda:
            node = agenda.pop()
            if node not in closure:
                closure.add(node)
                agenda += self._above([node])
        return closure


class Down:
    """The downward transition with a label: S = S1 ∩ the child of that name."""

    def __init__(self, taxonomy: Taxonomy, label: str) -> None:
        self.taxonomy, self.label = taxonomy, label

    def __call__(self, sets: SetTable, argument: int, context: int) -> int:  # noqa: ARG002
        """Return the child's part of the argument; the empty set if no child has this name."""
        nodes = self.taxonomy.down(argument).get(self.label)
        return EMPTY if nodes is None else self.taxonomy.descend(argument, nodes)


class Up:
    """The upward transition UP-label (25): the child of that name of the nearest concept above S1 that has one."""

    def __init__(self, taxonomy: Taxonomy, label: str) -> None:
        self.taxonomy, self.label = taxonomy, label

    def __call__(self, sets: SetTable, argument: int, context: int) -> int:  # noqa: ARG002
        """Return the set of that child; the empty set if there is none."""
        nodes = self.taxonomy.up(argument).get(self.label)
        return EMPTY if nodes is None else self.taxonomy.union(nodes)
