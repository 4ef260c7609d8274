"""Finds the most probable words for a gap, from one of two sources of candidates.

`ContextFilling` mixes the five contexts of a model of missing words; `SubstituteFilling` takes the exact best
substitutes under an n-gram model (FASTSUBS, Yuret 2012).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from rerank_adapters.applications.restoration.incomplete import Incomplete
from rerank_plugins import ConfigError
from rerank_plugins.core.pickling import PickledFields

if TYPE_CHECKING:
    from rerank_plugins.missing_words.model import MissingWordsModel
    from rerank_plugins.substitutes.fastsubs import FastSubs

COLUMNS = ("sentence", "rank", "position", "word", "ln_p")
PLACEHOLDER = "____"
LEAST = 1e-9  # a probability of zero is written as this


class Candidate(NamedTuple):
    """A word, its ln p in the gap, and the ln p of each part of which that is made (`Filling.parts`)."""

    word: str
    ln_p: float
    parts: tuple[float, ...]


class Filling(Protocol):
    """A source of candidates."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts of a probability."""
        ...

    @property
    def size(self) -> int:
        """The number of words that it can fill with."""
        ...

    def fill(self, sentences: Sequence[Incomplete], gaps: Sequence[int], k: int) -> list[list[Candidate]]:
        """The `k` best candidates for one gap of each sentence, the best first."""
        ...


@dataclass(frozen=True)
class ContextFilling(PickledFields):
    """Candidates by the five contexts, among the `candidates` most frequent words of the model (all for None)."""

    path: Path
    candidates: int | None

    @cached_property
    def model(self) -> MissingWordsModel:
        """The model, mapped into memory. Raises ConfigError for more candidates than it has words."""
        from rerank_plugins.missing_words.model import read_model

        model = read_model(self.path)
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
        words, ln_p = model.vocabulary.words, np.log(np.maximum(filled.p, LEAST)).tolist()
        parts = np.log(np.maximum(filled.parts, LEAST)).tolist()
        return [
            [Candidate(words[number], ln, tuple(row)) for number, ln, row in zip(*rows, strict=True) if number >= 0]
            for rows in zip(filled.words.tolist(), ln_p, parts, strict=True)
        ]


@dataclass(frozen=True)
class SubstituteFilling(PickledFields):
    """Candidates by an n-gram model: ln p of the windows that contain the gap, normalised over the `k` candidates."""

    path: Path

    @cached_property
    def substitutes(self) -> FastSubs:
        """The n-gram model with its queues."""
        from rerank_plugins.ngram.model import NgramModel
        from rerank_plugins.substitutes.fastsubs import FastSubs

        return FastSubs(NgramModel.load(self.path))

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


def filling_source(
    model: Path | None, ngram: Path | None, candidates: int | None, k: int
) -> ContextFilling | SubstituteFilling:
    """The source of `k` words for a gap: the n-gram model if options name one, else the model of missing words.

    The model is read, so that errors come before any work. Raises ConfigError for a number of candidates of an n-gram
    model, and for more words than there are; ModelError for a model that cannot be read.
    """
    if ngram is not None and candidates is not None:
        raise ConfigError("--candidates limits the words of a model of missing words (-m), not of --ngram")
    source: ContextFilling | SubstituteFilling
    if ngram is not None:
        source = SubstituteFilling(ngram)
    else:
        assert model is not None
        source = ContextFilling(model, candidates)
    if k > source.size:
        raise ConfigError(f"-k {k}: there are only {source.size:,} words to fill with")
    return source


@dataclass(frozen=True)
class FillGaps:
    """The task for a batch of sentences whose gaps are known: the `k` best candidates of each."""

    filling: Filling
    k: int

    def __call__(self, batch: list[Incomplete]) -> list[list[Candidate]]:
        """The candidates of each sentence."""
        return self.filling.fill(batch, [sentence.gap or 0 for sentence in batch], self.k)


def as_table(filled: Iterable[tuple[Incomplete, list[Candidate]]]) -> Iterator[str]:
    """A tab-separated line for each candidate, header first."""
    yield "\t".join(COLUMNS) + "\n"
    for sentence, candidates in filled:
        for rank, candidate in enumerate(candidates, 1):
            cells = sentence.id, rank, (sentence.gap or 0) + 2, candidate.word, f"{candidate.ln_p:.6g}"
            yield "\t".join(map(str, cells)) + "\n"


def as_json(filled: Iterable[tuple[Incomplete, list[Candidate]]], parts: Sequence[str]) -> Iterator[str]:
    """A JSON object on a line for each sentence, with the parts of each probability."""
    for sentence, candidates in filled:
        words = [
            {"word": candidate.word, "ln_p": candidate.ln_p, **dict(zip(parts, candidate.parts, strict=True))}
            for candidate in candidates
        ]
        position = (sentence.gap or 0) + 2
        yield json.dumps({"sentence": sentence.id, "position": position, "words": words}, ensure_ascii=False) + "\n"
