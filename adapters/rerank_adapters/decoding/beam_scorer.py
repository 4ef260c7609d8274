"""Scores the words of a beam search by a language model: all beams of a frame in one call, in bounded memory.

A beam search takes the same steps again and again, holds thousands of histories at once and hands back histories
that are long out of date. The states of some models are large (a `Beam` of the HHMM holds 32 kB). The search therefore
gets a light handle for each history, its `Prefix`, and the states themselves are kept for the most recently used
prefixes alone. A state that was dropped is computed again, from the nearest prefix whose state is still there.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import ConfigError, FloatArray, IncrementalLM, PickledFields
from rerank_plugins.kit.language_models import advance_all, finish_all


@dataclass(frozen=True, eq=False, slots=True)
class Prefix:
    """The words so far, as the last word and the prefix before it; None and "" at the start of a sentence."""

    before: Prefix | None = field(default=None, repr=False)
    word: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """All words, in order."""
        words, prefix = [], self
        while prefix.before is not None:
            words.append(prefix.word)
            prefix = prefix.before
        return tuple(reversed(words))


Step = tuple[Prefix, str]  # a prefix and its next word


class Taken(NamedTuple):
    """A step that was taken: its ln p, the prefix after it, and the model's state there."""

    ln_p: float
    prefix: Prefix
    state: Any


@dataclass(frozen=True, eq=False)
class BeamScorer(PickledFields):
    """Ln p of the next word of many beams at once, by any `IncrementalLM`; natural logs.

    It is called with (n) prefixes and words, and returns (n) ln p(word | prefix) and the (n) prefixes after the words.
    It is an `IncrementalLM` and a `BatchedLM` itself, whose states are prefixes. Equal steps of a call are computed
    once, and the model takes the rest of them in one call if it can (`BatchedLM`: n-grams and mixtures do).

    `model`   any `IncrementalLM`
    `kept`    the number of states and steps that are remembered, the most recently used ones; prefixes that the search
              has dropped need no memory beyond these
    `tokens`  the words of the model that a word of the decoder stands for: `lambda word: [word.lower()]`, or the
              tokens of a treebank for "don't"; their ln p are summed, and none give 0. The default takes words as they
              are

    A scorer belongs to one process; a pickled copy remembers nothing. Raises ConfigError if `kept` is below 1, or
    the model is no `IncrementalLM`.
    """

    model: IncrementalLM[Any]
    kept: int = 10_000
    tokens: Callable[[str], Sequence[str]] | None = None

    def __post_init__(self) -> None:
        if self.kept < 1:
            raise ConfigError(f"kept is {self.kept}, wanted 1 or more states")
        if not isinstance(self.model, IncrementalLM):
            raise ConfigError(f"{type(self.model).__name__} reads no words from left to right, as a beam search needs")

    @cached_property
    def _recent(self) -> OrderedDict[Step, Taken]:
        """The steps that were taken, the most recently used last."""
        return OrderedDict()

    @cached_property
    def _first(self) -> Any:
        """The model's state before the first word."""
        return self.model.start()

    @cached_property
    def _root(self) -> Prefix:
        return Prefix()

    def start(self) -> Prefix:
        """The prefix before the first word, the same one for all sentences."""
        return self._root

    def __call__(self, prefixes: Sequence[Prefix], words: Sequence[str]) -> tuple[FloatArray, list[Prefix]]:
        """(n) prefixes and their next words -> (n) ln p(word | prefix), and the (n) prefixes after them."""
        steps = list(zip(prefixes, words, strict=True))
        taken: dict[Step, Taken] = {}
        new: list[Step] = []
        for step in dict.fromkeys(steps):
            known = self._recent.get(step)
            if known is None:
                new.append(step)
            else:
                self._recent.move_to_end(step)
                taken[step] = known
        if new:
            values, states = self._advance([self._state(prefix) for prefix, _ in new], [word for _, word in new])
            for step, ln_p, state in zip(new, values.tolist(), states, strict=True):
                taken[step] = Taken(ln_p, Prefix(*step), state)
                self._remember(step, taken[step])
        return np.array([taken[step].ln_p for step in steps], np.float64), [taken[step].prefix for step in steps]

    advance_all = __call__

    def advance(self, state: Prefix, word: str) -> tuple[float, Prefix]:
        """Ln p(word | prefix), and the prefix after it."""
        values, prefixes = self([state], [word])
        return float(values[0]), prefixes[0]

    def finish_all(self, states: Sequence[Prefix]) -> FloatArray:
        """(n) prefixes -> (n) ln p(</s> | prefix)."""
        return finish_all(self.model, [self._state(prefix) for prefix in states])

    def finish(self, state: Prefix) -> float:
        """Ln p(</s> | prefix)."""
        return float(self.finish_all([state])[0])

    def _advance(self, states: list[Any], words: Sequence[str]) -> tuple[FloatArray, list[Any]]:
        """(n) ln p of the words after the model's states, and the (n) states after them, token by token."""
        if self.tokens is None:
            return advance_all(self.model, states, words)
        tokens = [self.tokens(word) for word in words]
        ln_p, states = np.zeros(len(words)), list(states)
        for place in range(max(map(len, tokens))):
            going = [i for i, of_word in enumerate(tokens) if place < len(of_word)]
            values, after = advance_all(self.model, [states[i] for i in going], [tokens[i][place] for i in going])
            ln_p[going] += values
            for i, state in zip(going, after, strict=True):
                states[i] = state
        return ln_p, states

    def _state(self, prefix: Prefix) -> Any:
        """The model's state after the prefix, from the nearest prefix whose state is remembered."""
        dropped, state = [], self._first
        here = prefix
        while here.before is not None:
            step = (here.before, here.word)
            known = self._recent.get(step)
            if known is not None:
                self._recent.move_to_end(step)
                state = known.state
                break
            dropped.append(here)
            here = here.before
        for here in reversed(dropped):
            assert here.before is not None
            values, states = self._advance([state], [here.word])
            state = states[0]
            self._remember((here.before, here.word), Taken(float(values[0]), here, state))
        return state

    def _remember(self, step: Step, taken: Taken) -> None:
        self._recent[step] = taken
        if len(self._recent) > self.kept:
            self._recent.popitem(last=False)
