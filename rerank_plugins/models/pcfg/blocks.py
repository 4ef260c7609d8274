"""A split grammar's rules as blocks: those of the symbols of A, B and C for every coarse rule A → B C.

A pruned chart holds, for a span, the few bases that are left with all their symbols; what two of them make together
are the blocks of their pair. Symbols are numbered within their base here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.arrays import BoolArray, FloatArray, IntArray, LongArray
from rerank_plugins.models.pcfg.closure import closure_of
from rerank_plugins.models.pcfg.grammar import Grammar


class UnaryBlocks(NamedTuple):
    """Entries p(a → b) by the child's base: its blocks are starts[B] to starts[B + 1], each with a parent's base.

    `entries` (blocks + 1) says where a block's `a`, `b` (symbols within their bases) and `p` begin.
    """

    starts: IntArray
    parent: IntArray
    entries: IntArray
    a: IntArray
    b: IntArray
    p: FloatArray


class Blocks(NamedTuple):
    """C bases; `states` (C) how many symbols each has, `local` (S) a symbol's number within its base, `base` (S).

    `symbol`   (S) the symbols by base, those of base B from first[B] on; `first` (C + 1)
    `pair`     (C, C) number of the pair of a left and a right base, -1 where no rule has it
    `starts`   (pairs + 1) blocks of a pair, each with a `parent` base
    `entries`  (blocks + 1) where a block's `a`, `b`, `c` (symbols within their bases) and `p` begin
    `unary`    blocks of the unary rules; `chains` those of their closure
    `words`    emissions: (W + 1) where those of a word begin in `word_symbol` and `word_p`
    """

    states: IntArray
    local: IntArray
    base: IntArray
    symbol: IntArray
    first: IntArray
    pair: IntArray
    starts: IntArray
    parent: IntArray
    entries: IntArray
    a: IntArray
    b: IntArray
    c: IntArray
    p: FloatArray
    unary: UnaryBlocks
    chains: UnaryBlocks
    words: IntArray
    word_symbol: IntArray
    word_p: FloatArray


def compile_blocks(grammar: Grammar, split: bool = True) -> Blocks:
    """The blocks of a grammar; with `split` false every symbol is a base of its own.

    Raises ModelError where its unary rules have a cycle of probability one.
    """
    base = grammar.base if split else np.arange(grammar.size, dtype=np.int32)
    size = int(base.max()) + 1
    states = np.bincount(base, minlength=size).astype(np.int32)
    first = np.concatenate(([0], np.cumsum(states))).astype(np.int32)
    symbol = np.argsort(base, kind="stable").astype(np.int32)
    local = np.empty(len(base), np.int32)
    local[symbol] = np.arange(len(base)) - np.repeat(first[:-1], states)
    parent, left, right = grammar.binary.T
    a, b, c = base[parent], base[left], base[right]
    order = np.lexsort((local[right], local[left], local[parent], a, c, b))
    a, b, c = a[order], b[order], c[order]
    begins = np.flatnonzero(_changes(b, c, a))
    pair_begins = np.flatnonzero(_changes(b[begins], c[begins]))
    pair = np.full((size, size), -1, np.int32)
    pair[b[begins][pair_begins], c[begins][pair_begins]] = np.arange(len(pair_begins))
    closure = closure_of(grammar.unary, np.exp(grammar.unary_logp), grammar.size)
    return Blocks(
        states,
        local,
        base,
        symbol,
        first,
        pair,
        _with_end(pair_begins, len(begins)),
        a[begins],
        _with_end(begins, len(order)),
        local[parent[order]],
        local[left[order]],
        local[right[order]],
        np.exp(grammar.binary_logp[order]),
        _unary(grammar.unary[:, 0], grammar.unary[:, 1], np.exp(grammar.unary_logp), base, local, size),
        _unary(closure.above, closure.below, closure.p, base, local, size),
        grammar.lexicon.starts,
        grammar.lexicon.symbols,
        np.exp(grammar.lexicon.logp),
    )


def _unary(
    above: NDArray[np.integer], below: NDArray[np.integer], p: FloatArray, base: IntArray, local: IntArray, size: int
) -> UnaryBlocks:
    parent, child = base[above], base[below]
    order = np.lexsort((local[below], local[above], parent, child))
    parent, child = parent[order], child[order]
    begins = np.flatnonzero(_changes(child, parent))
    return UnaryBlocks(
        np.searchsorted(child[begins], np.arange(size + 1)).astype(np.int32),
        parent[begins],
        _with_end(begins, len(order)),
        local[above[order]],
        local[below[order]],
        p[order],
    )


def _changes(*columns: IntArray) -> BoolArray:
    """Where a row of the columns differs from the row before; the first does."""
    differ = np.ones(len(columns[0]), np.bool_)
    if len(differ):
        differ[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return differ


def _with_end(begins: LongArray, end: int) -> IntArray:
    return np.append(begins, end).astype(np.int32)
