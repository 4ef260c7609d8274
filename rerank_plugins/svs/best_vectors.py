"""The best vectors of a pruned chart by eq. 8 (chart.py), for the symbols that can be in trees.

The coarse grammar leaves categories over each span. A symbol lc of such a category can be in a tree only if a rule has
it as a child, its parent's category is kept over some longer span, and its sibling's over the rest of that span. That
leaves hardly more symbols than are in some tree of the sentence. The symbols of a category are bits of integers.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy import uintp  # an index that is not compared with 0
from numpy.typing import NDArray

from rerank_plugins import BoolArray, FloatArray, IntArray, LongArray
from rerank_plugins.constituency.grammar import ROOT
from rerank_plugins.constituency.outside import cell_number
from rerank_plugins.kit.bundles import bundled
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.svs.chart import EMISSION, FAST
from rerank_plugins.svs.vector_chart import HIGHEST, power_factor
from rerank_plugins.svs.vector_rules import VectorRules

BITS = 64
NO_ROOM = -2  # result of `fill_kept`: the heap has no room for all items
NOTHING, CHAIN = -1.0, -0.5  # worth of a symbol that does not derive the span, or only by unary rules


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
    """The sets of symbols of a model's rules, bundled."""
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
    block_starts = np.cumsum([0, *map(len, blocks)]).astype(np.int32)
    over = np.full((groups, groups), -1, np.int32)
    pairs, which = np.unique(group[rules.above].astype(np.int64) * groups + group[rules.below], return_inverse=True)
    over.ravel()[pairs] = np.arange(len(pairs))
    left, right, only = sets(triples, rules.left), sets(triples, rules.right), sets(which, rules.below)
    every_block = np.concatenate([*blocks, np.empty(0, np.int32)])
    return bundled(SymbolSets(every_block, block_starts, left, right, over, only))


class Candidates(NamedTuple):
    """What the kernel notes of the items of a sentence, and of the symbols and concepts of a cell."""

    # worth, scale: (items) aᵀe, and the factor of the product of the children's vectors
    worth: FloatArray
    scale: FloatArray
    bits: IntArray  # (items) the number of the symbol in its category
    # where, here: (S) the item of each symbol in the right cell of a split point, and in the present cell
    where: IntArray
    here: IntArray
    # both, e: (K)
    both: FloatArray
    e: FloatArray


def candidates(items: int, symbols: int, concepts: int) -> Candidates:
    """Room for so many items, bundled."""
    (worth, scale), (both, e), (where, here) = (
        np.empty((2, items)), np.empty((2, concepts)), np.empty((2, symbols), np.int32)
    )  # fmt: skip
    return bundled(Candidates(worth, scale, np.empty(items, np.int32), where, here, both, e))


class Kept(NamedTuple):
    """The categories that the coarse grammar leaves of a sentence, and the symbols of these that fit.

    The categories of cell c are starts[c] to starts[c + 1] of `groups`. `allowed` (categories of all cells, W) are sets
    of symbols. `runs` (2, categories of all cells): the first item of each, and the one after the last.
    """

    kept: BoolArray  # (cells, G)
    starts: IntArray
    groups: IntArray
    allowed: NDArray[np.uint64]
    runs: IntArray


def kept_categories(rules: VectorRules, sets: SymbolSets, n: int, kept: BoolArray) -> Kept | None:
    """The categories that are `kept` (cells, G) of n words; None if ROOT is not kept over all words."""
    starts = np.concatenate(([0], np.cumsum(kept.sum(axis=1)))).astype(np.int32)
    groups = np.nonzero(kept)[1].astype(np.int32)
    allowed = np.zeros((len(groups), sets.left.shape[1]), np.uint64)
    if not allow(rules, sets, n, kept, starts, groups, allowed):
        return None
    return Kept(kept, starts, groups, allowed, np.empty((2, len(groups)), np.int32))


@filling_kernel
def allow(rules: Any, sets: Any, n: int, kept: Any, starts: Any, groups: Any, allowed: Any) -> bool:
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
                    pair = sets.over[groups[one], groups[two]]
                    if pair >= 0:
                        for w in range(integers):
                            allowed[two, w] |= sets.only[pair, w]
            for k in range(i + 1, i + width):
                left, right = cell_number(i, k, n), cell_number(k, i + width, n)
                for one in range(starts[left], starts[left + 1]):
                    for two in range(starts[right], starts[right + 1]):
                        couple = rules.couples[groups[one], groups[two]]
                        if couple >= 0:
                            for triple in range(rules.couple_starts[couple], rules.couple_starts[couple + 1]):
                                if kept[cell, rules.couple_parents[triple]]:
                                    for w in range(integers):
                                        allowed[one, w] |= sets.left[triple, w]
                                        allowed[two, w] |= sets.right[triple, w]
    return True


