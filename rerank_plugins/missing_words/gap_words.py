"""Fills gaps with their k most probable words by the mixture Σ_i v_i P_i(w) of the five contexts and of 1-grams.

The 1-grams, a sixth component, give every word a probability where its contexts are new; they change the order of the
other words little. Contexts that do not occur in the text take no part: the sum is divided by the weights of the others
so that it is a probability. A gap costs one addition for each word that occurs in one of its contexts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import BoolArray, FloatArray, IntArray, LongArray
from rerank_plugins.core.threads import over_ranges
from rerank_plugins.kit.k_best_heap import offer, sort_heap
from rerank_plugins.kit.kernels import filling_kernel, kernel, part, place_in_row
from rerank_plugins.kit.vocabulary.word_ids import SPECIAL
from rerank_plugins.missing_words.tables import CONTEXTS, KEYS, ContextTable

COMPONENTS = (*CONTEXTS, "unigram")
FIRST = len(SPECIAL)  # the number of the first word
GAPS_A_THREAD = 200  # gaps that pay for a thread


class Gaps(NamedTuple):
    """The neighbours of gaps: (n) word numbers; a2 may be `<s>` and b2 `</s>`."""

    a2: IntArray
    a1: IntArray
    b1: IntArray
    b2: IntArray

    def neighbours(self, context: str) -> IntArray:
        """(n, keys) the neighbours that a context conditions on, the nearest first."""
        by_place = {-2: self.a2, -1: self.a1, 1: self.b1, 2: self.b2}
        return np.stack([by_place[place] for place in KEYS[context]], axis=1)


class Filled(NamedTuple):
    """The best words of each gap, the best first.

    `words` (n, k) are numbers of words, -1 beyond the last candidate; `p` (n, k) their probabilities by the mixture;
    `parts` (n, k, 6) by each of COMPONENTS.
    """

    words: IntArray
    p: FloatArray
    parts: FloatArray


def contexts_of_gaps(tables: Mapping[str, ContextTable], gaps: Gaps) -> LongArray:
    """(n, 5) the context of each gap in each table; -1 where it does not occur in the text."""
    columns = [tables[context].contexts_of(gaps.neighbours(context)) for context in CONTEXTS]
    return np.ascontiguousarray(np.stack(columns, axis=1))


def components_seen(contexts: LongArray) -> BoolArray:
    """(n, 6) which of COMPONENTS give the words of a gap probabilities; the 1-grams always do."""
    return np.concatenate([contexts >= 0, np.ones((len(contexts), 1), bool)], axis=1)


def parts_of_words(
    tables: Mapping[str, ContextTable], unigrams: FloatArray, contexts: LongArray, words: IntArray
) -> FloatArray:
    """(n, 6) the probability of one word for each gap by each of COMPONENTS."""
    parts = np.zeros((len(contexts), len(COMPONENTS)))
    for i, context in enumerate(CONTEXTS):
        word_parts(*tables[context].words_arrays, contexts[:, i], words, parts[:, i])
    parts[:, -1] = unigrams[words]
    return parts


def best_words(
    tables: Mapping[str, ContextTable], unigrams: FloatArray, contexts: LongArray, weights: FloatArray, k: int, end: int
) -> Filled:
    """The k best of the words FIRST … end - 1 for each gap, on all cores; equal ones by falling frequency.

    `unigrams` (V) falls from FIRST on; `weights` (6) are those of COMPONENTS, none negative.
    """
    n, width = len(contexts), min(k, end - FIRST)
    words, p = np.full((n, k), -1, np.int32), np.zeros((n, k))
    left2, around, right2, left1, right1 = (tables[context].words_arrays for context in CONTEXTS)

    def fill(start: int, stop: int) -> None:
        some = slice(start, stop)
        fill_gaps(
            left2, around, right2, left1, right1, unigrams, contexts[some], weights, width, end, words[some], p[some]
        )

    over_ranges(fill, np.ones(n), GAPS_A_THREAD)
    norms = (components_seen(contexts) @ weights)[:, None]
    np.divide(p, norms, out=p, where=norms > 0)
    known = np.repeat(contexts, k, axis=0)
    parts = parts_of_words(tables, unigrams, known, np.maximum(words.ravel(), 0))
    parts[words.ravel() < 0] = 0.0
    return Filled(words, p, parts.reshape(n, k, len(COMPONENTS)))


@filling_kernel
def word_parts(
    rows: LongArray,
    totals: LongArray,
    words: IntArray,
    counts: IntArray,
    contexts: LongArray,
    wanted: IntArray,
    p: FloatArray,
) -> None:
    """Fill in the relative frequency of the wanted word in each context."""
    for i in range(len(contexts)):
        context = contexts[i]
        if context < 0:
            continue
        row = place_in_row(rows, words, context, wanted[i])
        if row >= 0:
            p[i] = counts[row] / totals[context]


@part
def add_context(
    table: Any, context: int, weight: float, end: int, sums: FloatArray, touched: IntArray, number: int
) -> int:
    """Add the weighted probabilities of a context's words to `sums`; returns the number of words in `touched`."""
    rows, totals, words, counts = table
    if context < 0 or weight == 0.0:
        return number
    factor = weight / totals[context]
    for row in range(rows[context], rows[context + 1]):
        word = words[row]
        if word < FIRST or word >= end:
            continue
        if sums[word] == 0.0:
            touched[number] = word
            number += 1
        sums[word] += factor * counts[row]
    return number


@kernel
def fill_gaps(
    left2: Any, around: Any, right2: Any, left1: Any, right1: Any, unigrams: FloatArray, contexts: LongArray,
    weights: FloatArray, width: int, end: int, best: IntArray, p: FloatArray,
) -> None:  # fmt: skip
    """Fill in the `width` best words of each gap and their probabilities, sorted.

    Its arguments are the words around gaps and the tables of each context, one array each.
    """
    sums = np.zeros(len(unigrams))
    touched = np.empty(len(unigrams), np.int32)
    for i in range(len(contexts)):
        # Sum up the five contexts.
        number = add_context(left2, contexts[i, 0], weights[0], end, sums, touched, 0)
        number = add_context(around, contexts[i, 1], weights[1], end, sums, touched, number)
        number = add_context(right2, contexts[i, 2], weights[2], end, sums, touched, number)
        number = add_context(left1, contexts[i, 3], weights[3], end, sums, touched, number)
        number = add_context(right1, contexts[i, 4], weights[4], end, sums, touched, number)
        # Words in none of the contexts have 1-grams alone: the most frequent `width` of all words suffice.
        for word in range(FIRST, FIRST + width):
            if sums[word] == 0.0:
                touched[number] = word
                number += 1
        # Select the best.
        size = 0
        for t in range(number):
            word = touched[t]
            size = offer(p[i, :width], best[i, :width], size, sums[word] + weights[5] * unigrams[word], word)
            sums[word] = 0.0
        sort_heap(p[i], best[i], size)
