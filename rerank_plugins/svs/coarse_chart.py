"""Inside and outside probabilities of several sentences of the same length by the coarse grammar (Baker 1979).

The recursions are those of constituency/inside.py. A row of numbers has the values of one symbol for all spans of one
width: those of all sentences at the first position, at the second, and so on. Children at one split point are then
rows too, the right one shifted, so that every step is a loop over adjacent numbers. No number depends on other
sentences.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.constituency.compiled_rules import Rules
from rerank_plugins.constituency.grammar import ROOT
from rerank_plugins.constituency.inside import LARGE, SMALL, START
from rerank_plugins.constituency.outside import cell_number
from rerank_plugins.core.arrays import BoolArray, IntArray
from rerank_plugins.kit.kernels import part

LANES = 512  # numbers in a row, if there are so many sentences of the length
NOTHING = 1 << 30  # the power of a span that no symbol derives
FAST = {"contract", "nsz"}


@part
def split_factors(width: int, lanes: int, step: int, power: Any, factor: Any) -> None:
    """Fill `factor` (k, lanes) with what gives products of two children the power of their span."""
    for k in range(1, width):
        for q in range(lanes):
            whole, left, right = power[width - 1, q], power[k - 1, q], power[width - k - 1, q + k * step]
            factor[k, q] = 0.0
            if whole < NOTHING and left < NOTHING and right < NOTHING:
                factor[k, q] = math.ldexp(1.0, whole - left - right)


@njit(cache=True, nogil=True, fastmath=FAST)
def fill_inside(rules: Any, words: Any, inside: Any, power: Any, some: Any) -> bool:
    """Fill the rows I of `inside` (n, S, lanes) for words (sentences, n); return whether any `power` is not 0.

    inside[w - 1, s, i · sentences + h] is I(s, i, i + w) of sentence h times 2^power[w - 1, …] and the scales of its
    words. `some` (n, S) says which rows have a number above 0; the others are undefined.
    """
    step, n = words.shape
    size = len(rules.narrow)
    total, below, most = np.empty(n * step), np.empty((size, n * step)), np.empty(n * step)
    there, factor = np.empty(size, np.bool_), np.ones((n, n * step))
    return fill_rows(rules, words, inside, power, some, total, below, most, there, factor)


@part
def fill_rows(
    rules: Any, words: Any, inside: Any, power: Any, some: Any, total: Any, below: Any, most: Any, there: Any,
    factor: Any,
) -> bool:  # fmt: skip
    """Do the work of `fill_inside` in its arrays."""
    step, n = words.shape
    size, scaled = len(rules.narrow), False
    for width in range(1, n + 1):
        lanes = (n - width + 1) * step
        there[:] = False
        power[width - 1, :lanes] = 0
        if width == 1:
            below[:] = 0.0
            for q in range(lanes):
                word = words[q % step, q // step]
                first, last = rules.word_starts[word], rules.word_starts[word + 1]
                largest = 0.0
                for entry in range(first, last):
                    largest = max(largest, rules.word_p[entry])
                for entry in range(first, last):
                    below[rules.word_symbol[entry], q] = rules.word_p[entry] * (START / largest)
                    there[rules.word_symbol[entry]] = True
        elif scaled:
            power[width - 1, :lanes] = NOTHING
            for k in range(1, width):
                for q in range(lanes):
                    left_power, right_power = power[k - 1, q], power[width - k - 1, q + k * step]
                    if left_power < NOTHING and right_power < NOTHING:
                        power[width - 1, q] = min(power[width - 1, q], left_power + right_power)
            split_factors(width, lanes, step, power, factor)
        # V: Σ over the split points, once for all rules with this pair of children.
        for pair in range(len(rules.pair_left) if width > 1 else 0):
            left, right = rules.pair_left[pair], rules.pair_right[pair]
            begin = width - 1 if rules.narrow[right] else 1
            end = min(2 if rules.narrow[left] else width, width)
            any_split = False
            for k in range(begin, end):
                if some[k - 1, left] and some[width - k - 1, right]:
                    a, b = inside[k - 1, left], inside[width - k - 1, right, k * step :]
                    if not any_split:
                        total[:lanes] = 0.0
                        any_split = True
                    if scaled:
                        for q in range(lanes):
                            total[q] += factor[k, q] * a[q] * b[q]
                    else:
                        for q in range(lanes):
                            total[q] += a[q] * b[q]
            if any_split:
                for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                    v, p = below[rules.rule_parent[rule]], rules.rule_p[rule]
                    if not there[rules.rule_parent[rule]]:
                        v[:lanes] = 0.0
                        there[rules.rule_parent[rule]] = True
                    for q in range(lanes):
                        v[q] += p * total[q]
        # I: all chains of unary rules on top.
        some[width - 1] = False
        for child in range(size):
            if there[child]:
                v = below[child]
                for chain in range(rules.chains.starts[child], rules.chains.starts[child + 1]):
                    s, p = rules.chains.parents[chain], rules.chains.p[chain]
                    row = inside[width - 1, s]
                    if not some[width - 1, s]:
                        row[:lanes] = 0.0
                        some[width - 1, s] = True
                    for q in range(lanes):
                        row[q] += p * v[q]
        # Spans whose numbers leave the range are scaled by a power of two, which is exact.
        most[:lanes] = 0.0
        for s in range(size):
            if some[width - 1, s]:
                row = inside[width - 1, s]
                for q in range(lanes):
                    most[q] = max(most[q], row[q])
        for q in range(lanes):
            if most[q] == 0.0:
                power[width - 1, q] = NOTHING
            elif most[q] < SMALL or most[q] > LARGE:
                shift = -math.frexp(most[q])[1]
                power[width - 1, q] += shift
                scaled = True
                for s in range(size):
                    if some[width - 1, s]:
                        inside[width - 1, s, q] = math.ldexp(inside[width - 1, s, q], shift)
    return scaled


@njit(cache=True, nogil=True, fastmath=FAST)
def expect(
    rules: Any, step: int, inside: Any, power: Any, some: Any, scaled: bool, threshold: float, least: float, kept: Any
) -> None:
    """Set kept[h, cell, s], which is False before, if s is expected more than `threshold` times over the cell's span.

    Nodes whose expected count is below `least` are pruned together with the nodes below them.
    """
    n, size, most = inside.shape
    outside, reached = np.empty((n, size, most)), np.zeros((n, size), np.bool_)
    below, alive = np.empty((size, most)), np.empty(size, np.bool_)
    need, factor = np.empty(most), np.ones((n, most))
    if some[n - 1, ROOT]:
        arrays = (outside, reached, below, alive, need, factor)
        expect_rows(rules, step, inside, power, some, scaled, threshold, least, kept, *arrays)


@part
def expect_rows(
    rules: Any, step: int, inside: Any, power: Any, some: Any, scaled: bool, threshold: float, least: float, kept: Any,
    outside: Any, reached: Any, below: Any, alive: Any, need: Any, factor: Any,
) -> None:  # fmt: skip
    """Do the work of `expect` in its arrays."""
    n, size, _ = inside.shape
    reached[n - 1, ROOT] = True
    for h in range(step):
        total = inside[n - 1, ROOT, h]
        outside[n - 1, ROOT, h] = 1.0 / total if total > 0.0 else 0.0
    for width in range(n, 0, -1):
        lanes = (n - width + 1) * step
        # Down the chains of unary rules, and the expected counts.
        for child in range(size):
            alive[child] = False
            if not some[width - 1, child]:
                continue
            o, row = below[child], inside[width - 1, child]
            for chain in range(rules.chains.starts[child], rules.chains.starts[child + 1]):
                s, p = rules.chains.parents[chain], rules.chains.p[chain]
                if reached[width - 1, s]:
                    above = outside[width - 1, s]
                    if not alive[child]:
                        alive[child] = True
                        o[:lanes] = 0.0
                    for q in range(lanes):
                        o[q] += p * above[q]
            if alive[child]:
                alive[child] = False
                for q in range(lanes):
                    count = o[q] * row[q]
                    if count < least or count == 0.0:
                        o[q] = 0.0
                    else:
                        alive[child] = True
                        if count > threshold:
                            kept[q % step, cell_number(q // step, q // step + width, n), child] = True
        if width == 1:
            return
        if scaled:
            split_factors(width, lanes, step, power, factor)
        # Outside of both children: O(l, i, k) += weight · I(r, k, j), O(r, k, j) += weight · I(l, i, k).
        for pair in range(len(rules.pair_left)):
            left, right = rules.pair_left[pair], rules.pair_right[pair]
            begin = width - 1 if rules.narrow[right] else 1
            end = min(2 if rules.narrow[left] else width, width)
            needed = False
            for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
                if begin < end and alive[rules.rule_parent[rule]]:
                    o, p = below[rules.rule_parent[rule]], rules.rule_p[rule]
                    if not needed:
                        needed = True
                        need[:lanes] = 0.0
                    for q in range(lanes):
                        need[q] += p * o[q]
            if not needed:
                continue
            for k in range(begin, end):
                if some[k - 1, left] and some[width - k - 1, right]:
                    a, b = inside[k - 1, left], inside[width - k - 1, right, k * step :]
                    one, two = outside[k - 1, left], outside[width - k - 1, right, k * step :]
                    if not reached[k - 1, left]:
                        reached[k - 1, left] = True
                        one[: (n - k + 1) * step] = 0.0
                    if not reached[width - k - 1, right]:
                        reached[width - k - 1, right] = True
                        outside[width - k - 1, right, : (n - width + k + 1) * step] = 0.0
                    if scaled:
                        for q in range(lanes):
                            one[q] += factor[k, q] * need[q] * b[q]
                        for q in range(lanes):
                            two[q] += factor[k, q] * need[q] * a[q]
                    else:
                        for q in range(lanes):
                            one[q] += need[q] * b[q]
                        for q in range(lanes):
                            two[q] += need[q] * a[q]


class CoarseCharts:
    """The coarse grammar's charts of sentences of one length after another."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def fill(self, words: IntArray) -> None:
        """Fill the inside probabilities of `words` (sentences, n), where n is at least 1."""
        self.words = words
        (sentences, n), size = words.shape, len(self.rules.narrow)
        self.inside = np.empty((n, size, n * sentences))
        self.power = np.empty((n, n * sentences), np.int32)
        self.some = np.empty((n, size), np.bool_)
        self.scaled = fill_inside(self.rules, words, self.inside, self.power, self.some)

    def kept(self, threshold: float, least: float) -> BoolArray:
        """(sentences, cells, S) whether a symbol is expected more often than `threshold` over a span; see `expect`."""
        (sentences, n), size = self.words.shape, len(self.rules.narrow)
        kept = np.zeros((sentences, n * (n + 1) // 2, size), np.bool_)
        expect(self.rules, sentences, self.inside, self.power, self.some, self.scaled, threshold, least, kept)
        return kept


def batches(sentences: Sequence[tuple[str, ...]]) -> Iterator[list[tuple[str, ...]]]:
    """The sentences by length, and in each length by words, in lists that fill the rows of a chart."""
    for length, group in groupby(sorted(sentences, key=lambda words: (len(words), words)), len):
        members = list(group)
        size = max(1, LANES // length)
        yield from (members[start : start + size] for start in range(0, len(members), size))
