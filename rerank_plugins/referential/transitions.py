"""One word of the hierarchic model: reduction, and then shift, with referents (equations 16 and 17).

A stack is what a hypothesis knows: on each level, from the top down, a referent and a state of an automaton, flat in
one tuple (e¹, q¹, …, e^k, q^k); the deepest state is the word just read. Levels below it are vacant. Reduction is
deterministic: from the deepest level up, a level in a final state ends, and its reduce relation takes the referent from
below, in the context of the level above, to its parent; the first level that does not end gets that referent and waits
for its next state. What is left is a *pending* stack (e¹, q¹, …, e^m, q^m), or (e,) if the top level has ended as well
and the sentence is complete. The pending stack of an empty sentence is ().

The shift moves level m on to a state that follows, and starts levels below it until a state is a word: for each, a
relation label by the description model, the referent to which it leads from the level above, and an expression that
begins with this label. Where the expansion would need more than the `depth` levels of the model, its probability is
missing, as in every memory-bounded model. Combinations that do not lead to the word are skipped.

Both halves are functions of the stack alone, so that they are computed once for each stack (and word) and kept.

The description model P(l | e, q) is the probability of the relation by which a referent is described next. The labels
are those with which an expression of the awaited category begins, and, where `{down}` or `{up}` stands for expressions,
those of all taxonomic transitions that depart from the referent. Each has a weight:

    uniform       1 if the relation departs, that is, if it leads to a set that is not empty (the paper's experiments)
    informative   1, but `vacuous` if it leads back to the same set: a description avoids constraints that rule out
                  nothing, such as one of a referent that is a single individual already (§4.4.2)
    sizes         the proportion of the set that the relation rules out, at least `vacuous`

IDENTITY and NIL have weight 1, and so have relations that lead out of the set. If no relation departs, all labels have
the same weight, and the referent is empty from there on, so that the probabilities sum to one.

Without a world (`LM-NoSem`, §5.7.2) every relation returns the set of all individuals, and every label departs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rerank_plugins.referential.grammar import CLASSES, DOWN_CLASS, Expression, States
from rerank_plugins.referential.relations import EMPTY, IDENTITY, NIL, TOP
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
    """The description model of a world and a grammar."""

    world: World
    states: States
    kind: Kind = "informative"
    vacuous: float = 0.01
    semantics: bool = True

    def __post_init__(self) -> None:
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


Stack = tuple[int, ...]
KEPT_STACKS = 1 << 19  # whose successors are kept; more than these are computed again


class Step(NamedTuple):
    """A stack after a word, with its probability given the pending stack before it."""

    word: str
    stack: Stack
    p: float


class Transitions:
    """The transitions of a model with `depth` levels, whose context is the referent `context` (usually all)."""

    def __init__(self, description: Description, depth: int, context: int = TOP) -> None:
        self.description, self.states, self.depth, self.context = description, description.states, depth, context
        self._pending: dict[Stack, Stack] = {}
        self._steps: dict[tuple[Stack, str], tuple[Step, ...]] = {}

    def pending(self, stack: Stack) -> Stack:
        """The pending stack: the part of a stack that remains after reduction (16)."""
        known = self._pending.get(stack)
        if known is None:
            if len(self._pending) >= KEPT_STACKS:
                self._pending.clear()
            known = self._pending[stack] = self._reduced(stack)
        return known

    def steps(self, pending: Stack, word: str) -> tuple[Step, ...]:
        """The stacks that a pending stack becomes with this word (17)."""
        key = pending, word
        known = self._steps.get(key)
        if known is None:
            if len(self._steps) >= KEPT_STACKS:
                self._steps.clear()
            known = self._steps[key] = tuple(self._shifted(pending, word))
        return known

    def all_steps(self, pending: Stack) -> Iterator[Step]:
        """The stacks that a pending stack becomes, with any word."""
        return self._shifted(pending, None)

    def drop_unread_referents(self, stack: Stack) -> Stack:
        """The stack without referents that no later relation reads: of levels whose child reduces by the identity.

        Such a child hands its own referent up, whatever that of its parent is. Stacks that differ in these referents
        alone have the same future, and a search may take them for one.
        """
        kept = list(stack)
        for place in range(0, len(stack) - 3, 2):
            if self.states.reduce[stack[place + 3]] == IDENTITY:
                kept[place] = TOP
        return tuple(kept)

    def _reduced(self, stack: Stack) -> Stack:
        states = self.states
        referent = stack[-2]
        for bottom in range(len(stack), 0, -2):
            state = stack[bottom - 1]
            if not states.final[state]:
                return (*stack[: bottom - 2], referent, state)
            above = stack[bottom - 4] if bottom > 2 else self.context
            referent = self.description.destination(states.reduce[state], referent, above)
        return (referent,)

    def _shifted(self, pending: Stack, word: str | None) -> Iterator[Step]:
        if not pending:
            yield from self._expanded((), self.context, self.states.grammar.start, 1.0, word)
        elif len(pending) > 1:
            *above, referent, state = pending
            following = self.states.following[state]
            for after in following:
                yield from self._entered((*above, referent, after), 1 / len(following), word)

    def _entered(self, stack: Stack, p: float, word: str | None) -> Iterator[Step]:
        """Start the levels below a state that has just been entered."""
        state = stack[-1]
        symbol = self.states.symbols[state]
        if not self.states.category[state]:
            if word is None or word == symbol:
                yield Step(symbol, stack, p)
        elif len(stack) < 2 * self.depth and (word is None or self.states.can_begin(symbol, word)):
            yield from self._expanded(stack, stack[-2], symbol, p, word)

    def _expanded(self, stack: Stack, above: int, category: str, p: float, word: str | None) -> Iterator[Step]:
        """Start a level for the category: a relation label, its referent, and the first state of an expression."""
        states, description = self.states, self.description
        choices = description.choices(above, category)
        for label, expressions in description.expressions(category).items():
            weight, referent = choices.labels[label]
            for expression, proportion in expressions if weight else ():
                initial = states.initial[id(expression)]
                part = p * weight / choices.total * proportion / len(initial)
                for state in initial:
                    yield from self._entered((*stack, referent, state), part, word)
        for expression in states.grammar.by_category[category] if choices.arcs else ():
            if expression.labels not in CLASSES:
                continue
            arcs = choices.arcs[expression.labels]
            if word is not None:
                labels = states.labels_by_word.get(word, [])
            else:
                labels = list(states.all_labels if arcs is None else arcs)
            for label in labels:
                nodes = () if arcs is None else arcs.get(label)
                if nodes is not None:
                    referent = description.arc(expression.labels, above, nodes)
                    state = states.of_label(expression, label)
                    yield from self._entered((*stack, referent, state), p / choices.total, word)
