"""The insertions of a sentence as an n-best list: the most probable words for each of the most probable gaps.

Its features are ln p of the gap by each method of location, ln p of the word in the gap, and the parts of the latter; a
hypothesis's score is the first of each together, ln p(gap) + ln p(word | gap). Lists are sorted by that score.

Two gaps lead to one sentence where the word equals a neighbour (`that` before or after `that`). Such insertions are one
hypothesis, whose probability is their sum:

    ln p(sentence) = ln Σ_g p(g) p(w | g),    ln p(gap) = ln Σ_g p(g),    part = ln (Σ_g p(g) part(w | g) / Σ_g p(g))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rerank_adapters.applications.missing_words.filling import Candidate, Filling
from rerank_adapters.applications.missing_words.incomplete import Incomplete
from rerank_adapters.applications.missing_words.locate import Locating
from rerank_plugins import Hypothesis, NBestList
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.pickling import PickledFields

DIGITS = 6  # of a feature after the point


class Insertion(NamedTuple):
    """A word in a gap; `ln_gap` has ln p of the gap by each method, the chosen one first."""

    gap: int
    ln_gap: tuple[float, ...]
    candidate: Candidate

    @property
    def score(self) -> float:
        """Ln p(gap) + ln p(word | gap)."""
        return self.ln_gap[0] + self.candidate.ln_p


class Insertions(NamedTuple):
    """The list of a sentence, whose id it has, and the gap and the word of each hypothesis; empty without a gap."""

    nbest: NBestList
    places: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Inserting(PickledFields):
    """The task for a batch of sentences: their insertions, `gaps` × `words` for each at most (0 gaps: all gaps).

    A sentence whose gap is known keeps that gap alone where `at_known_gaps` is set.
    """

    locating: Locating
    filling: Filling
    gaps: int
    words: int
    at_known_gaps: bool = False

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """The methods of location, the chosen one first."""
        from rerank_plugins.missing_words.model import METHODS

        return (self.locating.method, *(method for method in METHODS if method != self.locating.method))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return (*(f"location-{method}" for method in self.methods), "filling", *self.filling.parts)

    def __call__(self, batch: list[Incomplete]) -> list[Insertions]:
        """The insertions of each sentence."""
        words = [sentence.words for sentence in batch]
        located = [self.locating.model.locate(words, method) for method in self.methods]  # type: ignore[arg-type]
        chosen = [self._gaps(sentence, ln_p) for sentence, ln_p in zip(batch, located[0], strict=True)]
        owners = [number for number, gaps in enumerate(chosen) for _ in gaps]
        flat = [gap for gaps in chosen for gap in gaps]
        filled = self.filling.fill([batch[owner] for owner in owners], flat, self.words)
        by_text: list[dict[str, list[Insertion]]] = [{} for _ in batch]
        for owner, gap, candidates in zip(owners, flat, filled, strict=True):
            ln_gap = tuple(float(ln_p[owner][gap]) for ln_p in located)
            for candidate in candidates:
                text = batch[owner].restored(gap, candidate.word)
                by_text[owner].setdefault(text, []).append(Insertion(gap, ln_gap, candidate))
        return [self._listed(sentence, found) for sentence, found in zip(batch, by_text, strict=True)]

    def _gaps(self, sentence: Incomplete, ln_p: FloatArray) -> list[int]:
        if self.at_known_gaps and sentence.gap is not None:
            return [sentence.gap]
        best: list[int] = np.argsort(-ln_p, kind="stable")[: self.gaps or None].tolist()
        return best

    def _listed(self, sentence: Incomplete, by_text: dict[str, list[Insertion]]) -> Insertions:
        joined = sorted((hypothesis_of(text, same) for text, same in by_text.items()), key=lambda one: -one[1])
        hypotheses = tuple(hypothesis for hypothesis, _, _ in joined)
        places = tuple((best.gap, best.candidate.word) for _, _, best in joined)
        return Insertions(NBestList(sentence.id, hypotheses, self.names, line=sentence.line), places)


def hypothesis_of(text: str, insertions: Sequence[Insertion]) -> tuple[Hypothesis, float, Insertion]:
    """The hypothesis of the insertions that lead to a text, its score, and the most probable of them."""
    best = max(insertions, key=lambda one: one.score)
    score, ln_gap, (_, ln_word, parts) = best.score, best.ln_gap, best.candidate
    if len(insertions) > 1:
        ln_gaps = np.array([one.ln_gap for one in insertions])
        ln_gap = tuple(np.logaddexp.reduce(ln_gaps).tolist())
        score = float(np.logaddexp.reduce([one.score for one in insertions]))
        ln_word = score - ln_gap[0]
        of_parts = np.array([one.candidate.parts for one in insertions])
        parts = tuple((np.logaddexp.reduce(ln_gaps[:, :1] + of_parts) - ln_gap[0]).tolist())
    score = round(score, DIGITS)
    return Hypothesis(text, tuple(round(value, DIGITS) for value in (*ln_gap, ln_word, *parts)), score), score, best
