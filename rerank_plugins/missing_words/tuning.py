"""Tunes the weights of a model on held-out sentences from which one word was removed.

Location maximises the conditional likelihood of the right gap (monotone_weights.py), for each of several constants of
the votes; filling maximises the likelihood of the removed words (`fit_mixture`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rerank_plugins.core.arrays import BoolArray, FloatArray, IntArray, LongArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.elementary_functions import log
from rerank_plugins.missing_words.gap_words import (
    FIRST,
    Gaps,
    components_seen,
    contexts_of_gaps,
    parts_of_words,
)
from rerank_plugins.missing_words.model import Location, MissingWordsModel
from rerank_plugins.missing_words.monotone_weights import fit_weights
from rerank_plugins.missing_words.word_pairs import gap_offsets

GAMMAS = (0.0, 0.01, 0.03, 0.1, 0.3)  # exponents γ to choose from
ADDED = (0.1, 0.3, 0.5, 1.0)  # added to counts
LOCATED = 10_000  # sentences that the weights of location are tuned on, at most
SHORTEST = 3  # words of a sentence with an inner word
ROUNDS = 100
CLOSE = 1e-6  # of the mean ln p of a word


@dataclass(frozen=True)
class Removed:
    """A sentence without one of its inner words, which stood after `gap` + 1 words."""

    words: tuple[str, ...]
    gap: int
    word: str

    @property
    def complete(self) -> tuple[str, ...]:
        """The sentence with the word."""
        return (*self.words[: self.gap + 1], self.word, *self.words[self.gap + 1 :])


def remove_inner_word(words: Sequence[str], rng: np.random.Generator) -> Removed | None:
    """Remove a word that is neither the first nor the last; None for a sentence of fewer than three words."""
    if len(words) < SHORTEST:
        return None
    place = int(rng.integers(1, len(words) - 1))
    return Removed((*words[:place], *words[place + 1 :]), place - 1, words[place])


def remove_words(sentences: Iterable[Sequence[str]], seed: int) -> list[Removed]:
    """The sentences that have an inner word, each without one."""
    rng = np.random.default_rng(seed)
    return [removed for words in sentences if (removed := remove_inner_word(words, rng)) is not None]


def tuned(model: MissingWordsModel, held_out: Sequence[Removed], gammas: Sequence[float] = GAMMAS) -> MissingWordsModel:
    """The model with weights tuned on sentences that it was not counted on.

    Raises ModelError where there are none, or where none of the removed words is in the vocabulary.
    """
    if not held_out:
        raise ModelError("no held-out sentence has three words or more: there is nothing to tune weights on")
    located = held_out[:LOCATED]
    tokens = model.encode([removed.words for removed in located])
    right = gap_offsets(tokens)[:-1] + np.array([removed.gap for removed in located])
    window = model.pairs.window // 2
    locations = {
        "ngram": fit_location(model, tokens, right, [_start("votes", gamma, 1, False) for gamma in gammas]),
        "distance": fit_location(model, tokens, right, [_start("votes", gamma, window, True) for gamma in gammas]),
        "odds": fit_location(model, tokens, right, [_start("log-odds", added, window, True) for added in ADDED]),
    }
    number_of = model.vocabulary.number_of
    known = [removed for removed in held_out if number_of(removed.word) >= FIRST]
    if not known:
        raise ModelError("none of the words removed from held-out sentences is in the vocabulary")
    neighbours = model.neighbours([removed.words for removed in known], [removed.gap for removed in known])
    words = np.array([number_of(removed.word) for removed in known], np.int32)
    return replace(model, locations=locations, mixture=fit_mixture(*mixture_parts(model, neighbours, words)))


def _start(function: Literal["votes", "log-odds"], constant: float, half: int, edges: bool) -> Location:
    return Location(function, constant, np.zeros((half, half)), edges)


def fit_location(model: MissingWordsModel, tokens: IntArray, right: LongArray, choices: Sequence[Location]) -> Location:
    """The setting, among these, of the greatest likelihood, with its weights.

    `tokens` are sentences without a word, `right` the rows of the gaps where it was. The choices differ in the constant
    alone; their weights are not read.
    """
    offsets, first = gap_offsets(tokens), choices[0]
    votes = model.pairs.votes(tokens, first.half, edges=first.edges)
    best, value, factors = first, -np.inf, None
    for choice in choices:
        weights, factors, reached = fit_weights(choice.features(*votes), offsets, right, factors)
        if reached > value:
            best, value = replace(choice, weights=weights), reached
    return best


def mixture_parts(model: MissingWordsModel, gaps: Gaps, words: IntArray) -> tuple[FloatArray, BoolArray]:
    """(n, 6) the probability of each word in its gap by each of filling.COMPONENTS, and whether the context occurs."""
    contexts = contexts_of_gaps(model.tables, gaps)
    return parts_of_words(model.tables, model.unigrams, contexts, words), components_seen(contexts)


def fit_mixture(parts: FloatArray, seen: BoolArray) -> FloatArray:
    """(m) weights v, which sum to one, that maximise Σ_s ln (Σ_i v_i P_si / Σ_i v_i [component i has seen context s]).

    `parts` and `seen` are (n, m); a component gives probability to words of the contexts that it has seen alone. Each
    round bounds both logarithms at the present weights, the first as EM does, the second by its tangent, and maximises
    the bound, so that the likelihood never falls.
    """
    weights = np.full(parts.shape[1], 1 / parts.shape[1])
    before = -np.inf
    for _ in range(ROUNDS):
        p = parts * weights
        totals, norms = p.sum(axis=1), np.einsum("sc,c->s", seen, weights)
        mean = float((log(totals) - log(norms)).mean())
        if mean - before < CLOSE:
            break
        before = mean
        gains, costs = (p / totals[:, None]).sum(axis=0), (seen / norms[:, None]).sum(axis=0)
        weights = np.divide(gains, costs, out=np.zeros_like(gains), where=costs > 0)
        weights /= weights.sum()
    return weights
