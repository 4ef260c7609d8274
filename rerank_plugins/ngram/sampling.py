"""Draws random sentences from an n-gram model, word by word from p(· | h), from `<s>` to `</s>`.

Okanohara and Tsujii (2007) use such sentences from a trigram model as pseudo-negative examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, ModelError
from rerank_plugins.kit.backoff.event_sampling import cumulated, draw_event
from rerank_plugins.kit.kernels import kernel
from rerank_plugins.kit.vocabulary.word_ids import BOS, EOS, UNK

if TYPE_CHECKING:
    from rerank_plugins.ngram.model import NgramModel

ATTEMPTS = 10_000  # sentences rejected in a row before the lengths are considered impossible


@dataclass(frozen=True, eq=False)
class NgramSampler:
    """Draws sentences of `shortest` to `longest` words; `unknown` is whether they may contain `<unk>`.

    Other sentences are rejected, so that those that remain keep their relative probabilities. Raises ModelError for a
    stupid-backoff model, whose scores are no probabilities.
    """

    ngrams: NgramModel
    shortest: int = 1
    longest: int = 100
    unknown: bool = False

    def __post_init__(self) -> None:
        if self.ngrams.tables.unseen != 0.0:
            raise ModelError("the n-gram model has scores of stupid backoff, from which no sentences can be drawn")
        if not 0 <= self.shortest <= self.longest:
            raise ValueError(f"shortest {self.shortest}, longest {self.longest}: wanted 0 <= shortest <= longest")

    @cached_property
    def _cumulated(self) -> FloatArray:
        return cumulated(self.ngrams.tables)

    def sample(self, number: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
        """`number` sentences; `rng` determines them. Raises ModelError if no sentence has an allowed length."""
        tables, words = self.ngrams.tables, self.ngrams.vocabulary.words
        tokens = np.zeros((number, self.longest), np.int32)
        start = int(tables.events[BOS]["next"])
        forbidden = -1 if self.unknown else UNK
        lengths = draw_sentences(
            tables.contexts, tables.events, self._cumulated, start, EOS, forbidden, self.shortest, rng, tokens
        )
        if len(lengths) < number:
            raise ModelError(
                f"{ATTEMPTS} sentences were drawn, and none of them has {self.shortest} to {self.longest} words"
            )
        return [tuple(words[i] for i in row[:n]) for row, n in zip(tokens.tolist(), lengths.tolist(), strict=True)]


@kernel
def draw_sentences(
    contexts: NDArray[Any], events: NDArray[Any], sums: Any, start: int, eos: int, forbidden: int, shortest: int,
    rng: np.random.Generator, tokens: Any,
) -> Any:  # fmt: skip
    """Fill the rows of `tokens`; returns the number of words of each row that could be filled."""
    number, longest = tokens.shape
    lengths = np.zeros(number, np.int64)
    path = np.zeros(8, np.int64)
    row = 0
    attempts = 0
    while row < number and attempts < ATTEMPTS:
        context = start
        length = 0
        attempts += 1
        # Draw words until the end of the sentence, a forbidden word, or more words than are allowed.
        while True:
            event = draw_event(contexts, events, sums, context, path, rng)
            symbol = events[event]["symbol"]
            if symbol in (eos, forbidden) or length == longest:
                break
            tokens[row, length] = symbol
            length += 1
            context = events[event]["next"]
        # Keep the sentence if it has ended and is long enough; else the next one overwrites it.
        if symbol == eos and length >= shortest:
            lengths[row] = length
            row += 1
            attempts = 0
    return lengths[:row]
