"""The sources of words for gaps.

`ContextFilling` mixes the five contexts of a model of missing words; `SubstituteFilling` takes the exact best
substitutes under an n-gram model (FASTSUBS, Yuret 2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerank_adapters.applications.missing_words.incomplete import Incomplete
from rerank_plugins import ConfigError
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.ngram.model import NgramModel

if TYPE_CHECKING:
    from rerank_plugins.missing_words.model import MissingWordsModel
    from rerank_plugins.substitutes.fastsubs import FastSubs

PLACEHOLDER = "____"
MIN_PROBABILITY = 1e-9  # a probability of zero is written as this


class Candidate(NamedTuple):
    """A word, its ln p in the gap, and the ln p of each part of which that is made (`parts` of its source)."""

    word: str
    ln_p: float
    parts: tuple[float, ...]


@dataclass(frozen=True)
class ContextFilling(PickledFields):
    """Candidates by the five contexts, among the `candidates` most frequent words of the model (all for None)."""

    source: Path | MissingWordsModel
    candidates: int | None

    @cached_property
    def model(self) -> MissingWordsModel:
        """The model; that of a file is mapped into memory. Raises ConfigError for more candidates than it has words."""
        from rerank_plugins.missing_words.model import read_model

        model = read_model(self.source) if isinstance(self.source, Path) else self.source
        model.checked_candidates(self.candidates)
        return model

    @property
    def parts(self) -> tuple[str, ...]:
        """The five contexts and 1-grams."""
        from rerank_plugins.missing_words.gap_words import COMPONENTS

        return COMPONENTS

    @property
    def size(self) -> int:
        """The number of candidates."""
        return self.model.checked_candidates(self.candidates)

    def fill(self, sentences: Sequence[Incomplete], gaps: Sequence[int], k: int) -> list[list[Candidate]]:
        """The candidates with ln p by the mixture; a part that does not have the word has ln 1e-9."""
        model = self.model
        neighbours = model.neighbours([sentence.words for sentence in sentences], gaps)
        filled = model.fill(neighbours, k, self.candidates)
        words, ln_p = model.vocabulary.words, np.log(np.maximum(filled.p, MIN_PROBABILITY)).tolist()
        parts = np.log(np.maximum(filled.parts, MIN_PROBABILITY)).tolist()
        return [
            [Candidate(words[number], ln, tuple(row)) for number, ln, row in zip(*rows, strict=True) if number >= 0]
            for rows in zip(filled.words.tolist(), ln_p, parts, strict=True)
        ]


@dataclass(frozen=True)
class SubstituteFilling(PickledFields):
    """Candidates by an n-gram model: ln p of the windows that contain the gap, normalised over the `k` candidates."""

    source: Path | NgramModel

    @cached_property
    def substitutes(self) -> FastSubs:
        """The n-gram model with its queues."""
        from rerank_plugins.substitutes.fastsubs import FastSubs

        return FastSubs(NgramModel.load(self.source) if isinstance(self.source, Path) else self.source)

    @property
    def parts(self) -> tuple[str, ...]:
        """The ln p of the windows as it is."""
        return ("windows",)

    @property
    def size(self) -> int:
        """The number of words of the n-gram model."""
        from rerank_plugins.missing_words.gap_words import FIRST

        return len(self.substitutes.ngrams.vocabulary) - FIRST

    def fill(self, sentences: Sequence[Incomplete], gaps: Sequence[int], k: int) -> list[list[Candidate]]:
        """The exact best substitutes."""
        model = self.substitutes
        texts = [
            (*sentence.words[: gap + 1], PLACEHOLDER, *sentence.words[gap + 1 :])
            for sentence, gap in zip(sentences, gaps, strict=True)
        ]
        tokens = model.encode(texts)
        starts = np.cumsum([0, *(len(text) + 2 for text in texts)])[:-1]  # of `<s>`
        best = model.top_places(tokens, starts + np.asarray(gaps, np.int64) + 2, k)
        words = model.ngrams.vocabulary.words
        ln_p = best.ln_p - np.logaddexp.reduce(best.ln_p, axis=1, keepdims=True) if len(texts) else best.ln_p
        return [
            [Candidate(words[number], ln, (raw,)) for number, ln, raw in zip(*rows, strict=True) if number >= 0]
            for rows in zip(best.words.tolist(), ln_p.tolist(), best.ln_p.tolist(), strict=True)
        ]


Filling = ContextFilling | SubstituteFilling  # a source of the best words for one gap of each sentence, best first


def best_words(source: Filling, k: int, batch: list[Incomplete]) -> list[list[Candidate]]:
    """The `k` best candidates for each sentence of a batch, whose gaps are known."""
    return source.fill(batch, [sentence.gap or 0 for sentence in batch], k)


def filling_of_options(model: Path | None, ngram: Path | None, candidates: int | None, k: int) -> Filling:
    """The source of `k` words for a gap: the n-gram model if options name one, else the model of missing words.

    The model is read, so that errors come before any work. Raises ConfigError for a number of candidates of an n-gram
    model, and for more words than there are; ModelError for a model that cannot be read.
    """
    if ngram is not None and candidates is not None:
        raise ConfigError("--max-candidates limits the words of a model of missing words (-M), not of --ngram")
    source = SubstituteFilling(ngram) if ngram is not None else ContextFilling(model or Path(), candidates)
    if k > source.size:
        raise ConfigError(f"--top {k}: there are only {source.size:,} words to fill with")
    return source
