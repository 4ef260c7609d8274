"""The description model P(l | e, q): the probability of the relation by which a referent is described next (eq. 17).

The labels are those with which an expression of the awaited category begins, and, where `{down}` or `{up}` stands for
expressions, those of all taxonomic transitions that depart from the referent. Each has a weight:

    uniform       1 if the relation departs, that is, if it leads to a set that is not empty (the paper's experiments)
    informative   1, but `vacuous` if it leads back to the same set: a description avoids constraints that rule out
                  nothing, such as one of a referent that is a single individual already (§4.4.2)
    sizes         the proportion of the set that the relation rules out, at least `vacuous`

IDENTITY and NIL have weight 1, and so have relations that lead out of the set. If no relation departs, all labels have
the same weight, and the referent is empty from there on, so that the probabilities sum to one.

Without a world (`LM-NoSem`, §5.7.2) every relation returns the set of all individuals, and every label departs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from rerank_plugins.core.errors import ConfigError
from rerank_plugins.referential.grammar import DOWN_CLASS, Expression, States
from rerank_plugins.referential.relations import IDENTITY, NIL
from rerank_plugins.referential.sets import EMPTY, TOP
from rerank_plugins.referential.world import World

KEPT = 1 << 18  # choices that are kept; more than these are computed again
Kind = Literal["uniform", "informative", "sizes"]


class Choices(NamedTuple):
    """What a category can begin with in a referent.

    `total`    the sum of all weights
    `labels`   (weight, destination) of each label of the grammar; `arcs` the destinations of each class of labels,
               as children of the taxonomy; None where every label of the class departs
    """

    total: float
    labels: Mapping[str, tuple[float, int]]
    arcs: Mapping[str, Mapping[str, tuple[int, ...]] | None]


@dataclass(eq=False)
class Description:
    """The description model of a world and a grammar. Raises ConfigError for settings out of range."""

    world: World
    states: States
    kind: Kind = "informative"
    vacuous: float = 0.01
    semantics: bool = True

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ConfigError(f"description {self.kind!r}, wanted {', '.join(get_args(Kind))}")
        if not 0 < self.vacuous <= 1:
            raise ConfigError(f"vacuous is {self.vacuous}, wanted more than 0 and at most 1")
        self._known: dict[tuple[int, str], Choices] = {}
        self._grouped = {c: _grouped(expressions) for c, expressions in self.states.grammar.by_category.items()}

    def choices(self, referent: int, category: str) -> Choices:
        """What the category can begin with in a referent."""
        key = referent, category
        if key not in self._known:
            if len(self._known) >= KEPT:
                self._known.clear()
            self._known[key] = self._choices(referent, category)
        return self._known[key]

    def expressions(self, category: str) -> Mapping[str, tuple[tuple[Expression, float], ...]]:
        """By shift label, the expressions of a category and their parts of the label's probability (Syn-Init)."""
        return self._grouped[category]

    def destination(self, label: str, argument: int, context: int) -> int:
        """Where a relation leads."""
        return self.world.destination(label, argument, context) if self.semantics else TOP

    def arc(self, kind: str, referent: int, nodes: tuple[int, ...]) -> int:
        """Where a taxonomic transition to these children leads."""
        if not self.semantics:
            return TOP
        assert self.world.taxonomy is not None  # checked with the grammar's labels
        return self.world.taxonomy.descend(referent, nodes) if kind == DOWN_CLASS else self.world.taxonomy.union(nodes)

    def _choices(self, referent: int, category: str) -> Choices:
        labels = {
            label: (self._weight(label, referent, destination), destination)
            for label in self.expressions(category)
            for destination in (self.destination(label, referent, TOP),)
        }
        arcs: dict[str, Mapping[str, tuple[int, ...]] | None] = {}
        total = sum(weight for weight, _ in labels.values())
        for expression in self.states.grammar.by_category[category]:
            taxonomy = self.world.taxonomy
            if expression.labels and taxonomy is not None:
                departing = taxonomy.down(referent) if expression.labels == DOWN_CLASS else taxonomy.up(referent)
                arcs[expression.labels] = departing if self.semantics else None
                total += len(departing if self.semantics else taxonomy.labels)
        if total == 0:
            labels = {label: (1.0, destination) for label, (_, destination) in labels.items()}
            total = float(len(labels))
        return Choices(total, labels, arcs)

    def _weight(self, label: str, source: int, destination: int) -> float:
        if not self.semantics or label in (IDENTITY, NIL):
            return 1.0
        if destination == EMPTY:
            return 0.0
        if self.kind == "uniform":
            return 1.0
        if destination == source:
            return self.vacuous
        sets = self.world.sets
        if self.kind == "informative" or sets.intersection(source, destination) != destination:
            return 1.0
        return max(self.vacuous, 1 - sets.count(destination) / sets.count(source))


def _grouped(expressions: list[Expression]) -> dict[str, tuple[tuple[Expression, float], ...]]:
    """The expressions by shift label, with their proportions by weight."""
    labels = dict.fromkeys(expression.shift for expression in expressions if expression.automaton)
    grouped = {}
    for label in labels:
        same = [expression for expression in expressions if expression.automaton and expression.shift == label]
        weight = sum(expression.weight for expression in same)
        grouped[label] = tuple((expression, expression.weight / weight) for expression in same)
    return grouped
