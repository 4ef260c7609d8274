"""Selects the symbols that a pruned chart needs: those that fit some kept category above them and some kept sibling.

The coarse grammar leaves categories over each span. A symbol lc of such a category can be in a tree only if a rule has
it as a child, its parent's category is kept over some span that is longer, and its sibling's over the rest of that
span. A relation such as MOD:NP> fits few constituents, so that this leaves hardly more symbols than those that are in
some tree of the whole sentence, in one step for each three categories. The symbols of a category are bits of integers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.constituency.grammar import ROOT
from rerank_plugins.constituency.outside import cell_number
from rerank_plugins.core.arrays import BoolArray, FloatArray, IntArray, LongArray
from rerank_plugins.kit.kernels import part
from rerank_plugins.svs.vector_rules import VectorRules

BITS = 64


class PrunedRules(NamedTuple):
    """What the kernel of a pruned chart reads: arrays of `VectorRules`, and sets of symbols, of W integers each.

    Bit b of integer w is the symbol 64 w + b of its category.

    `blocks`  block of pairs by couple of categories and left symbol: blocks[block_starts[c] + b] for couple c and the
              symbol with the number b in the left category, -1 for none
    `left`, `right`  (T, W) the children of binary rules over three categories, in the order of `couple_parents`
    `over`    (G, G) the pair of the categories of a unary rule's parent and child, -1 if there is no such rule
    `only`    (pairs, W) the children of unary rules over a pair
    """

    group: IntArray
    members: IntArray
    member_starts: IntArray
    couples: IntArray
    couple_starts: IntArray
    couple_parents: IntArray
    block_pairs: IntArray
    pair_right: IntArray
    rule_starts: IntArray
    parent: IntArray
    p: FloatArray
    weight: FloatArray
    chained: BoolArray
    above: IntArray
    chain_starts: IntArray
    chains: IntArray
    chain_p: FloatArray
    chain_weight: FloatArray
    relation: IntArray
    transfer: FloatArray
    words: IntArray
    word_symbol: IntArray
    word_p: FloatArray
    blocks: IntArray
    block_starts: IntArray
    left: NDArray[np.uint64]
    right: NDArray[np.uint64]
    over: IntArray
    only: NDArray[np.uint64]


def pruned_rules(rules: VectorRules) -> PrunedRules:
    """The arrays for the kernel of a pruned chart."""
    group, members, starts = rules.group, rules.members, rules.member_starts
    places = np.empty(len(group), np.int32)
    places[members] = np.arange(len(group)) - np.repeat(starts[:-1], np.diff(starts))
    integers = (int(np.diff(starts).max()) + BITS - 1) // BITS

    def sets(numbers: IntArray | LongArray, symbols: IntArray) -> NDArray[np.uint64]:
        bits = np.zeros((int(numbers.max(initial=0)) + 1, integers), np.uint64)
        place = places[symbols]
        np.bitwise_or.at(bits, (numbers, place // BITS), np.uint64(1) << (place % BITS).astype(np.uint64))
        return bits

    groups = len(starts) - 1
    keys = group[np.stack((rules.left, rules.right, rules.parent))].astype(np.int64)
    _, triples = np.unique((keys[0] * groups + keys[1]) * groups + keys[2], return_inverse=True)
    blocks = [rules.blocks[members[starts[a] : starts[a + 1]], b] for a, b in np.argwhere(rules.couples >= 0)]
    over = np.full((groups, groups), -1, np.int32)
    pairs, which = np.unique(group[rules.above].astype(np.int64) * groups + group[rules.below], return_inverse=True)
    over.ravel()[pairs] = np.arange(len(pairs))
    own = {
        "blocks": np.concatenate([*blocks, np.empty(0, np.int32)]),
        "block_starts": np.cumsum([0, *map(len, blocks)]).astype(np.int32),
        "left": sets(triples, rules.left),
        "right": sets(triples, rules.right),
        "over": over,
        "only": sets(which, rules.below),
    }
    return PrunedRules(*(own[name] if name in own else getattr(rules, name) for name in PrunedRules._fields))


@part
def list_kept(kept: Any, starts: Any, groups: Any) -> int:
    """List the categories that are `kept` (cells, G): those of cell c are groups[starts[c] : starts[c + 1]]."""
    size = 0
    for cell in range(len(kept)):
        for group in range(kept.shape[1]):
            if kept[cell, group]:
                groups[size] = group
                size += 1
        starts[cell + 1] = size
    return size


@part
def allow(rules: Any, n: int, kept: Any, starts: Any, groups: Any, allowed: Any) -> bool:
    """Fill `allowed` (kept categories of all cells, W), empty sets before, with the symbols that fit what is kept.

    The result is false if ROOT is not kept over all words.
    """
    integers = allowed.shape[1]
    last = len(kept) - 1
    if not kept[last, rules.group[ROOT]]:
        return False
    for place in range(starts[last], starts[last + 1]):
        if groups[place] == rules.group[ROOT]:
            allowed[place, 0] = 1  # the first symbol of its category
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            cell = cell_number(i, i + width, n)
            if starts[cell] == starts[cell + 1]:
                continue
            for one in range(starts[cell], starts[cell + 1]):
                for two in range(starts[cell], starts[cell + 1]):
                    pair = rules.over[groups[one], groups[two]]
                    if pair >= 0:
                        for w in range(integers):
                            allowed[two, w] |= rules.only[pair, w]
            for k in range(i + 1, i + width):
                left, right = cell_number(i, k, n), cell_number(k, i + width, n)
                for one in range(starts[left], starts[left + 1]):
                    for two in range(starts[right], starts[right + 1]):
                        couple = rules.couples[groups[one], groups[two]]
                        if couple >= 0:
                            for triple in range(rules.couple_starts[couple], rules.couple_starts[couple + 1]):
                                if kept[cell, rules.couple_parents[triple]]:
                                    for w in range(integers):
                                        allowed[one, w] |= rules.left[triple, w]
                                        allowed[two, w] |= rules.right[triple, w]
    return True
