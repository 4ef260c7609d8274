"""Tunes the weights of a model on held-out sentences from which one word was removed.

Filling maximises the likelihood of the removed words. Location maximises Σ_s ln p(l_s | s) with p(l | s) ∝ exp(Σ v(a,
b) S_l(a, b)) over the gaps l of a sentence s. The weights v(a, b) of word pairs in a window are not negative and never
rise with the distance a + b + 1 of the pair (Song 2016). They form a cone: all sums, with factors θ >= 0, of indicators
of sets of cells that consist of all cells below some distance and any of the cells at it. The function is concave in θ,
and is fitted by accelerated projected gradients (Nesterov 1983) with restarts (O'Donoghue and Candès 2015).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Literal

import numpy as np

from rerank_plugins import BoolArray, FloatArray, IntArray, LongArray, ModelError
from rerank_plugins.missing_words.gap_words import FIRST, Gaps, components_seen, contexts_of_gaps, parts_of_words
from rerank_plugins.missing_words.model import Location, MissingWordsModel, ln_posteriors
from rerank_plugins.missing_words.tables import gap_offsets

STEPS = 500
SHORTEST_STEP = 1e-9
GAMMAS = (0.0, 0.01, 0.03, 0.1, 0.3)  # exponents γ to choose from
ADDED = (0.1, 0.3, 0.5, 1.0)  # added to counts
LOCATED = 10_000  # sentences that the weights of location are tuned on, at most
SHORTEST = 3  # words of a sentence with an inner word
ROUNDS = 100
CLOSE = 1e-6  # of the mean ln p of a gap or of a word


def cone(half: int) -> FloatArray:
    """(generators, half · half) the indicators whose sums with non-negative factors are the weights in question.

    >>> cone(2).astype(int).tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    """
    distance = np.add.outer(np.arange(half), np.arange(half)).ravel()
    rows = []
    for d in range(2 * half - 1):
        cells = np.flatnonzero(distance == d)
        for chosen in chain.from_iterable(combinations(cells, size) for size in range(1, len(cells) + 1)):
            row = (distance < d).astype(np.float64)
            row[list(chosen)] = 1.0
            rows.append(row)
    return np.array(rows)


def fit_weights(
    features: FloatArray, offsets: LongArray, right: LongArray, start: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, float]:
    """Fit weights of the features (gaps, n, n) in that cone; return them, their factors θ, and the mean ln p(l | s).

    `offsets` (sentences + 1) are where the gaps of each sentence begin, `right` (sentences) the gap at which a word is
    missing, as a row of `features`; `start` are the factors to start from.
    """
    half = features.shape[1]
    generators = cone(half)
    rows = features.reshape(len(features), -1)
    theta = ahead = np.zeros(len(generators)) if start is None else start
    momentum, step = 1.0, 1.0
    value = log_likelihood(rows, offsets, right, theta @ generators)[0]
    for _ in range(STEPS):
        here, slope = log_likelihood(rows, offsets, right, ahead @ generators)
        gradient = generators @ slope
        while True:  # a step so short that the quadratic bound holds
            new = np.maximum(ahead + step * gradient, 0.0)
            moved = new - ahead
            reached = log_likelihood(rows, offsets, right, new @ generators)[0]
            if reached >= here + (gradient * moved - moved * moved / (2 * step)).sum() - 1e-12 or step < SHORTEST_STEP:
                break
            step /= 2
        if reached < value:  # the momentum has gone too far: start again from the best point
            if momentum == 1.0:
                break
            ahead, momentum = theta, 1.0
            continue
        gain = reached - value
        next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / next_momentum * (new - theta)
        theta, value, momentum = new, reached, next_momentum
        step *= 1.3
        if gain < CLOSE:
            break
    return (theta @ generators).reshape(half, half), theta, value


def log_likelihood(
    rows: FloatArray, offsets: LongArray, right: LongArray, weights: FloatArray
) -> tuple[float, FloatArray]:
    """The mean over sentences of ln p(l | s), for weights of the columns of `rows`, and its gradient."""
    ln_p = ln_posteriors(rows @ weights, offsets)
    gradient = (rows[right].sum(axis=0) - np.exp(ln_p) @ rows) / (len(offsets) - 1)
    return float(ln_p[right].mean()), gradient


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
    """(n, 6) the probability of each word in its gap by each of COMPONENTS, and whether the context occurs."""
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
        mean = float((np.log(totals) - np.log(norms)).mean())
        if mean - before < CLOSE:
            break
        before = mean
        gains, costs = (p / totals[:, None]).sum(axis=0), (seen / norms[:, None]).sum(axis=0)
        weights = np.divide(gains, costs, out=np.zeros_like(gains), where=costs > 0)
        weights /= weights.sum()
    return weights
