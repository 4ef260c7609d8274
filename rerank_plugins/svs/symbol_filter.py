"""The symbols of a pruned chart that can be in trees.

The coarse grammar leaves categories over each span. A symbol lc of such a category can be in a tree only if a rule has
it as a child, its parent's category is kept over some longer span, and its sibling's over the rest of that span. That
leaves hardly more symbols than are in some tree of the sentence. The symbols of a category are bits of integers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import BoolArray, IntArray, LongArray
from rerank_plugins.kit.charts.over_spans import inside_over_spans
from rerank_plugins.kit.charts.spans import cell_number
from rerank_plugins.kit.charts.weighted_rules import ROOT
from rerank_plugins.kit.kernels import part
from rerank_plugins.svs.vector_rules import VectorRules

BITS = 64


class SymbolSets(NamedTuple):
    """What the kernel of a pruned chart reads beside `VectorRules`: above all sets of symbols, of W integers each.

    Bit b of integer w is the symbol 64 w + b of its category.
    """

    # block of pairs by couple of categories and left symbol: blocks[block_starts[c] + b] for couple c and the symbol
    # with the number b in the left category, -1 for none
    blocks: IntArray
    block_starts: IntArray
    # left, right: (T, W) the children of binary rules over three categories, in the order of `couple_parents`
    left: NDArray[np.uint64]
    right: NDArray[np.uint64]
    over: IntArray  # (G, G) the pair of the categories of a unary rule's parent and child, -1 if there is no such rule
    only: NDArray[np.uint64]  # (pairs, W) the children of unary rules over a pair


def symbol_sets(rules: VectorRules) -> SymbolSets:
    """The sets of symbols of a model's rules."""
    group, members, starts = rules.group, rules.members, rules.member_starts
    integers = (int(np.diff(starts).max()) + BITS - 1) // BITS

    def sets(numbers: IntArray | LongArray, symbols: IntArray) -> NDArray[np.uint64]:
        bits = np.zeros((int(numbers.max(initial=0)) + 1, integers), np.uint64)
        place = rules.place[symbols]
        np.bitwise_or.at(bits, (numbers, place // BITS), np.uint64(1) << (place % BITS).astype(np.uint64))
        return bits

    groups = len(starts) - 1
    keys = group[np.stack((rules.left, rules.right, rules.parent))].astype(np.int64)
    _, triples = np.unique((keys[0] * groups + keys[1]) * groups + keys[2], return_inverse=True)
    blocks = [rules.blocks[members[starts[a] : starts[a + 1]], b] for a, b in np.argwhere(rules.couples >= 0)]
    block_starts = np.cumsum([0, *map(len, blocks)]).astype(np.int32)
    over = np.full((groups, groups), -1, np.int32)
    pairs, which = np.unique(group[rules.above].astype(np.int64) * groups + group[rules.below], return_inverse=True)
    over.ravel()[pairs] = np.arange(len(pairs))
    left, right, only = sets(triples, rules.left), sets(triples, rules.right), sets(which, rules.below)
    every_block = np.concatenate([*blocks, np.empty(0, np.int32)])
    return SymbolSets(every_block, block_starts, left, right, over, only)


class Kept(NamedTuple):
    """The categories that the coarse grammar leaves of a sentence, and the symbols of these that fit.

    The categories of cell c are starts[c] to starts[c + 1] of `groups`. `allowed` (categories of all cells, W) are sets
    of symbols; it is empty, and so is `kept`, if nothing is pruned. `ways` (1) is the number of rules between kept
    categories over adjacent spans, unary rules included.
    """

    kept: BoolArray  # (cells, G)
    starts: IntArray
    groups: IntArray
    allowed: NDArray[np.uint64]
    ways: LongArray


class Sets(NamedTuple):
    """The sets of symbols, and the categories of rules: the few arrays of `VectorRules` and `SymbolSets` to read."""

    couples: IntArray
    couple_starts: IntArray
    couple_parents: IntArray
    left: NDArray[np.uint64]
    right: NDArray[np.uint64]
    over: IntArray
    only: NDArray[np.uint64]


def kept_categories(rules: VectorRules, sets: SymbolSets, n: int, kept: BoolArray) -> Kept | None:
    """The categories that are `kept` (cells, G) of n words; None if ROOT is not kept over all words."""
    if not n or not kept[-1, rules.group[ROOT]]:
        return None
    cell, group = np.nonzero(kept)
    starts, groups = np.searchsorted(cell, np.arange(len(kept) + 1)).astype(np.int32), group.astype(np.int32)
    allowed = np.zeros((len(groups), sets.left.shape[1]), np.uint64)
    left = Kept(kept, starts, groups, allowed, np.zeros(1, np.int64))
    whole = slice(starts[-2], starts[-1])  # the cell of all words: only ROOT, the first of its category
    left.allowed[whole, 0][groups[whole] == rules.group[ROOT]] = 1
    of_rules = rules.couples, rules.couple_starts, rules.couple_parents
    allow(Sets(*of_rules, sets.left, sets.right, sets.over, sets.only), np.zeros(n, np.int32), left, None)
    return left


def every_category(cells: int, groups: int) -> Kept:
    """All categories in so many cells, with all their symbols."""
    nothing, none, starts = np.zeros((0, groups), np.bool_), np.zeros((0, 1), np.uint64), np.arange(cells + 1) * groups
    every = np.tile(np.arange(groups, dtype=np.int32), cells)
    return Kept(nothing, starts.astype(np.int32), every, none, np.zeros(1, np.int64))


@part
def allow_only(grammar: Sets, left: Kept, work: None, i: int, j: int, n: int) -> bool:  # noqa: ARG001
    """Allow the children of unary rules in a cell; return whether the cell has a category."""
    kept_starts, groups, allowed = left.starts, left.groups, left.allowed
    cell, ways = cell_number(i, j, n), 0
    first, last = kept_starts[cell], kept_starts[cell + 1]
    for one in range(first, last):
        for two in range(first, last):
            pair = grammar.over[groups[one], groups[two]]
            if pair >= 0:
                ways += 1
                for w in range(allowed.shape[1]):
                    allowed[two, w] |= grammar.only[pair, w]
    left.ways[0] += ways
    return bool(first < last)


@part
def allow_both(grammar: Sets, left: Kept, work: None, i: int, k: int, j: int, n: int) -> None:  # noqa: ARG001
    """Allow the children of binary rules over a split point."""
    kept, starts, groups, allowed = left.kept, left.starts, left.groups, left.allowed
    cell, first, second, ways = cell_number(i, j, n), cell_number(i, k, n), cell_number(k, j, n), 0
    for one in range(starts[first], starts[first + 1]):
        for two in range(starts[second], starts[second + 1]):
            couple = grammar.couples[groups[one], groups[two]]
            if couple >= 0:
                for triple in range(grammar.couple_starts[couple], grammar.couple_starts[couple + 1]):
                    if kept[cell, grammar.couple_parents[triple]]:
                        ways += 1
                        for w in range(allowed.shape[1]):
                            allowed[one, w] |= grammar.left[triple, w]
                            allowed[two, w] |= grammar.right[triple, w]
    left.ways[0] += ways


@part
def no_word(grammar: Sets, left: Kept, work: None, i: int, word: int) -> None:
    """A word allows no children."""


@part
def no_more(grammar: Sets, left: Kept, work: None, i: int, j: int, n: int) -> None:
    """A cell needs nothing after its split points."""


# Add the symbols that fit what is kept to the sets of `Kept`, which are empty before, and count the ways.
allow = inside_over_spans(allow_only, no_word, allow_both, no_more)
