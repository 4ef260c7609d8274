"""The model compiled into a word trigram model (equations 28 to 30), as a pre-compiled recogniser would use it.

    P(w_t | w_t-2 w_t-1)  ∝  Σ P_Uniform(σ_t-2) [w_t-2 = W(σ_t-2)]
                               · P(σ_t-1 | σ_t-2) [w_t-1 = W(σ_t-1)] · P(σ_t | σ_t-1) [w_t = W(σ_t)]

The sum is over all stacks σ_t-2 that some sentence reaches, equally probable. Stacks that differ only in referents that
no later relation reads count as one: those of levels whose child will hand its own referent up. The paper combines
every syntactic configuration with every triple of referents, which needs several hours for 240 entities; over its
grammar, all of whose reduce relations are the identity, the difference is that here a word never goes with a referent
that it cannot have, which makes the trigrams sharper. The first two words and the end of a sentence have their
probabilities, too. A trigram that no derivation has gets `UNPARSED` less ln of the vocabulary's size, like a word that
the model cannot read.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from rerank_plugins import ConfigError
from rerank_plugins.kit.language_models import UNPARSED
from rerank_plugins.referential.model import ReferentialModel
from rerank_plugins.referential.transitions import Stack

SENTENCE_START, SENTENCE_END = "<s>", "</s>"
MOST_STACKS = 200_000  # stacks that are enumerated before compilation gives up
Next = dict[str, dict[Stack, float]]  # from a word to the pending stacks after it, with their probabilities


@dataclass(frozen=True)
class TrigramModel:
    """ln P(w | u v) by history (u, v); an `IncrementalLM` whose states are histories."""

    ln_p: dict[tuple[str, str], dict[str, float]]
    words: frozenset[str]

    def start(self) -> tuple[str, str]:
        """The history before the first word."""
        return SENTENCE_START, SENTENCE_START

    def advance(self, state: tuple[str, str], word: str) -> tuple[float, tuple[str, str]]:
        """Return ln p(word | state), and the history after it."""
        unseen = UNPARSED - math.log(max(1, len(self.words)))
        word = word if word != SENTENCE_END else ""  # `</s>` in a text is an unknown word
        return self.ln_p.get(state, {}).get(word, unseen), (state[1], word)

    def finish(self, state: tuple[str, str]) -> float:
        """Return ln p(</s> | state)."""
        return self.ln_p.get(state, {}).get(SENTENCE_END, UNPARSED - math.log(max(1, len(self.words))))


def compile_trigrams(model: ReferentialModel) -> TrigramModel:
    """Compile a model. Raises ConfigError if it reaches more than `MOST_STACKS` stacks."""
    transitions = model.transitions
    following: dict[Stack, Next] = {}

    def after(pending: Stack) -> Next:
        if pending not in following:
            steps: Next = defaultdict(lambda: defaultdict(float))
            for word, stack, p in transitions.all_steps(pending):
                steps[word][transitions.drop_unread_referents(transitions.pending(stack))] += p
            if len(pending) == 1:
                steps[SENTENCE_END][()] = 1.0
            following[pending] = dict(steps)
        return following[pending]

    reached: dict[tuple[str, Stack], int] = {}  # last word and pending stack: the number of stacks that lead there
    stacks: set[Stack] = set()
    agenda: list[Stack] = [()]
    seen: set[Stack] = {()}
    while agenda:
        for word, stack, _ in transitions.all_steps(agenda.pop()):
            reduced = transitions.drop_unread_referents(stack)
            if reduced in stacks:
                continue
            stacks.add(reduced)
            if len(stacks) > MOST_STACKS:
                raise ConfigError(
                    f"the model reaches more than {MOST_STACKS:,} stacks; trigrams are for smaller worlds"
                )
            pending = transitions.drop_unread_referents(transitions.pending(stack))
            reached[word, pending] = reached.get((word, pending), 0) + 1
            if pending not in seen:
                seen.add(pending)
                agenda.append(pending)
    counts: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    histories: dict[tuple[str, str], dict[Stack, float]] = defaultdict(lambda: defaultdict(float))
    for word, nexts in after(()).items():
        counts[SENTENCE_START, SENTENCE_START][word] += sum(nexts.values())
        for pending, p in nexts.items():
            histories[SENTENCE_START, word][pending] += p
    for (first, pending), number in reached.items():
        for second, nexts in after(pending).items():
            for then, p in nexts.items() if second != SENTENCE_END else ():
                histories[first, second][then] += number * p
    for history, pendings in histories.items():
        for pending, mass in pendings.items():
            for word, nexts in after(pending).items():
                counts[history][word] += mass * sum(nexts.values())
    return TrigramModel(
        {
            history: {word: math.log(count / sum(words.values())) for word, count in words.items()}
            for history, words in counts.items()
        },
        transitions.states.words,
    )
