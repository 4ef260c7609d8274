"""Scores text by any language model: probabilities of words and sentences, unknown words, perplexity.

Perplexity is computed as by SRILM, without unknown words, and as by KenLM, with unknown words at the probability that
the model gives them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from rerank_adapters.features.unknown_words import warn_if_foreign
from rerank_adapters.text import TextPipeline
from rerank_plugins import FloatArray, LanguageModel, SentenceModel
from rerank_plugins.core.contracts import checked_scores, checked_totals
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.core.words import model_words

NO_STEPS = TextPipeline()
LN_ZERO = -99.0 * LN10  # a word whose ln p is not above this is impossible
SENTENCES_OF_FIRST_BLOCK = 8  # each further block is twice as large, so that progress soon shows
SENTENCES_OF_BLOCK = 2048  # of the largest one
Block = tuple[list[list[str]], list[list[bool]]]  # sentences, and of each word of them whether it is unknown


@dataclass
class Totals:
    """Sums over sentences; `of_oovs` (ln) is of unknown words, `logprob` (ln) of those that are known and possible."""

    sentences: int = 0
    words: int = 0
    oovs: int = 0
    zeroprobs: int = 0
    logprob: float = 0.0
    of_oovs: float = 0.0

    def add(self, other: Totals) -> None:
        """Add the sums of other sentences."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    @property
    def excluding(self) -> float:
        """The perplexity without unknown words, in which `</s>` counts as a word: SRILM's ppl."""
        return _perplexity(self.logprob, self.words - self.oovs - self.zeroprobs + self.sentences)

    @property
    def excluding_ends(self) -> float:
        """The same where `</s>` does not count as a word, although its probability is included: SRILM's ppl1."""
        return _perplexity(self.logprob, self.words - self.oovs - self.zeroprobs)

    @property
    def including(self) -> float:
        """The perplexity with unknown words, at the probability that the model gives them."""
        return _perplexity(self.logprob + self.of_oovs, self.words - self.zeroprobs + self.sentences)

    def summary(self) -> str:
        """One line for a report."""
        return (
            f"{self.words:,} words, {self.oovs:,} OOVs ({self.oovs / max(self.words, 1):.2%}), perplexity "
            f"{self.including:.2f} with OOVs, {self.excluding:.2f} without"
        )


def _perplexity(logprob: float, count: int) -> float:
    return math.exp(-logprob / count) if count > 0 else math.nan


@dataclass(frozen=True)
class Scored:
    """A sentence: words and `</s>`, and of each its ln p, whether it is unknown, and the length of the matched n-gram.

    `lengths` is None where the model does not tell the lengths.
    """

    words: tuple[str, ...]
    ln_p: FloatArray
    unknown: tuple[bool, ...]
    lengths: Sequence[int] | None

    @property
    def totals(self) -> Totals:
        """The sums of this sentence alone."""
        unknown = np.array(self.unknown)
        zero = ~unknown & (self.ln_p <= LN_ZERO)
        return Totals(
            1, len(self.words) - 1, int(unknown.sum()), int(zero.sum()),
            float(self.ln_p[~unknown & ~zero].sum()), float(self.ln_p[unknown].sum()),
        )  # fmt: skip


class Total(NamedTuple):
    """A sentence: how many words and unknown words it has, and its ln p."""

    words: int
    oovs: int
    ln_p: float


def _blocks(model: SentenceModel, lines: Iterable[str], text: TextPipeline) -> Iterator[Block]:
    """The words of the lines after the text steps, in blocks of growing size."""
    known: dict[str, bool] = {}
    lines = iter(lines)
    size, warned = SENTENCES_OF_FIRST_BLOCK, False
    while block := [model_words(line) for line in text.apply([line.rstrip("\r\n") for line in islice(lines, size)])]:
        size = min(2 * size, SENTENCES_OF_BLOCK)
        if not warned:
            warn_if_foreign(model, [" ".join(words) for words in block])
            warned = True
        for word in {word for words in block for word in words} - known.keys():
            known[word] = word in model
        yield block, [[not known[word] for word in words] for words in block]


def score_lines(
    model: LanguageModel, lines: Iterable[str], text: TextPipeline = NO_STEPS, *, lengths: bool = False
) -> Iterator[Scored]:
    """Yield each line scored after the text steps; with `lengths`, with lengths of matched n-grams if the model can."""
    matches: Callable[..., Any] | None = getattr(model, "matches", None) if lengths else None
    for block, oovs in _blocks(model, lines, text):
        matched_lengths = matches(block) if matches else [None] * len(block)
        for words, ln_p, unknown, matched in zip(
            block, checked_scores(model, block), oovs, matched_lengths, strict=True
        ):
            yield Scored((*words, "</s>"), ln_p, (*unknown, False), matched)


def total_lines(model: SentenceModel, lines: Iterable[str], text: TextPipeline) -> Iterator[Total]:
    """Yield the total of each line after the text steps."""
    for block, oovs in _blocks(model, lines, text):
        for unknown, ln_p in zip(oovs, checked_totals(model, block).tolist(), strict=True):
            yield Total(len(unknown), sum(unknown), ln_p)


def perplexity(model: LanguageModel, lines: Iterable[str]) -> Totals:
    """The sums over all lines."""
    totals = Totals()
    for scored in score_lines(model, lines):
        totals.add(scored.totals)
    return totals
