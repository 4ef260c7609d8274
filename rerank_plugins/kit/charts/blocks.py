"""The rules of a split grammar as blocks: for every coarse rule A → B C, those of the symbols of A, B and C.

Symbols are numbered within their base. A pair of bases has few pairs of symbols (b, c) with a rule, each with several
parents, so charts first sum I(b, i, k) I(c, k, j) over split points for each pair, and multiply by the rules
afterwards. Entries are sorted so that none writes to the place that the entry before it has just written to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import BoolArray, FloatArray, IntArray, LongArray, PlaceArray
from rerank_plugins.kit.charts.closure import closure_of
from rerank_plugins.kit.charts.weighted_rules import WeightedRules


class UnaryBlocks(NamedTuple):
    """Unary probabilities p(a → b) in blocks, by the base of the child."""

    starts: IntArray  # (C + 1) the blocks of the child's base B are starts[B] to starts[B + 1]
    parent: IntArray  # (blocks) the base of each block's parent
    entries: PlaceArray  # (blocks + 1) where the entries of each block begin
    # a, b, p: (entries) parent and child, numbered within their bases, and the probability
    a: PlaceArray
    b: PlaceArray
    p: FloatArray


class Blocks(NamedTuple):
    """The rules of a grammar with C bases and S symbols."""

    states: IntArray  # (C) the number of symbols of each base
    local: IntArray  # (S) the number of each symbol within its base; `base` (S) that base
    base: IntArray
    symbol: IntArray  # (S) the symbols sorted by base; those of base B begin at first[B]
    first: IntArray  # (C + 1)
    pair: IntArray  # (C, C) number of the pair of a left and a right base, -1 if no rule has this pair
    # (pairs + 1) where the pairs of symbols of each pair of bases begin: `b` and `c`, numbered within their bases
    groups: PlaceArray
    b: PlaceArray
    c: PlaceArray
    starts: IntArray  # (pairs + 1) the blocks of each pair; `parent` (blocks) the base of each block's parent
    parent: IntArray
    # (blocks + 1) where the rules a → b c of each block begin: the parent `a`, numbered within its base, the pair of
    # symbols `group`, numbered within the pair of bases, and the probability `p`
    entries: PlaceArray
    a: PlaceArray
    group: PlaceArray
    p: FloatArray
    room: int  # the number of all pairs of symbols, each once for every block of its bases and once more
    unary: UnaryBlocks  # blocks of the unary rules; `chains` blocks of their closure
    chains: UnaryBlocks
    words: IntArray  # (W + 1) where the emissions of each word begin in `word_symbol` and `word_p`
    word_symbol: IntArray
    word_p: FloatArray


def compile_blocks(grammar: WeightedRules, split: bool = True) -> Blocks:
    """Arrange the rules of a grammar in blocks; unless `split`, every symbol is a base of its own.

    Raises ModelError if the unary rules have a cycle of probability one.
    """
    base = grammar.base if split else np.arange(len(grammar.base), dtype=np.int32)
    size = int(base.max()) + 1
    states = np.bincount(base, minlength=size).astype(np.int32)
    first = np.concatenate(([0], np.cumsum(states))).astype(np.int32)
    symbol = np.argsort(base, kind="stable").astype(np.int32)
    local = np.empty(len(base), np.int32)
    local[symbol] = np.arange(len(base)) - np.repeat(first[:-1], states)
    parent, left, right = grammar.binary.T
    a, b, c = base[parent], base[left], base[right]
    # The pairs of symbols, sorted by the pair of their bases.
    keys = np.stack((b, c, local[left], local[right]), axis=1)
    symbols, group_of = np.unique(keys, axis=0, return_inverse=True)
    group_of = group_of.reshape(-1)
    pair_begins = np.flatnonzero(_changes(symbols[:, 0], symbols[:, 1]))
    pair = np.full((size, size), -1, np.int32)
    pair[symbols[pair_begins, 0], symbols[pair_begins, 1]] = np.arange(len(pair_begins))
    groups = _with_end(pair_begins, len(symbols))
    # The rules by pair of bases, then by parent base; a block begins where one of the bases changes.
    number = pair[b, c]
    group = group_of - groups.astype(np.int64)[number]
    order = np.lexsort((local[parent], local[parent] - group, a, number))
    a, number = a[order], number[order]
    begins = np.flatnonzero(_changes(number, a))
    starts = np.searchsorted(number[begins], np.arange(len(pair_begins) + 1)).astype(np.int32)
    closure = closure_of(grammar.unary, grammar.unary_p, len(grammar.base))
    return Blocks(
        states, local, base, symbol, first, pair, groups, symbols[:, 2].astype(np.uint32),
        symbols[:, 3].astype(np.uint32), starts, a[begins], _with_end(begins, len(order)),
        local[parent[order]].astype(np.uint32), group[order].astype(np.uint32), grammar.binary_p[order],
        int((np.diff(groups.astype(np.int64)) * (np.diff(starts) + 1)).sum()),
        _unary(grammar.unary[:, 0], grammar.unary[:, 1], grammar.unary_p, base, local, size),
        _unary(closure.above, closure.below, closure.p, base, local, size), grammar.word_starts,
        grammar.word_symbol, grammar.word_p,
    )  # fmt: skip


def _unary(
    above: NDArray[np.integer], below: NDArray[np.integer], p: FloatArray, base: IntArray, local: IntArray, size: int
) -> UnaryBlocks:
    """Arrange unary entries p(above → below) in blocks, by the base of the child, then by that of the parent."""
    parent, child = base[above], base[below]
    order = np.lexsort((local[above], local[above] - local[below], parent, child))
    parent, child = parent[order], child[order]
    begins = np.flatnonzero(_changes(child, parent))
    return UnaryBlocks(
        np.searchsorted(child[begins], np.arange(size + 1)).astype(np.int32), parent[begins],
        _with_end(begins, len(order)), local[above[order]].astype(np.uint32), local[below[order]].astype(np.uint32),
        p[order],
    )  # fmt: skip


def _changes(*columns: IntArray) -> BoolArray:
    """Mark each row of the columns that differs from the row before, and the first row."""
    differ = np.ones(len(columns[0]), np.bool_)
    if len(differ):
        differ[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return differ


def _with_end(begins: LongArray, end: int) -> PlaceArray:
    """Append the end, so that block i is begins[i] to begins[i + 1]."""
    return np.append(begins, end).astype(np.uint32)
