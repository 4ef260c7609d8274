"""Sentences drawn from an n-gram model: word by word from p(· | h), from `<s>` to `</s>`.

A context h has its own events with their probabilities; what these leave of 1 belongs to the words not seen there, in
proportion to p(· | h'). So a word is drawn from the events of h with the probability that they have in all; else it is
drawn from h' in the same way, again and again until it is one that h has not. The result is exact, and cheap: such a
draw is expected to take 1 / (1 - Σ_{x in h} p(x | h')) trials, which times its probability is the back-off weight of h,
at most 1 in an interpolated model. Each trial searches cumulated probabilities: 8 bytes an n-gram are made at first.

Okanohara and Tsujii (2007) take such sentences of a trigram model as pseudo-negative examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rerank_plugins.errors import ModelError
from rerank_plugins.models.backoff.scoring import find_event
from rerank_plugins.models.backoff.tables import LOG_ZERO, BackoffTables
from rerank_plugins.models.backoff.vocabulary import BOS, EOS, UNK

if TYPE_CHECKING:
    from rerank_plugins.models.ngram_model import Ngrams

ATTEMPTS = 10_000  # sentences thrown away in a row before the lengths are held to be impossible
TRIALS = 1_000  # after which a draw of an unseen word starts anew: a context may have all words


@dataclass(frozen=True, eq=False)
class NgramSampler:
    """Draws sentences of `shortest` to `longest` words; `unknown`: whether they may have `<unk>` in them.

    Longer and shorter sentences are thrown away, so the others keep their proportions. Raises ModelError for a model
    by stupid backoff, whose scores are no probabilities.
    """

    ngrams: Ngrams
    shortest: int = 1
    longest: int = 100
    unknown: bool = False

    def __post_init__(self) -> None:
        if self.ngrams.tables.unseen != 0.0:
            raise ModelError("the n-gram model has scores of stupid backoff, which cannot be drawn from")
        if not 0 <= self.shortest <= self.longest:
            raise ValueError(f"lengths from {self.shortest} to {self.longest}, wanted 0 <= shortest <= longest")

    @cached_property
    def _cumulated(self) -> NDArray[np.float64]:
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


def cumulated(tables: BackoffTables) -> NDArray[np.float64]:
    """(E) p of each event and those before it in its context."""
    sums = np.empty(len(tables.events))
    cumulate(tables.contexts, tables.events, sums)
    return sums


@njit(cache=True, nogil=True)
def cumulate(contexts: Any, events: Any, sums: Any) -> None:
    """Cumulated probabilities within each context."""
    for context in range(len(contexts) - 1):
        total = 0.0
        for i in range(contexts[context]["events"], contexts[context + 1]["events"]):
            log10 = events[i]["log10"]
            if log10 > LOG_ZERO:
                total += 10.0**log10
            sums[i] = total


@njit(cache=True, nogil=True)
def find_share(sums: Any, low: int, high: int, share: float) -> int:
    """The first place in `sums[low:high]` whose value is above `share`, or `high`."""
    while low < high:
        middle = (low + high) >> 1
        if sums[middle] > share:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True, nogil=True)
def draw_event(contexts: Any, events: Any, sums: Any, context: int, path: Any, rng: Any) -> Any:
    """An event drawn from p(· | context): its number; `path` is room for the contexts that are gone through."""
    path[0] = context
    depth = 0
    trials = 0
    while True:
        here = path[depth]
        low = contexts[here]["events"]
        high = contexts[here + 1]["events"]
        if here == 0:
            event = min(find_share(sums, low, high, rng.random() * sums[high - 1]), high - 1)
        else:
            event = find_share(sums, low, high, rng.random())
            if event == high:
                depth += 1
                path[depth] = contexts[here]["parent"]
                continue
        symbol = events[event]["symbol"]
        seen = -1
        for d in range(depth - 1, -1, -1):
            above = path[d]
            if find_event(events, contexts[above]["events"], contexts[above + 1]["events"], symbol) >= 0:
                seen = d
                break
        if seen < 0:
            return event
        trials += 1
        depth = seen + 1 if trials % TRIALS > 0 else 0


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
