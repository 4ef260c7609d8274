"""Inside probabilities of a sentence (Baker 1979), column by column: all spans that end at a word, then at the next.

I(s, i, j) = p(s derives words i … j-1): of a binary rule or an emission, then of all chains of unary rules above it.

    V(a, i, j) = Σ_{a → l r} p(a → l r) Σ_{i<k<j} I(l, i, k) I(r, k, j)       V(a, i, i+1) = p(w_i | a)
    I(s, i, j) = Σ_a R(s, a) V(a, i, j),   R = (I − U)^-1                      (closure.py)

The emissions of each word are multiplied by a scale of the word's own, so that values stay near one: each derivation of
a span contains the product of its words' scales as a factor, and sums need no logarithms. A cell depends only on the
words that it spans, so hypotheses of an n-best list share the cells over words that they have in the same places: those
of a common prefix, and others (`Chart.fill`). The cost is O(n^2 (B + P n)) for B binary rules with P pairs of children.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.arrays import IntArray
from rerank_plugins.interfaces import Sentence
from rerank_plugins.models.pcfg.closure import apply_chains
from rerank_plugins.models.pcfg.grammar import ROOT, Grammar
from rerank_plugins.models.pcfg.rules import Rules, compile_rules

START = math.exp(3.0)  # makes up for the probability of the rules, which is about exp(-3) a word
SMALL, LARGE = 1e-100, 1e100  # a column with values out of this range is rescaled


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def sum_of_splits(rules: Any, rows: Any, columns: Any, seen: Any, i: int, j: int, below: Any) -> None:
    """Set below[a] = Σ over rules a → l r and split points k of p · rows[l, k] · columns[r, k], for i < k < j.

    `rows` (S, …) holds the left children that begin at i, `columns` (S, …) the right children that end at j; `seen` (S)
    marks the left symbols that derive some span from i. A narrow symbol spans one word, so it has one split point.
    """
    below[:] = 0.0
    for left in range(len(seen)):
        if not seen[left]:
            continue
        row = rows[left]
        for pair in range(rules.pair_starts[left], rules.pair_starts[left + 1]):
            # The sum over split points, once for all rules with this pair of children.
            right = rules.pair_right[pair]
            if rules.narrow[left]:
                total = 0.0 if rules.narrow[right] and j - i > 2 else row[i + 1] * columns[right, i + 1]
            elif rules.narrow[right]:
                total = row[j - 1] * columns[right, j - 1]
            else:
                column = columns[right]
                total = 0.0
                for k in range(i + 1, j):
                    total += row[k] * column[k]
            # V(a, i, j) of the parents of this pair.
            if total != 0.0:
                for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                    below[rules.rule_parent[rule]] += rules.rule_p[rule] * total


@njit(cache=True, nogil=True)
def emit(rules: Any, word: int, scale: float, below: Any) -> None:
    """Set below[a] = p(word | a) · scale."""
    below[:] = 0.0
    for e in range(rules.word_starts[word], rules.word_starts[word + 1]):
        below[rules.word_symbol[e]] = rules.word_p[e] * scale


@njit(cache=True, nogil=True)
def first_scale(rules: Any, word: int) -> float:
    """Return the scale that brings the largest emission of the word to START."""
    largest = 0.0
    for e in range(rules.word_starts[word], rules.word_starts[word + 1]):
        largest = max(largest, rules.word_p[e])
    return START / largest if largest > 0.0 else 1.0


@njit(cache=True, nogil=True)
def fill_columns(rules: Any, words: Any, kept: Any, from_start: Any, to_end: Any, seen: Any, scales: Any) -> int:
    """Fill from_start[i, s, j] = to_end[j, s, i] = scaled I(s, i, j); return the number of cells that were kept.

    Cells (i, j) with j <= kept[i] hold valid values of the sentence before. `seen[i, s]` marks that s derives some span
    from i; `scales[j]` is the scale of word j - 1.
    """
    size, n, shared = seen.shape[1], len(words), 0
    below, above, maxima = np.empty(size), np.empty(size), np.zeros(n)
    for j in range(1, n + 1):
        # A new word gets a new scale.
        if kept[j - 1] < j:
            scales[j] = first_scale(rules, words[j - 1])
        new = False
        for i in range(j - 1, -1, -1):
            if j <= kept[i]:
                shared += 1
                continue
            new = True
            # V(a, i, j): emissions or binary rules.
            if i == j - 1:
                seen[i] = False
                emit(rules, words[i], scales[j], below)
            else:
                sum_of_splits(rules, from_start[i], to_end[j], seen[i], i, j, below)
            # I(s, i, j) = Σ_a R(s, a) V(a, i, j).
            apply_chains(rules.chains, below, above)
            for s in range(size):
                if i == j - 1 or not rules.narrow[s]:
                    from_start[i, s, j] = to_end[j, s, i] = above[s]
                    if above[s] != 0.0:
                        seen[i, s] = True
        if new:
            _rescale(rules, j, kept, from_start, to_end, scales, maxima)
    return shared


@njit(cache=True, nogil=True)
def _rescale(rules: Any, j: int, kept: Any, from_start: Any, to_end: Any, scales: Any, maxima: Any) -> None:
    """If values of column j are too small or too large, multiply the scale of its word by a power of two."""
    size = len(rules.narrow)
    # The smallest and the largest of the cells' maxima.
    least, most = math.inf, 0.0
    maxima[:j] = 0.0
    for s in range(size):
        if rules.narrow[s]:
            maxima[j - 1] = max(maxima[j - 1], to_end[j, s, j - 1])
        else:
            for i in range(j):
                maxima[i] = max(maxima[i], to_end[j, s, i])
    for i in range(j):
        if maxima[i] > 0.0:
            least, most = min(least, maxima[i]), max(most, maxima[i])
    if most == 0.0 or (least >= SMALL and most <= LARGE):
        return
    # Multiplication by a power of two is exact, so the order of sentences does not change the values.
    power = -round((math.log(least) + math.log(most)) / (2.0 * math.log(2.0)))
    scales[j] = math.ldexp(scales[j], power)
    for i in range(j):
        kept[i] = min(kept[i], j)  # cells that end later still contain the old scale
        for s in range(size):
            if i == j - 1 or not rules.narrow[s]:
                to_end[j, s, i] = math.ldexp(to_end[j, s, i], power)
                from_start[i, s, j] = to_end[j, s, i]


class Chart:
    """The inside probabilities of one sentence after another; cells over the same words in the same places are reused.

    `cells` counts the cells of all sentences, `shared` those that were reused from the sentence before. `kept` (n): in
    the last sentence, the cells (i, j) with j <= kept[i] were reused.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.words = np.zeros(0, np.int32)
        self.kept = np.zeros(0, np.int64)
        self.cells = self.shared = 0
        self._make_room(0)

    def _make_room(self, length: int) -> None:
        size = len(self.rules.narrow)
        self.from_start = np.zeros((length, size, length + 1))
        self.to_end = np.zeros((length + 1, size, length))
        self.seen = np.zeros((length, size), np.bool_)
        self.scales = np.ones(length + 1)
        self.words = self.words[:0]

    def fill(self, words: IntArray) -> None:
        """Compute the inside probabilities of a sentence, given by its words' numbers in the lexicon."""
        n = len(words)
        if n > len(self.seen):
            self._make_room(max(n, 24))
        # kept[i]: the first position from i on where this sentence and the one before differ.
        both = min(n, len(self.words))
        differ = np.append(np.flatnonzero(self.words[:both] != words[:both]), both)
        self.kept = differ[np.minimum(np.searchsorted(differ, np.arange(n)), len(differ) - 1)]
        self.words = words
        self.shared += fill_columns(self.rules, words, self.kept, self.from_start, self.to_end, self.seen, self.scales)
        self.cells += n * (n + 1) // 2

    def log_scale(self) -> float:
        """Return ln of the product of the words' scales, a factor of all values over the whole sentence."""
        return float(np.log(self.scales[1 : len(self.words) + 1]).sum())

    def log_probability(self) -> float:
        """Return ln p of the whole sentence; -inf if the grammar cannot derive it, or if it is empty."""
        n = len(self.words)
        total = float(self.from_start[0, ROOT, n]) if n else 0.0
        return math.log(total) - self.log_scale() if total > 0 else -math.inf


def sharing_order(sentences: Sequence[Sentence]) -> list[int]:
    """Return the positions of the sentences in the order in which a chart reuses most cells: by length, then words."""
    return sorted(range(len(sentences)), key=lambda place: (len(sentences[place]), tuple(sentences[place])))


def inside(grammar: Grammar, sentence: Sentence) -> float:
    """Return ln p(sentence), summed over all its trees; -inf if there is none."""
    chart = Chart(compile_rules(grammar))
    chart.fill(grammar.lexicon.ids(sentence))
    return chart.log_probability()
