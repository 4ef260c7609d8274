"""Inside probabilities of a sentence (Baker 1979), column by column: all spans that end at a word, then at the next.

    V(a, i, j) = Σ_{a → l r} p(a → l r) Σ_{i<k<j} I(l, i, k) I(r, k, j)       V(a, i, i+1) = p(w_i | a)
    I(s, i, j) = Σ_a R(s, a) V(a, i, j),   R = (I − U)^-1                      (closure.py)

The emissions of each word are multiplied by a scale of its own, so that values stay near one and sums need no
logarithms. A cell depends only on the words that it spans, so hypotheses of an n-best list share cells: those over
words that they have in the same positions stay where they are, others are copied from a memory. Scales of a word
differ by powers of two only, so that a cell has the same digits wherever it comes from. A bit for each split point
says whether a symbol derives a span that begins or ends there. The cost is O(n^2 (B + P n)) for B rules with P pairs
of children.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import BoolArray, FloatArray, IntArray, LongArray, PlaceArray
from rerank_plugins.core.interfaces import Sentence
from rerank_plugins.kit.charts.closure import apply_chains
from rerank_plugins.kit.charts.rules import Rules
from rerank_plugins.kit.charts.weighted_rules import ROOT
from rerank_plugins.kit.kernels import filling_kernel, part

EMPTY = np.iinfo(np.int64).min  # in place of the power of a cell that has not been filled
MIN_CELLS, MAX_BYTES = 4096, 1 << 26  # cells of a new memory; size of the largest one
MIXER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio (Fibonacci hashing)
LARGEST_EMISSION = math.exp(3.0)  # makes up for the probability of the rules, which is about exp(-3) a word
MIN_VALUE, MAX_VALUE = 1e-100, 1e100  # a column with values out of this range is rescaled


@part
def longer(slots: LongArray, used: LongArray, most: int, node: int, word: int) -> Any:
    """Return the number of the span that is longer than `node` by a word; 0 is the empty span.

    A new span gets a new number, or -1 if the memory is full. The span -1 has no longer ones.
    """
    if node < 0:
        return -1
    key = (node << 32 | word) + 1
    mask = len(slots) - 1
    place = np.int64((np.uint64(key) * MIXER) >> np.uint64(32)) & mask
    while slots[place, 0] != 0:
        if slots[place, 0] == key:
            return slots[place, 1]
        place = (place + 1) & mask
    if used[0] == most:
        return -1
    slots[place, 0], slots[place, 1] = key, used[0]
    used[0] += 1
    return used[0] - 1


class Cells(NamedTuple):
    """The numbers of spans in a hash table, and the values of so many spans: see `longer`, `fill_columns`."""

    slots: LongArray
    rows: FloatArray
    powers: LongArray
    used: LongArray  # (1) how many numbers are taken


class CellMemory:
    """Cells of so many values each; when it is full, it is emptied, and doubled up to 64 MB."""

    def __init__(self, values: int) -> None:
        self._values = max(values, 1)
        self._start(MIN_CELLS)

    def _start(self, most: int) -> None:
        slots, rows, powers = (
            np.zeros((2 * most, 2), np.int64),
            np.empty((most, self._values)),
            np.empty(most, np.int64),
        )
        powers.fill(EMPTY)
        self._cells = Cells(slots, rows, powers, np.ones(1, np.int64))  # number 0 is the empty span

    def cells(self) -> Cells:
        """Return the cells for a kernel that may fill in more."""
        most = len(self._cells.rows)
        if self._cells.used[0] == most:
            self._start(2 * most if 2 * most * self._values * 8 <= MAX_BYTES else most)
        return self._cells


@partial(part, fastmath={"reassoc", "contract", "nsz"})
def sum_of_splits(
    rules: Rules,
    rows: FloatArray,
    columns: FloatArray,
    begins: NDArray[np.uint64],
    ends: NDArray[np.uint64],
    i: int,
    j: int,
    chosen: PlaceArray,
    below: FloatArray,
) -> None:
    """Set below[a] = Σ over rules a → l r and split points k of p · rows[l, k] · columns[r, k], for i < k < j.

    `rows` (S, …) holds the left children that begin at i, `columns` (S, …) the right children that end at j. Bit k % 64
    of `begins` (S) is set for symbols that derive words i … k-1, that of `ends` (S) for those that derive k … j-1.
    `chosen` has room for all pairs.
    """
    pair_starts, pair_left, pair_right = rules.pair_starts, rules.pair_left, rules.pair_right
    rule_starts, rule_parent, rule_p = rules.rule_starts, rules.rule_parent, rules.rule_p
    for a in range(len(below)):
        below[a] = 0.0
    count = np.uint64(0)
    for left in range(len(begins)):
        bits = begins[left]
        if bits:
            for pair in range(pair_starts[left], pair_starts[left + 1]):
                chosen[count] = pair  # without a branch, which no processor could foresee
                count += np.uint64(bits & ends[pair_right[pair]] != 0)
    first, last = np.uint64(i + 1), np.uint64(j)
    for place in range(count):
        # The sum over split points, once for all rules with this pair of children.
        both = chosen[place]
        row, column = rows[pair_left[both]], columns[pair_right[both]]
        total = 0.0
        for k in range(first, last):
            total += row[k] * column[k]
        # V(a, i, j) of the parents of this pair.
        for rule in range(rule_starts[both], rule_starts[both + 1]):
            below[rule_parent[rule]] += rule_p[rule] * total


@part
def emit(rules: Rules, word: int, scale: float, below: FloatArray) -> None:
    """Set below[a] = p(word | a) · scale."""
    for a in range(len(below)):
        below[a] = 0.0
    for e in range(rules.word_starts[word], rules.word_starts[word + 1]):
        below[rules.word_symbol[e]] = rules.word_p[e] * scale


@part
def first_scale(rules: Rules, word: int) -> float:
    """Return the scale that brings the largest emission of the word to LARGEST_EMISSION."""
    largest = 0.0
    for e in range(rules.word_starts[word], rules.word_starts[word + 1]):
        largest = rules.word_p[e] if rules.word_p[e] > largest else largest
    return LARGEST_EMISSION / largest if largest > 0.0 else 1.0


class InsideBuffers(NamedTuple):
    """Room for values of S symbols, for pairs of children, and for facts of the n words or n + 1 columns."""

    # below, above: (S) the values of one cell
    below: FloatArray
    above: FloatArray
    chosen: PlaceArray  # (pairs + 1) pairs of children
    nodes: LongArray  # (n) numbers in the memory of the spans from each word to the present column
    total_power: LongArray  # (n + 1) the power of the words up to each column


class InsideValues(NamedTuple):
    """The arrays that `fill_columns` fills in."""

    from_start: FloatArray
    to_end: FloatArray
    begins: NDArray[np.uint64]
    ends: NDArray[np.uint64]
    scales: FloatArray
    powers: LongArray


@filling_kernel
def fill_columns(
    rules: Rules, words: IntArray, kept: LongArray, values: InsideValues, memory: Cells, work: InsideBuffers
) -> int:  # fmt: skip
    """Fill from_start[i, s, j] = to_end[j, s, i] = scaled I(s, i, j); return the number of cells that were computed.

    Cells (i, j) with j <= kept[i] hold valid values of the sentence before. Bit k % 64 of begins[i, s] is set if s
    derives words i … k-1, that of ends[j, s] if it derives k … j-1. `scales[j]` is the scale of word j - 1; it is
    2^powers[j] times that of the word in the memory.

    It is long because the three ways to fill a cell, from the sentence before, from the memory and by rules, keep the
    same books of scales and bits.
    """
    from_start, to_end, begins, ends = values.from_start, values.to_end, values.begins, values.ends
    scales, powers, narrow, wide = values.scales, values.powers, rules.narrow, rules.wide
    slots, rows, row_powers, used = memory.slots, memory.rows, memory.powers, memory.used
    below, above, nodes, total_power = work.below, work.above, work.nodes, work.total_power
    n, size, new_cells = len(words), begins.shape[1], 0
    for i in range(n):
        nodes[i] = 0  # the empty span
    total_power[0] = 0
    for j in range(1, n + 1):
        # A new word gets a new scale.
        if kept[j - 1] < j:
            scales[j] = first_scale(rules, words[j - 1])
            powers[j] = 0
        total_power[j] = total_power[j - 1] + powers[j]
        for s in range(size):
            ends[j, s] = 0
        new, least, most = False, math.inf, 0.0  # the smallest and the largest of the cells' maxima
        for i in range(j - 1, -1, -1):
            largest = 0.0
            nodes[i] = longer(slots, used, len(rows), nodes[i], words[j - 1])
            if j <= kept[i]:
                for s in range(size):
                    if (i == j - 1 or not narrow[s]) and to_end[j, s, i] != 0.0:
                        ends[j, s] |= np.uint64(1) << np.uint64(i & 63)
                        largest = to_end[j, s, i] if to_end[j, s, i] > largest else largest
                if largest > 0.0:
                    least, most = largest if largest < least else least, largest if largest > most else most
                continue
            new = True
            if i == j - 1:
                for s in range(size):
                    begins[i, s] = 0
                emit(rules, words[i], scales[j], below)
            node, power = nodes[i], total_power[j] - total_power[i]
            if node >= 0 and row_powers[node] != EMPTY:
                # A cell that an earlier sentence had; the memory has no narrow symbols, whose values are emissions.
                for s in range(size):
                    above[s] = below[s]
                shift = power - row_powers[node]
                for w in range(len(wide)):
                    above[wide[w]] = rows[node, w] if shift == 0 else math.ldexp(rows[node, w], int(shift))
            else:
                # V(a, i, j): emissions or binary rules; I(s, i, j) = Σ_a R(s, a) V(a, i, j).
                new_cells += 1
                if i < j - 1:
                    sum_of_splits(rules, from_start[i], to_end[j], begins[i], ends[j], i, j, work.chosen, below)
                apply_chains(rules.chains, below, above)
                if node >= 0:
                    row_powers[node] = power
                    for w in range(len(wide)):
                        rows[node, w] = above[wide[w]]
            for s in range(size):
                if i == j - 1 or not narrow[s]:
                    from_start[i, s, j] = to_end[j, s, i] = above[s]
                    begins[i, s] |= np.uint64(above[s] != 0.0) << np.uint64(j & 63)
                    ends[j, s] |= np.uint64(above[s] != 0.0) << np.uint64(i & 63)
                    largest = above[s] if above[s] > largest else largest
            if largest > 0.0:
                least, most = largest if largest < least else least, largest if largest > most else most
        if new and most > 0.0 and (least < MIN_VALUE or most > MAX_VALUE):
            power = _rescale(narrow, j, kept, from_start, to_end, scales, least, most)
            powers[j] += power
            total_power[j] += power
    return new_cells


@part
def _rescale(
    narrow: BoolArray, j: int, kept: LongArray, from_start: FloatArray, to_end: FloatArray, scales: FloatArray,
    least: float, most: float,
) -> int:  # fmt: skip
    """Multiply column j, whose cells' maxima are too small or too large, by a power of two; return the power."""
    # Multiplication by a power of two is exact, so the order of sentences does not change the values.
    power = -round((math.log(least) + math.log(most)) / (2.0 * math.log(2.0)))
    scales[j] = math.ldexp(scales[j], power)
    for i in range(j):
        kept[i] = j if kept[i] > j else kept[i]  # cells that end later still contain the old scale
        for s in range(len(narrow)):
            if i == j - 1 or not narrow[s]:
                to_end[j, s, i] = math.ldexp(to_end[j, s, i], power)
                from_start[i, s, j] = to_end[j, s, i]
    return power