@partial(filling_kernel, fastmath=FAST)
def fill_kept(
    rules: Any,
    sets: Any,
    words: Any,
    kept: Any,
    starts: Any,
    groups: Any,
    allowed: Any,
    runs: Any,
    heap: Any,
    work: Any,
) -> int:
    """Fill the heap from `Kept`, from narrow cells to wide ones; return ROOT's item, -1 without a tree, or NO_ROOM.

    The cells of the heap are those of the sentence. An item with the worth 0 has the vector 0. The items of a cell are
    sorted by category. The arrays of `Kept` are arguments of their own, `work` are `Candidates`.
    """
    worth, scale, bits, where, here = work.worth, work.scale, work.bits, work.where, work.here
    both, e, vector = work.both, work.e, heap.vector
    begins, ends, powers, symbol_of = heap.begin, heap.end, heap.power, heap.symbol
    rule_of, left_of, right_of = heap.rule, heap.left, heap.right
    block_pairs, pair_right, rule_starts = rules.block_pairs, rules.pair_right, rules.rule_starts
    parents, weight, transfer, word_p = rules.parent, rules.weight, rules.transfer, rules.word_p
    members, member_starts = rules.members, rules.member_starts
    couple_starts, couple_parents = rules.couple_starts, rules.couple_parents
    chained, chain_starts, chains, parents_of_chains = rules.chained, rules.chain_starts, rules.chains, rules.above
    n, concepts = len(words), len(both)
    for symbol in range(len(here)):
        where[symbol] = here[symbol] = -1
    size = 0
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            cell = cell_number(i, i + width, n)
            begin = size
            begins[cell], ends[cell], heap.width[cell] = begin, begin, width
            powers[cell] = HIGHEST
            if starts[cell] == starts[cell + 1]:
                continue
            if begin + len(here) > len(symbol_of):
                return NO_ROOM
            # The power of two of the cell: the lowest of the products of two cells.
            power = 0 if width == 1 else HIGHEST
            for k in range(i + 1, i + width):
                one, two = powers[cell_number(i, k, n)], powers[cell_number(k, i + width, n)]
                if one < HIGHEST and two < HIGHEST:
                    power = min(power, one + two)
            if power == HIGHEST:
                for place in range(starts[cell], starts[cell + 1]):
                    runs[0, place] = runs[1, place] = begin
                continue
            # The symbols that may be in a tree.
            for place in range(starts[cell], starts[cell + 1]):
                runs[0, place] = size
                first = member_starts[groups[place]]
                for bit in range(member_starts[groups[place] + 1] - first):
                    if (allowed[place, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1):
                        symbol = members[first + bit]
                        here[symbol] = size
                        symbol_of[size], bits[size], worth[size] = symbol, bit, NOTHING
                        size += 1
            if width == 1:
                for entry in range(rules.words[words[i]], rules.words[words[i] + 1]):
                    item = here[rules.word_symbol[entry]]
                    if item >= 0:
                        worth[item] = scale[item] = 1.0  # a preterminal has no other candidate
                        rule_of[item], left_of[item], right_of[item] = EMISSION, entry, -1
            # The best pair of children for each of them.
            for k in range(i + 1, i + width):
                left, right = cell_number(i, k, n), cell_number(k, i + width, n)
                if powers[left] == HIGHEST or powers[right] == HIGHEST:
                    continue
                factor = power_factor(powers, power, left, right)
                right_begin, right_end = begins[right], ends[right]
                for y in range(right_begin, right_end):
                    where[symbol_of[y]] = y
                for one in range(starts[left], starts[left + 1]):
                    if runs[0, one] == runs[1, one]:
                        continue
                    for two in range(starts[right], starts[right + 1]):
                        couple = rules.couples[groups[one], groups[two]]
                        if couple < 0 or runs[0, two] == runs[1, two]:
                            continue
                        fits = False
                        for triple in range(couple_starts[couple], couple_starts[couple + 1]):
                            fits = fits or kept[cell, couple_parents[triple]]
                        if not fits:
                            continue
                        offset = sets.block_starts[couple]
                        for x in range(runs[0, one], runs[1, one]):
                            block = sets.blocks[uintp(offset + bits[uintp(x)])]
                            if block < 0:
                                continue
                            for pair in range(block_pairs[uintp(block)], block_pairs[uintp(block + 1)]):
                                y = where[uintp(pair_right[uintp(pair)])]
                                if y < right_begin or y >= right_end:  # an item of another cell
                                    continue
                                multiplied = False
                                for rule in range(rule_starts[uintp(pair)], rule_starts[uintp(pair + 1)]):
                                    item = here[uintp(parents[uintp(rule)])]
                                    if item >= 0:
                                        if not multiplied:
                                            multiplied = True
                                            for c in range(concepts):
                                                both[c] = factor * vector[uintp(x), c] * vector[uintp(y), c]
                                        value = 0.0
                                        for c in range(concepts):
                                            value += weight[uintp(rule), c] * both[c]
                                        if value > worth[uintp(item)]:
                                            worth[item], scale[item] = value, factor
                                            rule_of[item], left_of[item], right_of[item] = rule, x, y
            # Their items: only those that derive the span stay.
            for item in range(begin, size):
                symbol = symbol_of[item]
                if worth[item] >= 0.0 and not chained[symbol]:
                    for place in range(chain_starts[symbol], chain_starts[symbol + 1]):
                        above = here[parents_of_chains[chains[place]]]
                        if above >= 0:
                            worth[above] = max(worth[above], CHAIN)
            end, after = begin, begin
            for place in range(starts[cell], starts[cell + 1]):
                first, after = after, runs[0, place + 1] if place + 1 < starts[cell + 1] else size
                runs[0, place] = end
                for item in range(first, after):
                    symbol = symbol_of[item]
                    here[symbol] = -1
                    if worth[item] > NOTHING:
                        here[symbol] = end
                        symbol_of[end], heap.cell[end], rule_of[end] = symbol, cell, rule_of[item]
                        left_of[end], right_of[end] = left_of[item], right_of[item]
                        bits[end], worth[end], scale[end] = bits[item], worth[item], scale[item]
                        end += 1
                runs[1, place] = end
            size = end
            ends[cell] = end
            # The vectors e (eq. 4), stored as L e: items without unary rules, then those above them.
            largest = 0.0
            for level in range(2):
                for item in range(begin, end):
                    symbol = symbol_of[item]
                    if chained[symbol] != (level == 1):
                        continue
                    rule, x, y = rule_of[item], left_of[item], right_of[item]
                    if worth[item] <= 0.0:
                        for c in range(concepts):
                            e[c] = 0.0
                        left_of[item] = right_of[item] = -1
                    elif rule >= 0:
                        for c in range(concepts):
                            e[c] = rules.p[rule, c] * (scale[item] * vector[x, c] * vector[y, c])
                    elif rule == EMISSION:
                        for c in range(concepts):
                            e[c] = word_p[x, c]
                        left_of[item] = -1
                    else:
                        for c in range(concepts):
                            e[c] = rules.chain_p[-2 - rule, c] * vector[x, c]
                    relation = rules.relation[symbol]
                    for c in range(concepts):
                        value = 0.0
                        for child in range(concepts):
                            value += transfer[relation, c, child] * e[child]
                        vector[item, c] = value
                        largest = max(largest, value)
                    # This item as the only child.
                    for place in range(chain_starts[symbol], chain_starts[symbol + 1]):
                        chain = chains[place]
                        above = here[parents_of_chains[chain]]
                        if above >= 0:
                            value = 0.0
                            for c in range(concepts):
                                value += rules.chain_weight[chain, c] * vector[item, c]
                            if value > worth[above]:
                                worth[above] = value
                                rule_of[above], left_of[above], right_of[above] = -2 - chain, item, -1
            # Scale the cell, so that its largest number is between 1/2 and 1.
            if largest > 0.0:
                shift = -math.frexp(largest)[1]
                factor = math.ldexp(1.0, shift)
                powers[cell] = power + shift
                for item in range(begin, end):
                    for c in range(concepts):
                        vector[item, c] *= factor
            for item in range(begin, end):
                here[symbol_of[item]] = -1
    top = ends[len(kept) - 1] - 1
    while top >= begins[len(kept) - 1] and (symbol_of[top] != ROOT or worth[top] <= 0.0):
        top -= 1
    return top if top >= begins[len(kept) - 1] else -1
