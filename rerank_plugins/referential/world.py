"""A world model M = ⟨E, ⟦⟧⟧: individuals, and labels of relations that are transitions between sets of them.

A label is the name of a property, relation, functor or taxonomic concept, or one of these:

    IDENTITY, NIL          the argument itself; the set of all individuals
    NAME'                  the inverse of a relation: from its second argument to its first
    NAME:from:to           from one argument of a relation to another, by the names of the arguments
    NAME:from:to:arg=ann   the same, among the tuples in which a further argument is this individual
    UP-NAME                the upward transition of a taxonomy (25)

Transitions are evaluated when a hypothesis takes them, and kept: none is evaluated twice, and what no hypothesis
reaches is never evaluated, so that a world may be far larger than what a sentence touches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rerank_plugins import ConfigError, IntArray
from rerank_plugins.core.errors import suggestion
from rerank_plugins.referential.relations import (
    EMPTY,
    IDENTITY,
    NIL,
    TOP,
    Identity,
    Nil,
    Product,
    Property,
    SetTable,
    Transition,
)
from rerank_plugins.referential.taxonomy import UP, Down, Taxonomy, Up

LISTED = 20  # names that an error lists where none is similar
Where = Callable[[], tuple[str, int | None]]  # the file and line of something, looked up only for an error
KEPT = 1 << 20  # transitions that are kept; more than these are computed again


@dataclass(frozen=True, eq=False)
class Tuples:
    """An n-ary relation: the names of its arguments, and (tuples, n) the individuals of each tuple by number."""

    arguments: tuple[str, ...]
    rows: IntArray

    def product(self, source: str, target: str, fixed: Mapping[str, int], size: int) -> Product:
        """The relation between two arguments, where others may be fixed. Raises ValueError for an unknown argument."""
        rows = self.rows
        for name, individual in fixed.items():
            rows = rows[rows[:, self._place(name)] == individual]
        return Product.of(rows[:, self._place(source)], rows[:, self._place(target)], size)

    def _place(self, name: str) -> int:
        if name not in self.arguments:
            raise ValueError(f"no argument {name!r}{suggestion(name, self.arguments)}")
        return self.arguments.index(name)


@dataclass(eq=False)
class World:
    """Individuals by number and name, and the relations between sets of them.

    `sets`       the sets of individuals
    `properties` the number of the set of each property
    `tuples`     the n-ary relations
    `functors`   the functors, ready to use: negation, superlatives, …
    `taxonomy`   the hierarchy of concepts, if there is one
    """

    names: tuple[str, ...]
    sets: SetTable
    properties: Mapping[str, int] = field(default_factory=dict)
    tuples: Mapping[str, Tuples] = field(default_factory=dict)
    functors: Mapping[str, Transition] = field(default_factory=dict)
    taxonomy: Taxonomy | None = None

    def __post_init__(self) -> None:
        self.number = {name: i for i, name in enumerate(self.names)}
        self._transitions: dict[str, Transition] = {IDENTITY: Identity(), NIL: Nil()}
        self._destinations: dict[tuple[str, int, int], int] = {}
        self._concepts = frozenset(self.taxonomy.labels) if self.taxonomy else frozenset[str]()

    @property
    def labels(self) -> list[str]:
        """The plain labels: properties, relations, functors and concepts."""
        return [*self.properties, *self.tuples, *self.functors, *(self.taxonomy.labels if self.taxonomy else ())]

    def transition(self, label: str) -> Transition:
        """The transition of a label. Raises ConfigError for a label that the world does not have."""
        if label not in self._transitions:
            self._transitions[label] = self._resolved(label)
        return self._transitions[label]

    def destination(self, label: str, argument: int, context: int = TOP) -> int:
        """The referent to which a relation leads (12), from an argument and in a context, all by number."""
        key = label, argument, context
        known = self._destinations.get(key)
        if known is None:
            if len(self._destinations) >= KEPT:
                self._destinations.clear()
            known = self._destinations[key] = self.transition(label)(self.sets, argument, context)
        return known

    def referent(self, name: str) -> int:
        """The set that a name stands for: a property, a concept of the taxonomy with all below it, or one individual.

        Raises ConfigError for a name that the world does not have.
        """
        if name in self.properties:
            return self.properties[name]
        if name not in self.number:
            raise ConfigError(f"the world has no individual or property {name!r}{nearest(name, self.names)}")
        number = self.number[name]
        return self.taxonomy.extension(number) if self.taxonomy else self.set_of([number])

    def set_of(self, individuals: Iterable[int]) -> int:
        """The number of the set of these individuals."""
        return self.sets.of(np.array(sorted(set(individuals)), np.int32))

    def members(self, referent: int) -> list[str]:
        """The names of the individuals of a referent."""
        return [self.names[i] for i in self.sets.members(referent).tolist()]

    def describe(self, referent: int, most: int = 5) -> str:
        """A referent as text: `{f1 f2}`, `∅`, `⊤` for all individuals, `{sports …}` for a concept with all below it.

        At most `most` members are shown; 0 shows all.
        """
        if referent in (EMPTY, TOP):
            return "∅" if referent == EMPTY else "⊤"
        count = self.sets.count(referent)
        if self.taxonomy and count > 1 and self.taxonomy.is_concept(referent):
            return f"{{{self.names[self.taxonomy.smallest(referent)[0]]} …}}"
        shown = [self.names[i] for i in self.sets.members(referent)[: most or None].tolist()]
        return f"{{{' '.join(shown)}{f' … {count} in all' if 0 < most < count else ''}}}"

    def _resolved(self, label: str) -> Transition:
        name, *parts = label.split(":")
        if label in self.functors:
            return self.functors[label]
        if label in self.properties:
            return Property(self.properties[label])
        if name.removesuffix("'") in self.tuples:
            return self._projection(name, parts)
        if self.taxonomy and label in self._concepts:
            return Down(self.taxonomy, label)
        if self.taxonomy and label.removeprefix(UP) in self._concepts:
            return Up(self.taxonomy, label.removeprefix(UP))
        raise ConfigError(f"the world has no relation {label!r}{nearest(label, self.labels)}")

    def _projection(self, name: str, parts: Sequence[str]) -> Product:
        tuples = self.tuples[name.removesuffix("'")]
        places = [part for part in parts if "=" not in part] or list(tuples.arguments[:2])
        if len(places) != 2:
            raise ConfigError(f"{':'.join([name, *parts])}: wanted two arguments of {name}, as in {name}:from:to")
        if name.endswith("'"):
            places.reverse()
        fixed = {}
        for part in parts:
            argument, equals, individual = part.partition("=")
            if equals:
                if individual not in self.number:
                    raise ConfigError(f"{':'.join([name, *parts])}: unknown individual {individual!r}")
                fixed[argument] = self.number[individual]
        try:
            return tuples.product(places[0], places[1], fixed, len(self.names))
        except ValueError as error:
            raise ConfigError(f"{':'.join([name, *parts])}: {error}") from None


def nearest(name: str, known: Collection[str]) -> str:
    """The end of an error about an unknown name: a similar one, or all that are known if they are few."""
    end = suggestion(name, known)
    return end if end.startswith(";") or len(known) <= LISTED else ""
