"""The referential model inside the search of the recogniser: Viterbi over what was heard, with a beam at each phone.

A hypothesis is a place in what was heard and a state of the language model: a pending stack of the referential model
(its states, and those of its referents that matter later), or the two last words of its trigrams. Only words that can
follow in the state and that were heard there are tried, so that the time depends on the beam and on the number of
relations that depart from a referent, not on the size of the world (the paper's §5.2).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Protocol, cast

from rerank_plugins.referential.model import ReferentialModel
from rerank_plugins.referential.transitions import Stack
from rerank_plugins.referential.trigrams import SENTENCE_END, SENTENCE_START, TrigramModel

from .recogniser import Arc

State = Hashable
Following = Mapping[str, Sequence[tuple[State, float]]]  # by word: the states after it and ln p


class Automaton(Protocol):
    """A language model as the search sees it."""

    start: State

    def following(self, state: State) -> Following:
        """The words that can follow."""
        ...

    def ending(self, state: State) -> float:
        """Ln p of the end; -inf where there is none."""
        ...


class ReferentialAutomaton:
    """The pending stacks of the referential model, with or without semantics."""

    start: State = ()

    def __init__(self, model: ReferentialModel) -> None:
        self.transitions = model.transitions
        self._known: dict[State, Following] = {}

    def following(self, state: State) -> Following:
        """The words that can follow, which are kept."""
        known = self._known.get(state)
        if known is None:
            sums: dict[str, dict[Stack, float]] = {}
            for word, stack, p in self.transitions.all_steps(state):  # type: ignore[arg-type]
                after = sums.setdefault(word, {})
                pending = self.transitions.drop_unread_referents(self.transitions.pending(stack))
                after[pending] = max(after.get(pending, 0.0), p)
            known = {word: [(s, math.log(p)) for s, p in after.items()] for word, after in sums.items()}
            self._known[state] = known
        return known

    def ending(self, state: State) -> float:
        """0 for a complete sentence."""
        return 0.0 if isinstance(state, tuple) and len(state) == 1 else -math.inf


class TrigramAutomaton:
    """The histories of a trigram model; trigrams that the world does not allow have no probability."""

    start: State = (SENTENCE_START, SENTENCE_START)

    def __init__(self, model: TrigramModel) -> None:
        self.model = model

    def following(self, state: State) -> Following:
        """The words that can follow."""
        history = cast("tuple[str, str]", state)
        words = self.model.ln_p.get(history, {})
        return {word: [((history[1], word), p)] for word, p in words.items() if word != SENTENCE_END}

    def ending(self, state: State) -> float:
        """Ln p of the end."""
        return self.model.ln_p.get(state, {}).get(SENTENCE_END, -math.inf)  # type: ignore[call-overload, no-any-return]


Back = tuple[int, State, str]  # the place and state before, and the word


def search(automaton: Automaton, arcs: Sequence[Arc], length: int, beam: int = 1000) -> tuple[str, float, int]:
    """The best text, its ln P(heard, text), and the number of hypotheses tried; "" if no sentence reaches the end."""
    leaving: list[dict[str, list[Arc]]] = [{} for _ in range(length + 1)]
    for arc in arcs:
        leaving[arc.start].setdefault(arc.word, []).append(arc)
    places: list[dict[State, tuple[float, Back | None]]] = [{} for _ in range(length + 1)]
    places[0][automaton.start] = 0.0, None
    tried = 0
    for place, words in enumerate(leaving[:-1]):
        hypotheses = sorted(places[place].items(), key=lambda item: -item[1][0])[:beam]
        for state, (score, _) in hypotheses:
            following = automaton.following(state)
            for word in words.keys() & following.keys():
                for after, ln_p in following[word]:
                    tried += 1
                    for arc in words[word]:
                        total = score + ln_p + arc.ln_p
                        known = places[arc.end].get(after)
                        if known is None or total > known[0]:
                            places[arc.end][after] = total, (place, state, word)
    ends = [(score + automaton.ending(state), state) for state, (score, _) in places[length].items()]
    best, state = max(ends, default=(-math.inf, None), key=lambda end: end[0])
    if best == -math.inf:
        return "", best, tried
    text: list[str] = []
    back = places[length][state][1]
    while back is not None:
        text.append(back[2])
        back = places[back[0]][back[1]][1]
    return " ".join(reversed(text)), best, tried
