"""The best vectors of a pruned chart by eq. 8 (chart.py), for the symbols that can be in trees (fitting_symbols.py)."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import FloatArray, IntArray
from rerank_plugins.kit.bundles import bundled
from rerank_plugins.kit.charts.rules import ROOT
from rerank_plugins.kit.charts.spans import cell_number
from rerank_plugins.kit.kernels import filling_kernel, part
from rerank_plugins.svs.chart import EMISSION, FAST, transferred
from rerank_plugins.svs.vector_cells import HIGHEST, lowest_power, normalise, power_factor

NO_ROOM = -2  # result of `fill_kept`: the heap has no room for all items
NOTHING, CHAIN = -1.0, -0.5  # worth of a symbol that does not derive the span, or only by unary rules


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


@part
def keep_derived(rules: Any, heap: Any, starts: Any, runs: Any, cell: int, size: int, work: Any) -> Any:
    """Keep those candidates of a cell, the items up to `size`, that derive the span; return the end of its items."""
    worth, scale, bits, here = work.worth, work.scale, work.bits, work.here
    symbol_of, rule_of, left_of, right_of = heap.symbol, heap.rule, heap.left, heap.right
    chained, chain_starts, chains, parents_of_chains = rules.chained, rules.chain_starts, rules.chains, rules.above
    begin = heap.begin[cell]
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
    return end


@partial(part, fastmath=FAST)
def write_vectors(rules: Any, heap: Any, begin: int, end: int, work: Any) -> None:
    """Write L e of a cell's items from their rules and children (eq. 4): first without unary rules, then with them."""
    worth, scale, here, e, vector = work.worth, work.scale, work.here, work.e, heap.vector
    symbol_of, rule_of, left_of, right_of = heap.symbol, heap.rule, heap.left, heap.right
    chained, chain_starts, chains, parents_of_chains = rules.chained, rules.chain_starts, rules.chains, rules.above
    word_p, relation, transfer = rules.word_p, rules.relation, rules.transfer
    concepts = len(e)
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
            transferred(transfer[relation[symbol]], e, vector[item])
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


@partial(filling_kernel, fastmath=FAST)
def fill_kept(
    rules: Any, sets: Any, words: Any, kept: Any, starts: Any, groups: Any, allowed: Any, runs: Any, heap: Any,
    work: Any,
) -> int:  # fmt: skip
    """Fill the heap from `Kept`, from narrow cells to wide ones; return ROOT's item, -1 without a tree, or NO_ROOM.

    The cells of the heap are those of the sentence. An item with the worth 0 has the vector 0. The items of a cell are
    sorted by category. The arrays of `Kept` are arguments of their own, `work` are `Candidates`.
    """
    worth, scale, bits, where, here = work.worth, work.scale, work.bits, work.where, work.here
    both, vector = work.both, heap.vector
    begins, ends, powers, symbol_of = heap.begin, heap.end, heap.power, heap.symbol
    rule_of, left_of, right_of = heap.rule, heap.left, heap.right
    block_pairs, pair_right, rule_starts = rules.block_pairs, rules.pair_right, rules.rule_starts
    parents, weight = rules.parent, rules.weight
    members, member_starts = rules.members, rules.member_starts
    couple_starts, couple_parents = rules.couple_starts, rules.couple_parents
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
            power = lowest_power(powers, i, i + width, n)
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
                            block = sets.blocks[offset + bits[x]]
                            if block < 0:
                                continue
                            for pair in range(block_pairs[block], block_pairs[block + 1]):
                                y = where[pair_right[pair]]
                                if y < right_begin or y >= right_end:  # an item of another cell
                                    continue
                                multiplied = False
                                for rule in range(rule_starts[pair], rule_starts[pair + 1]):
                                    item = here[parents[rule]]
                                    if item >= 0:
                                        if not multiplied:
                                            multiplied = True
                                            for c in range(concepts):
                                                both[c] = factor * vector[x, c] * vector[y, c]
                                        value = 0.0
                                        for c in range(concepts):
                                            value += weight[rule, c] * both[c]
                                        if value > worth[item]:
                                            worth[item], scale[item] = value, factor
                                            rule_of[item], left_of[item], right_of[item] = rule, x, y
            # Their items, with vectors.
            end = size = ends[cell] = keep_derived(rules, heap, starts, runs, cell, size, work)
            write_vectors(rules, heap, begin, end, work)
            shift = normalise(vector, begin, end)
            if shift < HIGHEST:
                powers[cell] = power + shift
            for item in range(begin, end):
                here[symbol_of[item]] = -1
    top = ends[len(kept) - 1] - 1
    while top >= begins[len(kept) - 1] and (symbol_of[top] != ROOT or worth[top] <= 0.0):
        top -= 1
    return top if top >= begins[len(kept) - 1] else -1
