"""Lays out a grammar for the search: rules by left child, unary promotions by node, expectations, word emissions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import ConfigError, FloatArray, IntArray, LongArray, ModelError
from rerank_plugins.constituency.grammar import ROOT, Grammar
from rerank_plugins.hhmm.event_counts import Events
from rerank_plugins.hhmm.interpolation import Counted, interpolated, nothing_counted, row_of
from rerank_plugins.hhmm.left_progeny import left_progeny_of
from rerank_plugins.hhmm.recombination import CONTRIBUTION, STORE, Table, new_table
from rerank_plugins.hhmm.successors import Remembered, empty_memo
from rerank_plugins.kit.kernels import records
from rerank_plugins.kit.vocabulary.signatures import known_form

DEEPEST = 63  # store elements
MOST_SYMBOLS = 1 << 15  # an element packs two symbols into 32 bits
REMEMBERED = 1 << 12  # number of words whose emissions are cached
ROWS = 1 << 12  # stores of a table at first
EMPTY = -1  # no element, no completed symbol


class Rules(NamedTuple):
    """The arrays of a grammar that the kernels read, for a store of D elements.

    `starts`     (S S + 1) the rules q -> p c are the entries starts[p S + q] to starts[p S + q + 1] of `parent`,
                 `right` and `p`
    `parent`, `right`, `p`   (B) q, c and P(q -> p c)
    `filled`     (S + 1) the nodes that may fill an awaited b are the entries filled[b] to filled[b + 1] of `nodes`,
                 with probability `filling` = U*[b, node]; only nodes that have binary rules
    `promotions` (S + 1) the places that a node q may fill are the entries promotions[q] to promotions[q + 1] of
                 `places`, with probability `reaching` = U*[place, q]; only places that are left children of some rule
    `expected`   (rows, S, S) E*_d[b, q]; rows is D if the store is bounded, else 2, the last one for all d ≥ 1
    `most`       (rows, S) the largest value in each row of `expected`
    `counted`    what events counted in trees add
    """

    starts: IntArray
    parent: IntArray
    right: IntArray
    p: FloatArray
    filled: IntArray
    nodes: IntArray
    filling: FloatArray
    promotions: IntArray
    places: IntArray
    reaching: FloatArray
    expected: FloatArray
    most: FloatArray
    counted: Counted


class Emission(NamedTuple):
    """The probabilities of one word in all places.

    `number` its own number among all words whose emissions were computed
    `tags`   (k) preterminals that emit the word
    `p`      (k) P(word | tag)
    `here`   (S) probability that a place is filled by a preterminal that emits the word
    `best`   (S) the most probable such preterminal
    `best_p` (S) the probability of `best`
    `mixed`  (S) the entropy in nats of the preterminal, given the place and the word
    `ahead`  (D + 1, S) w_d: probability that the yield of a place, awaited in element d, fits in the store and begins
             with the word
    `opened` (K) the same for the left edges whose events were counted
    """

    number: int
    tags: IntArray
    p: FloatArray
    here: FloatArray
    best: IntArray
    best_p: FloatArray
    mixed: FloatArray
    ahead: FloatArray
    opened: FloatArray


class Stores(NamedTuple):
    """Stores after a word, with their values and back-pointers, as in `Beam` (model.py)."""

    stores: IntArray
    values: FloatArray
    viterbi: FloatArray
    entropy: FloatArray
    back: IntArray


class Search(NamedTuple):
    """What a step reads and writes (transitions.py): the grammar, the lists of rules, and tables of the same size.

    In `last_use` (rules), transitions.py notes which rules were counted; `parts` are the contributions of one store;
    `order` and `spare` (rows) are rows of a table in order of their probabilities. `clock` (1) is the base of the
    slots in this step (recombination.py). `after` is the result.
    """

    rules: Rules
    memory: Remembered
    stacks: Table
    promoted: Table
    awaiting: Table
    emitted: Table
    parts: Any
    last_use: Any
    order: Any
    spare: Any
    clock: Any
    after: Stores


@dataclass(eq=False)
class Tables:
    """A grammar and a store of `depth` elements, laid out for the search."""

    grammar: Grammar
    depth: int
    rules: Rules
    numbers: LongArray  # (B) each rule's number in the grammar
    ending: FloatArray  # (S) P(end | 0, ROOT, q): probability that a node q, alone in the store, is the whole sentence
    fitting: FloatArray  # (D + 1, S) R_d; R_0(ROOT) is the probability that a tree fits
    tag_closure: FloatArray  # (T, S) U* by preterminal
    tag_expected: FloatArray  # (rows, T, S) E* by preterminal
    tag_row: LongArray  # (S) row of a preterminal in tag_closure, and in the second axis of tag_expected
    remembered: dict[str, Emission] = field(default_factory=dict)
    numbering: Iterator[int] = field(default_factory=count)

    @property
    def mass(self) -> float:
        """The probability that a tree of the grammar fits in the store."""
        return float(self.fitting[0, ROOT])

    @cached_property
    def memory(self) -> Remembered:
        """The lists of rules that the search has needed so far."""
        return empty_memo(self.most)

    @cached_property
    def search(self) -> Search:
        """The arrays in which the search works; replaced by larger ones where they lack room."""
        return self.new_search(ROWS)

    def enlarge(self) -> None:
        """Double the tables of the search."""
        self.search = self.new_search(2 * len(self.search.order))

    def new_search(self, rows: int) -> Search:
        """Return empty tables of `rows` stores, a power of two, with the grammar and the lists of rules."""
        stacks, promoted, awaiting, emitted = (new_table(rows, kind) for kind in (np.int64, STORE, STORE, STORE))
        stacks.keys[0], stacks.rows[0] = EMPTY, 0
        order, spare = np.empty((2, rows), np.int64)
        sums, viterbi, entropy = np.empty((3, rows))
        stores, back = np.empty((rows, self.depth + 1), np.int32), np.empty((rows, 5), np.int32)
        return Search(
            self.rules, self.memory, stacks, promoted, awaiting, emitted, records(self.most, CONTRIBUTION),
            np.full(len(self.numbers), -1, np.int64), order, spare, np.ones(1, np.int64),
            Stores(stores, sums, viterbi, entropy, back),
        )  # fmt: skip

    def begin(self, word: Emission) -> float:
        """Write the result of step 2 for the first word, the empty store, which awaits ROOT; return P(word)."""
        row = row_of(self.rules.counted.edges, self.grammar.size, 0, ROOT, ROOT, 0)
        p = float(word.ahead[0, ROOT] if row < 0 else word.opened[row]) / self.mass
        spread = -p * math.log(p) if p > 0 else 0.0
        self.search.awaiting.keys[0], self.search.order[0] = EMPTY, 0
        self.search.awaiting.rows[0] = (p, p, spread, EMPTY, EMPTY, EMPTY, 0)
        return p

    @cached_property
    def most(self) -> int:
        """The largest number of contributions of one store to the next table of a step."""
        starts, promotions = self.rules.starts[:: self.grammar.size], self.rules.promotions
        return int(max(2 * np.diff(starts).max(), np.diff(promotions).max(), self.grammar.size + 1))

    def emission(self, word: str, position: int) -> Emission:
        """Return the probabilities of a word, cached by its known form.

        `position` 0 is the first of its sentence.
        """
        lexicon = self.grammar.lexicon
        form = known_form(word, position, lexicon.index)
        emission = self.remembered.get(form)
        if emission is None:
            if len(self.remembered) >= REMEMBERED:
                self.remembered.clear()
            tags, logp = lexicon.emissions(form, position)
            if not len(tags):  # no symbol emits it
                tags, logp = np.zeros(1, np.int32), np.full(1, -np.inf)
            emission = self.remembered[form] = self._emission(tags, np.exp(logp))
        return emission

    def _emission(self, tags: IntArray, p: FloatArray) -> Emission:
        # The awaited symbol itself reads the word: U*[c, x] P(w | x), its sum, maximum and entropy over x.
        rows = self.tag_row[tags]
        size = self.grammar.size
        parts = self.tag_closure[rows] * p[:, None]
        here = parts.sum(axis=0)
        best = parts.argmax(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mixed = np.where(here > 0, np.log(here) - np.nansum(parts * np.log(parts), axis=0) / here, 0.0)
        # A preterminal down its left edge reads it: Σ_x E*_d[c, x] P(w | x), if the store has room for a new element.
        below = np.einsum("dks,k->ds", self.tag_expected[:, rows], p)
        ahead = np.empty((self.depth + 1, size))
        for d in range(self.depth + 1):
            ahead[d] = below[min(d, len(below) - 1)] if d < self.depth else 0.0
            if d > 0:
                ahead[d] += here
        best_p = parts[best, np.arange(size)]
        counted = self.rules.counted
        opened = counted.openings[:, tags] @ p + counted.openings[:, -1] * here[counted.edges // size % size]
        mixed, number = np.maximum(mixed, 0.0), next(self.numbering)
        return Emission(number, tags, p, here, tags[best], best_p, mixed, ahead, opened)


def lay_out(grammar: Grammar, depth: int, *, bounded: bool = True, events: Events | None = None) -> Tables:
    """Lay out a grammar for a store of `depth` elements.

    If `bounded`, probabilities are conditioned on trees that fit in the store. If there are `events`, probabilities are
    estimated from their counts and smoothed by the grammar (interpolation.py).

    Raises ConfigError for a depth out of range, ModelError for a grammar that is too large, whose left recursion never
    ends, or none of whose sentences fits in the store.
    """
    if not 1 <= depth <= DEEPEST:
        raise ConfigError(f"a store of {depth} elements, wanted 1 to {DEEPEST}")
    if grammar.size >= MOST_SYMBOLS:
        raise ModelError(f"a grammar of {grammar.size} symbols, this model takes up to {MOST_SYMBOLS - 1}")
    left_progeny = left_progeny_of(grammar, depth, bounded=bounded)
    p = np.exp(grammar.binary_logp)
    order = np.lexsort((grammar.binary[:, 0], grammar.binary[:, 1]))
    parent, left, right = (np.ascontiguousarray(grammar.binary[order, column], np.int32) for column in range(3))
    is_left, binary = np.zeros((2, grammar.size), np.bool_)
    is_left[left] = binary[parent] = True
    node, place = np.nonzero((left_progeny.closure * is_left[:, None]).T)
    awaited, filler = np.nonzero(left_progeny.closure * binary)
    if events is None:
        counted = nothing_counted(grammar.size, len(order), depth)
        with np.errstate(divide="ignore", invalid="ignore"):
            ending = np.nan_to_num(left_progeny.closure[ROOT] / left_progeny.expected[0, ROOT], posinf=0.0)
    else:
        counted, ending = interpolated(events, grammar, left_progeny, order)
    rules = Rules(
        _starts(left.astype(np.int64) * grammar.size + parent, grammar.size**2), parent, right, p[order],
        _starts(awaited, grammar.size), filler.astype(np.int32), left_progeny.closure[awaited, filler],
        _starts(node, grammar.size), place.astype(np.int32), left_progeny.closure[place, node],
        left_progeny.expected, left_progeny.expected.max(axis=2), counted,
    )  # fmt: skip
    tags = np.flatnonzero(grammar.preterminals)
    row = np.zeros(grammar.size, np.int64)
    row[tags] = np.arange(len(tags))
    return Tables(
        grammar, depth, rules, order, ending, left_progeny.fitting,
        np.ascontiguousarray(left_progeny.closure[:, tags].T),
        np.ascontiguousarray(left_progeny.expected[:, :, tags].transpose(0, 2, 1)), row,
    )  # fmt: skip


def _starts(numbers: NDArray[Any], size: int) -> IntArray:
    """Return (size + 1) the position where each number starts in an ascending array."""
    return np.concatenate(([0], np.cumsum(np.bincount(numbers, minlength=size)))).astype(np.int32)
