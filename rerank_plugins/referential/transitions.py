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
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rerank_plugins.referential.description_model import Description
from rerank_plugins.referential.grammar import CLASSES
from rerank_plugins.referential.relations import IDENTITY
from rerank_plugins.referential.sets import TOP

Stack = tuple[int, ...]
KEPT = 1 << 19  # stacks whose successors are kept; more than these are computed again


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
            if len(self._pending) >= KEPT:
                self._pending.clear()
            known = self._pending[stack] = self._reduced(stack)
        return known

    def steps(self, pending: Stack, word: str) -> tuple[Step, ...]:
        """The stacks that a pending stack becomes with this word (17)."""
        key = pending, word
        known = self._steps.get(key)
        if known is None:
            if len(self._steps) >= KEPT:
                self._steps.clear()
            known = self._steps[key] = tuple(self._shifted(pending, word))
        return known

    def all_steps(self, pending: Stack) -> Iterator[Step]:
        """The stacks that a pending stack becomes, with any word."""
        return self._shifted(pending, None)

    def forgetful(self, stack: Stack) -> Stack:
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
            for expression, share in expressions if weight else ():
                initial = states.initial[id(expression)]
                part = p * weight / choices.total * share / len(initial)
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