class Chart:
    """The inside probabilities of one sentence after another; cells over the same words are computed once.

    `cells` counts the cells of all sentences, `shared` those that earlier sentences had. `kept` (n): in the last
    sentence, the cells (i, j) with j <= kept[i] stayed where they were.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.words = np.zeros(0, np.int32)
        self.kept = np.zeros(0, np.int64)
        self.cells = self.shared = 0
        self._memory = CellMemory(len(rules.wide))
        self._make_room(0)

    def _make_room(self, length: int) -> None:
        size = len(self.rules.narrow)
        self.from_start = np.zeros((length, size, length + 1))
        self.to_end = np.zeros((length + 1, size, length))
        self.begins = np.zeros((length, size), np.uint64)
        self.ends = np.zeros((length + 1, size), np.uint64)
        self.scales = np.ones(length + 1)
        self.powers = np.zeros(length + 1, np.int64)
        self.words = self.words[:0]
        below, above = np.empty((2, size))
        pairs = np.empty(len(self.rules.pair_left) + 1, np.uint32)
        nodes, total_power = np.empty(length, np.int64), np.empty(length + 1, np.int64)
        self._work = InsideBuffers(below, above, pairs, nodes, total_power)
        values = self.from_start, self.to_end, self.begins, self.ends, self.scales, self.powers
        self.values = InsideValues(*values)

    def fill(self, words: IntArray) -> None:
        """Compute the inside probabilities of a sentence, given by its words' numbers in the lexicon."""
        n = len(words)
        if n > len(self.begins):
            self._make_room(max(n, 24))
        # kept[i]: the first position from i on where this sentence and the one before differ.
        both = min(n, len(self.words))
        differ = np.append(np.flatnonzero(self.words[:both] != words[:both]), both)
        self.kept = differ[np.minimum(np.searchsorted(differ, np.arange(n)), len(differ) - 1)]
        self.words = words
        new = fill_columns(self.rules, words, self.kept, self.values, self._memory.cells(), self._work)
        self.cells += n * (n + 1) // 2
        self.shared += n * (n + 1) // 2 - new

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
