"""Queries of a back-off model: ln p(word | state), for a decoder that adds one phrase after another."""

from __future__ import annotations

import math
from collections.abc import Iterable

from decoder.kneser_ney import Gram, read_arpa

State = tuple[str, ...]  # the last words, no more of them than can matter
REMEMBERED = 1 << 20  # answers that are kept


class LanguageModel:
    """A model read from ARPA. All values are natural logs, rounded to `DIGITS` so that printed features are exact."""

    DIGITS = 4
    START: State = ("<s>",)

    def __init__(self, lines: Iterable[str]) -> None:
        self.grams: dict[Gram, tuple[float, float]] = {
            gram: (round(p * math.log(10), self.DIGITS), round(backoff * math.log(10), self.DIGITS))
            for gram, (p, backoff) in read_arpa(lines).items()
        }
        self.order = max(len(gram) for gram in self.grams)
        self._known: dict[tuple[State, Gram], tuple[float, State]] = {}

    def extend(self, state: State, words: Gram) -> tuple[float, State]:
        """Ln p of the words after the state, and the state after them."""
        key = (state, words)
        if key not in self._known:
            if len(self._known) == REMEMBERED:
                self._known.clear()
            total, now = 0.0, state
            for word in words:
                p, now = self._advance(now, word if (word,) in self.grams else "<unk>")
                total += p
            self._known[key] = (round(total, self.DIGITS), now)
        return self._known[key]

    def _advance(self, state: State, word: str) -> tuple[float, State]:
        backoff = 0.0
        context = state
        while (*context, word) not in self.grams:
            backoff += self.grams[context][1] if context in self.grams else 0.0
            context = context[1:]
        after: State = (*state, word)[1 - self.order :]
        while after not in self.grams:  # words that no n-gram continues cannot change what follows
            after = after[1:]
        return backoff + self.grams[*context, word][0], after
