"""Estimates of the inflection of words from observations, learnt from words with and without FEATS.

A word with its context is a row of observations: its place (part of speech, relation), its form, the form of its
determiner and others. Each of the values b (bundles of FEATS, such as Sing|Masc|Nom) has the posterior

    P(b | o_1 … o_k)  ∝  P(b | o_1) Π_i>1 P(b | o_i) / P(b | kind of o_i)

as if the observations were independent given b. P(b | kind) is the relative frequency among all observations of a kind.
An observation backs off to a more general one, o', as a form does to
its ending:

    P(b | o) = (c(o, b) + κ P(b | o')) / (c(o) + κ)

Rows of words with FEATS have counts of one for their value. Rows of others count with their posteriors (EM; Dempster,
Laird and Rubin 1977), which begin as those of the words with FEATS. They count for an observation at most `OPEN` times
together, so that EM finds the values of words that are rare in a treebank and leaves those of others alone. An
observation hands each more general one at most `CAPPED` occurrences, since rare words' endings must speak for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray

KAPPA = 2.0  # κ, in occurrences
CAPPED = 3.0
OPEN = 20.0
ITERATIONS = 5
MIN_PROBABILITY = 1e-6  # smaller ones are raised to it


@dataclass
class Observations:
    """Numbers observations, each with the more general one that it backs off to (-1: none). 0 observes nothing."""

    numbers: dict[tuple[str, ...], int] = field(default_factory=lambda: {(): 0})
    above: list[int] = field(default_factory=lambda: [-1])
    depth: list[int] = field(default_factory=lambda: [0])

    def number(self, chain: Iterable[tuple[str, ...]]) -> int:
        """The number of the last of a chain of observations, the most general one first; new ones are added."""
        before = 0
        for each in chain:
            known = self.numbers.get(each)
            if known is None:
                known = self.numbers[each] = len(self.above)
                self.above.append(before)
                self.depth.append(self.depth[before] + 1)
            before = known
        return before

    def known(self, chain: Iterable[tuple[str, ...]]) -> int:
        """The number of the most specific observation of a chain that has one."""
        before = 0
        for each in chain:
            before = self.numbers.get(each, before)
        return before


@dataclass(frozen=True, eq=False)
class Estimates:
    """The distributions over `values`: `ln_prior` (O, B) has ln P(b | o), `ln_ratio` ln of P(b | o) / P(b | kind)."""

    values: tuple[str, ...]
    observations: Observations
    ln_prior: FloatArray
    ln_ratio: FloatArray

    def posterior(self, rows: IntArray) -> FloatArray:
        """(n, B) the distribution of each row (n, k) of observations; those that observe nothing are 0."""
        total = self.ln_prior[rows[:, 0]]
        for column in rows.T[1:]:
            total += self.ln_ratio[column]
        total -= total.max(axis=1, keepdims=True, initial=-np.inf)
        np.exp(total, out=total)
        posterior: FloatArray = total / total.sum(axis=1, keepdims=True)
        return posterior


def estimate(observations: Observations, rows: IntArray, value: Sequence[str | None]) -> Estimates:
    """Learn from rows (n, k) of observations, whose `value` is None where a word has no FEATS.

    If no word has FEATS, there are no values.
    """
    values = tuple(sorted({each for each in value if each is not None}))
    number = {each: i for i, each in enumerate(values)}
    label = np.array([-1 if each is None else number[each] for each in value], np.int64)
    given = np.flatnonzero(label >= 0)
    certain = np.zeros((len(given), len(values)))
    certain[np.arange(len(given)), label[given]] = 1.0
    counts = _counts(rows[given], certain, len(observations.above))
    estimates = _from_counts(values, observations, counts)
    open_rows = rows[label < 0]
    for _ in range(ITERATIONS if len(values) and len(open_rows) else 0):
        found = _counts(open_rows, estimates.posterior(open_rows), len(counts))
        found *= np.minimum(1.0, OPEN / np.maximum(found.sum(axis=1, keepdims=True), OPEN))
        estimates = _from_counts(values, observations, counts + found)
    return estimates


def _counts(rows: IntArray, weights: FloatArray, size: int) -> FloatArray:
    """(size, B) the summed weights (n, B) of the rows with each observation; the first has those of all rows."""
    counts = np.zeros((size, weights.shape[1]))
    for column in rows.T:
        order = np.argsort(column, kind="stable")
        distinct, first = np.unique(column[order], return_index=True)
        if len(distinct):
            counts[distinct] += np.add.reduceat(weights[order], first, axis=0)
    counts[0] = weights.sum(axis=0)
    return counts


def _from_counts(values: tuple[str, ...], observations: Observations, counts: FloatArray) -> Estimates:
    """The estimates from the observations' own counts (O, B)."""
    above, depth = np.array(observations.above, np.int64), np.array(observations.depth, np.int64)
    kind = np.arange(len(above))  # the most general observation of each chain
    for level in range(2, depth.max(initial=0) + 1):
        here = np.flatnonzero(depth == level)
        kind[here] = kind[above[here]]
    uniform = 1 / max(1, len(values))
    of_kind = np.zeros_like(counts)
    np.add.at(of_kind, kind, counts)
    of_kind = (of_kind + uniform) / (of_kind.sum(axis=1, keepdims=True) + 1)
    handed_up = counts.copy()
    for level in range(depth.max(initial=0), 1, -1):
        here = np.flatnonzero(depth == level)
        totals = handed_up[here].sum(axis=1, keepdims=True)
        np.add.at(handed_up, above[here], handed_up[here] * np.minimum(1.0, CAPPED / np.maximum(totals, CAPPED)))
    p = np.empty_like(counts)
    p[0] = (counts[0] + uniform) / (counts[0].sum() + 1)
    for level in range(1, depth.max(initial=0) + 1):
        here = np.flatnonzero(depth == level)
        totals = handed_up[here].sum(axis=1, keepdims=True)
        p[here] = (handed_up[here] + KAPPA * p[above[here]]) / (totals + KAPPA)
    ln_p = np.log(np.maximum(p, MIN_PROBABILITY))
    ln_ratio = ln_p - np.log(np.maximum(of_kind[kind], MIN_PROBABILITY))
    ln_ratio[0] = 0.0
    return Estimates(values, observations, ln_p, ln_ratio)
