"""Collects the facts about a world from its files, checks them, and makes a `World` of them.

The reader (world_file.py) adds facts, each with a function that finds the file and line it came from. Individuals may
be declared after they are mentioned. `world` raises FormatError, with file and line, for an individual that is only
mentioned, a tuple with another number of arguments than its relation, a taxonomy with a cycle, a functor without its
measure or relation or with options that cannot be meant, and a name that stands for two things.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rerank_plugins import FormatError
from rerank_plugins.core.errors import suggestion
from rerank_plugins.referential.relations import (
    IDENTITY,
    NIL,
    Cardinality,
    Comparative,
    Complement,
    Counting,
    SetTable,
    Subsective,
    Superlative,
    Transition,
)
from rerank_plugins.referential.taxonomy import ABOVE_ALL, Taxonomy
from rerank_plugins.referential.world import Tuples, Where, World, nearest

KINDS = {  # kind of functor -> its options, required ones first
    "complement": (),
    "superlative": ("measure", "lowest"),
    "comparative": ("measure", "lowest", "than"),
    "subsective": ("measure", "lowest", "norm"),
    "cardinality": ("least", "most"),
    "counting": ("relation", "least", "most"),
}
CHOICES = {"than": ("some", "every"), "norm": ("mean", "median")}


def at_fault(where: Where, message: str) -> FormatError:
    """The error with this message at a position of a file."""
    path, line = where()
    return FormatError(message, path=path, line=line)


def line_of(text: str, words: Iterable[str]) -> int:
    """The line of a text, from 1, on which the words are found, each at or after the one before it."""
    start = 0
    for word in words:
        match = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])").search(text, start)
        start = match.start() if match else start
    return text.count("\n", 0, start) + 1


class Facts:
    """Individuals, properties, tuples, measures, functors and arcs, as files mention them."""

    def __init__(self) -> None:
        self.individuals: dict[str, int] = {}
        self.properties: dict[str, list[tuple[str, Where]]] = {}
        self.arguments: dict[str, tuple[str, ...]] = {}
        self.tuples: dict[str, list[tuple[Sequence[str], Where]]] = {}
        self.measures: dict[str, list[tuple[str, float, Where]]] = {}
        self.functors: dict[str, tuple[Mapping[str, Any], Where]] = {}
        self.arcs: list[tuple[str, str, str, Where]] = []  # parent, label, child
        self._kinds: dict[str, str] = {}

    def individual(self, name: str) -> None:
        """Declare an individual."""
        self.individuals.setdefault(name, len(self.individuals))

    def name(self, name: str, kind: str, where: Where) -> None:
        """Declare that the name stands for something of this kind. Raises FormatError if it is of another kind."""
        if name in (IDENTITY, NIL):
            raise at_fault(where, f"{name!r} cannot be a {kind}: the name is taken by a relation of every world")
        if self._kinds.setdefault(name, kind) != kind:
            raise at_fault(where, f"{name!r} is a {kind} here and a {self._kinds[name]} elsewhere")

    def member(self, name: str, individual: str, where: Where) -> None:
        """Record that an individual has a property."""
        self.properties.setdefault(name, []).append((individual, where))

    def row(self, name: str, individuals: Sequence[str], where: Where) -> None:
        """Add a tuple to a relation. Raises FormatError if it has the wrong number of arguments."""
        arguments = self.arguments.setdefault(name, tuple(str(i + 1) for i in range(len(individuals))))
        if len(arguments) < 2:
            raise at_fault(where, f"relation {name!r} has {len(arguments)} argument, wanted two or more")
        if len(individuals) != len(arguments):
            listed = f"{len(individuals)} individuals ({', '.join(individuals)})"
            raise at_fault(where, f"relation {name!r} has {len(arguments)} arguments, found {listed}")
        self.tuples.setdefault(name, []).append((individuals, where))

    def value(self, name: str, individual: str, value: Any, where: Where) -> None:
        """Give an individual a value of a measure. Raises FormatError if it is no finite number."""
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise at_fault(where, f"measure {name!r} of {individual!r} is {value!r}, wanted a number")
        self.measures.setdefault(name, []).append((individual, float(value), where))

    def arc(self, parent: str, label: str, child: str, where: Where) -> None:
        """Add a child to a concept; the parent is empty for a concept at the top. Both are individuals."""
        if not (label.split() and child):
            raise at_fault(where, f"an arc with the label {label!r} and the child {child!r}, wanted a name for both")
        self.individual(child)
        if parent:
            self.individual(parent)
        self.arcs.append((parent, label, child, where))

    def world(self, path: str) -> World:
        """The world of these facts. Raises FormatError."""
        if not self.individuals:
            raise FormatError("a world without individuals; wanted at least one", path=path)
        sets = SetTable(len(self.individuals))
        properties = {
            name: sets.of(np.array(sorted({self._number(*mention) for mention in mentions}), np.int32))
            for name, mentions in self.properties.items()
        }
        tuples = {}
        for name, arguments in self.arguments.items():
            rows = [[self._number(i, where) for i in row] for row, where in self.tuples.get(name, ())]
            tuples[name] = Tuples(arguments, np.array(rows, np.int32).reshape(-1, len(arguments)))
        functors = {name: self._functor(name, *described, tuples) for name, described in self.functors.items()}
        taxonomy = Taxonomy(sets, self._children()) if self.arcs else None
        return World(tuple(self.individuals), sets, properties, tuples, functors, taxonomy)

    def _number(self, individual: str, where: Where) -> int:
        number = self.individuals.get(individual)
        if number is None:
            raise at_fault(where, f"unknown individual {individual!r}{nearest(individual, self.individuals)}")
        return number

    def _values(self, name: str, where: Where) -> Any:
        if name not in self.measures:
            raise at_fault(where, f"unknown measure {name!r}{suggestion(name, self.measures)}")
        values = np.full(len(self.individuals), np.nan)
        for individual, value, mentioned in self.measures[name]:
            values[self._number(individual, mentioned)] = value
        return values

    def _functor(self, name: str, options: Mapping[str, Any], where: Where, tuples: Mapping[str, Tuples]) -> Transition:
        kind = options.get("kind")
        if kind not in KINDS:
            raise at_fault(where, f"functor {name!r} is of kind {kind!r}{suggestion(str(kind), KINDS)}")
        known = KINDS[kind]
        for key in sorted(options.keys() - {"kind"} - set(known)):
            raise at_fault(where, f"functor {name!r}: unknown key {key!r}{suggestion(key, known)}")
        for key, choices in CHOICES.items():
            if options.get(key, choices[0]) not in choices:
                raise at_fault(where, f"functor {name!r}: {key} is {options[key]!r}, wanted {' or '.join(choices)}")
        if kind == "complement":
            return Complement()
        if "measure" in known:
            values = self._values(str(options.get("measure")), where)
            lowest = options.get("lowest", False)
            if not isinstance(lowest, bool):
                raise at_fault(where, f"functor {name!r}: lowest is {lowest!r:.60}, wanted true or false")
            sign = -1.0 if lowest else 1.0
            if kind == "superlative":
                return Superlative(values, sign)
            if kind == "comparative":
                return Comparative(values, sign, options.get("than", "some"))
            return Subsective(values, sign, options.get("norm", "mean"))
        least, most = options.get("least", 0), options.get("most", math.inf)
        if not all(isinstance(n, (int, float)) and n >= 0 for n in (least, most)):
            raise at_fault(where, f"functor {name!r}: least and most are {least!r} and {most!r}, wanted numbers")
        if least > most:
            raise at_fault(where, f"functor {name!r}: least is {least} and most is {most}, which exclude each other")
        if kind == "cardinality":
            return Cardinality(least, most)
        relation = str(options.get("relation"))
        if relation.removesuffix("'") not in tuples:
            raise at_fault(where, f"functor {name!r}: unknown relation {relation!r}{suggestion(relation, tuples)}")
        places = list(tuples[relation.removesuffix("'")].arguments[:2])
        source, target = reversed(places) if relation.endswith("'") else places
        product = tuples[relation.removesuffix("'")].product(source, target, {}, len(self.individuals))
        return Counting(product, least, most)

    def _children(self) -> dict[int, dict[str, tuple[int, ...]]]:
        """The arcs of the taxonomy by parent. Raises FormatError for a cycle, at an arc of it."""
        children: dict[int, dict[str, tuple[int, ...]]] = {}
        below: dict[str, list[tuple[str, Where]]] = {}
        parented = {child for _, _, child, _ in self.arcs}
        for parent, label, child, where in self.arcs:
            self.name(label, "taxonomic concept", where)
            number = self.individuals[parent] if parent else ABOVE_ALL
            labels = children.setdefault(number, {})
            labels[label] = (*labels.get(label, ()), self.individuals[child])
            below.setdefault(parent, []).append((child, where))
        self._refuse_cycles(below, parented)
        return children

    def _refuse_cycles(self, below: Mapping[str, list[tuple[str, Where]]], parented: set[str]) -> None:
        """Follow the arcs from the top, and then from any node that this does not reach."""
        finished: set[str] = set()
        for root in [*(parent for parent in below if parent not in parented), *below]:
            path, agenda = {root: None}, [(root, iter(below.get(root, ())))]
            while agenda and root not in finished:
                node, rest = agenda[-1]
                child, where = next(rest, ("", None))
                if where is None:
                    agenda.pop()
                    path.pop(node)
                    finished.add(node)
                elif child in path:
                    names = list(path)
                    cycle = " > ".join([*names[names.index(child) :], child])
                    raise at_fault(where, f"the taxonomy has a cycle: {cycle}")
                elif child not in finished:
                    path[child] = None
                    agenda.append((child, iter(below.get(child, ()))))
