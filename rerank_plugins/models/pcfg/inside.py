"""Inside probabilities of a sentence (Baker 1979), column by column: all spans that end at a word, then at the next.

I(s, i, j) = p(s derives words i … j-1): of a binary rule or an emission, then of all chains of unary rules above it.

    V(a, i, j) = Σ_{a → l r} p(a → l r) Σ_{i<k<j} I(l, i, k) I(r, k, j)       V(a, i, i+1) = p(w_i | a)
    I(s, i, j) = Σ_a R(s, a) V(a, i, j),   R = (I − U)^-1                      (closure.py)

Every word's emissions are multiplied by a scale of its own, so that numbers stay near one: each derivation of a span
has the product of its words' scales as a factor, and sums need no logarithms. A column depends on the words up to its
end alone, so sentences that begin alike share columns (`Chart.fill`). O(n^2 (B + P n)) for B rules with P pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.feature_table import FloatArray
from rerank_plugins.interfaces import Sentence
from rerank_plugins.models.pcfg.closure import apply_chains
from rerank_plugins.models.pcfg.grammar import ROOT, Grammar
from rerank_plugins.models.pcfg.lexicon import IntArray
from rerank_plugins.models.pcfg.rules import Rules, compile_rules

START = math.exp(3.0)  # what rules cost for a word, about
SMALL, LARGE = 1e-100, 1e100  # a column out of this range is scaled anew


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def sum_of_splits(rules: Any, rows: Any, columns: Any, seen: Any, i: int, j: int, below: Any) -> None:
    """below[a] = Σ over rules a → l r and split points k of p · rows[l, k] · columns[r, k], for i < k < j.

    `rows` (S, …) of left children that begin at i, `columns` (S, …) of right children that end at j; `seen` (S) are the
    left symbols that some span from i has. Narrow symbols have one split point: others are not read.
    """
    below[:] = 0.0
    for left in range(len(seen)):
        if not seen[left]:
            continue
        row = rows[left]
        for pair in range(rules.pair_starts[left], rules.pair_starts[left + 1]):
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
            if total != 0.0:
                for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                    below[rules.rule_parent[rule]] += rules.rule_p[rule] * total


@njit(cache=True, nogil=True)
def emit(rules: Any, word: int, scale: float, below: Any) -> None:
    """below[a] = p(word | a) · scale."""
    below[:] = 0.0
    for e in range(rules.word_starts[word], rules.word_starts[word + 1]):
        below[rules.word_symbol[e]] = rules.word_p[e] * scale


@njit(cache=True, nogil=True)
def first_scale(rules: Any, word: int) -> float:
    """A scale that brings the word's largest emission to START."""
    largest = 0.0
    for e in range(rules.word_starts[word], rules.word_starts[word + 1]):
        largest = max(largest, rules.word_p[e])
    return START / largest if largest > 0.0 else 1.0


@njit(cache=True, nogil=True)
def fill_columns(
    rules: Any, words: Any, first: int, from_start: Any, to_end: Any, seen: Any, log_scales: Any, maxima: Any
) -> None:
    """Columns first + 1 to n: from_start[i, s, j] = to_end[j, s, i] = scaled I(s, i, j).

    `seen[i, s]`: some span from i has s; `log_scales[j]` ln of the scale of word j - 1; `maxima` (n) is working space.
    """
    size = seen.shape[1]
    below, above = np.empty(size), np.empty(size)
    for j in range(first + 1, len(words) + 1):
        scale = first_scale(rules, words[j - 1])
        for i in range(j - 1, -1, -1):
            if i == j - 1:
                seen[i] = False
                emit(rules, words[i], scale, below)
            else:
                sum_of_splits(rules, from_start[i], to_end[j], seen[i], i, j, below)
            apply_chains(rules.chains, below, above)
            largest = 0.0
            for s in range(size):
                if i == j - 1 or not rules.narrow[s]:
                    from_start[i, s, j] = to_end[j, s, i] = above[s]
                    if above[s] != 0.0:
                        seen[i, s] = True
                        largest = max(largest, above[s])
            maxima[i] = largest
        log_scales[j] = math.log(scale)
        least, most = math.inf, 0.0
        for i in range(j):
            if maxima[i] > 0.0:
                least, most = min(least, maxima[i]), max(most, maxima[i])
        if most > 0.0 and (least < SMALL or most > LARGE):
            power = -round((math.log(least) + math.log(most)) / (2.0 * math.log(2.0)))
            log_scales[j] += power * math.log(2.0)
            for i in range(j):
                for s in range(size):
                    if i == j - 1 or not rules.narrow[s]:
                        above[s] = math.ldexp(to_end[j, s, i], power)
                        from_start[i, s, j] = to_end[j, s, i] = above[s]


class Chart:
    """The inside probabilities of one sentence after another; columns of a common beginning are kept.

    `columns` counts the columns that were asked for, `shared` those that the sentence before had made.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.words = np.zeros(0, np.int32)
        self.columns = self.shared = 0
        self._make_room(0)

    def _make_room(self, length: int) -> None:
        size = len(self.rules.narrow)
        self.from_start = np.zeros((length, size, length + 1))
        self.to_end = np.zeros((length + 1, size, length))
        self.seen = np.zeros((length, size), np.bool_)
        self.log_scales = np.zeros(length + 1)

    def fill(self, words: IntArray) -> int:
        """Inside probabilities of a sentence (numbers of the lexicon); how many of its columns were there already."""
        if len(words) > len(self.seen):
            self._make_room(max(len(words), 24))
            self.words = words[:0]
        both = min(len(words), len(self.words))
        differ = np.flatnonzero(self.words[:both] != words[:both])
        common = int(differ[0]) if len(differ) else both
        fill_columns(
            self.rules, words, common, self.from_start, self.to_end, self.seen, self.log_scales, np.empty(len(words))
        )
        self.words = words
        self.columns += len(words)
        self.shared += common
        return common

    def scale(self, end: int) -> float:
        """Ln of the factor that derivations of the first `end` words have too much."""
        return float(self.log_scales[1 : end + 1].sum())

    def log_probability(self) -> float:
        """Ln p of the whole sentence; -inf where the grammar cannot derive it, or it is empty."""
        n = len(self.words)
        total = float(self.from_start[0, ROOT, n]) if n else 0.0
        return math.log(total) - self.scale(n) if total > 0 else -math.inf


def inside(grammar: Grammar, sentence: Sentence) -> float:
    """Ln p(sentence), summed over all its trees; -inf where there is none."""
    chart = Chart(compile_rules(grammar))
    chart.fill(grammar.lexicon.ids(sentence))
    return chart.log_probability()


def inside_all(grammar: Grammar, sentences: Sequence[Sentence]) -> FloatArray:
    """(n) ln p of each sentence: sorted, so that those with a common beginning share the columns of the chart."""
    chart, totals = Chart(compile_rules(grammar)), np.empty(len(sentences))
    for place in sorted(range(len(sentences)), key=lambda place: tuple(sentences[place])):
        chart.fill(grammar.lexicon.ids(sentences[place]))
        totals[place] = chart.log_probability()
    return totals
