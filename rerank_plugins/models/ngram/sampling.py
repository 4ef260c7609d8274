"""Sentences drawn from an n-gram model: word by word from p(· | h), from `<s>` to `</s>` (backoff/drawing.py).

Okanohara and Tsujii (2007) take such sentences of a trigram model as pseudo-negative examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from rerank_plugins.arrays import FloatArray
from rerank_plugins.errors import ModelError
from rerank_plugins.models.backoff.drawing import cumulated, draw_event
from rerank_plugins.models.backoff.vocabulary import BOS, EOS, UNK

if TYPE_CHECKING:
    from rerank_plugins.models.ngram.model import NgramModel

ATTEMPTS = 10_000  # sentences thrown away in a row before the lengths are held to be impossible


@dataclass(frozen=True, eq=False)
class NgramSampler:
    """Draws sentences of `shortest` to `longest` words; `unknown`: whether they may have `<unk>` in them.

    Longer and shorter sentences are thrown away, so the others keep their proportions. Raises ModelError for a model
    by stupid backoff, whose scores are no probabilities.
    """

    ngrams: NgramModel
    shortest: int = 1
    longest: int = 100
    unknown: bool = False

    def __post_init__(self) -> None:
        if self.ngrams.tables.unseen != 0.0:
            raise ModelError("the n-gram model has scores of stupid backoff, which cannot be drawn from")
        if not 0 <= self.shortest <= self.longest:
            raise ValueError(f"lengths from {self.shortest} to {self.longest}, wanted 0 <= shortest <= longest")

    @cached_property
    def _cumulated(self) -> FloatArray:
        return cumulated(self.ngrams.tables)

    def sample(self, number: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
        """`number` sentences; the same ones for the same state of `rng`. Raises ModelError where lengths never come."""
        tables, words = self.ngrams.tables, self.ngrams.vocabulary.words
        tokens = np.zeros((number, self.longest), np.int32)
        start = int(tables.events[BOS]["next"])
        forbidden = -1 if self.unknown else UNK
        lengths = draw_sentences(
            tables.contexts, tables.events, self._cumulated, start, EOS, forbidden, self.shortest, rng, tokens
        )
        if len(lengths) < number:
            raise ModelError(
                f"{ATTEMPTS} sentences drawn in a row, none of them has {self.shortest} to {self.longest} words"
            )
        return [tuple(words[i] for i in row[:n]) for row, n in zip(tokens.tolist(), lengths.tolist(), strict=True)]


@njit(cache=True, nogil=True)
def draw_sentences(
    contexts: Any, events: Any, sums: Any, start: int, eos: int, forbidden: int, shortest: int, rng: Any, tokens: Any
) -> Any:
    """Fill the rows of `tokens`; how many words each has, for as many rows as could be filled."""
    number, longest = tokens.shape
    lengths = np.zeros(number, np.int64)
    path = np.zeros(8, np.int64)
    row = 0
    attempts = 0
    while row < number and attempts < ATTEMPTS:
        context = start
        length = 0
        attempts += 1
        while True:
            event = draw_event(contexts, events, sums, context, path, rng)
            symbol = events[event]["symbol"]
            if symbol in (eos, forbidden) or length == longest:
                break
            tokens[row, length] = symbol
            length += 1
            context = events[event]["next"]
        if symbol == eos and length >= shortest:
            lengths[row] = length
            row += 1
            attempts = 0
    return lengths[:row]
