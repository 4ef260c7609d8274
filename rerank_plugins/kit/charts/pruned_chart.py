"""Inside and outside over a chart that keeps, for every span, only the bases that pruning has left: items.py.

Cells are numbered as in outside.py; item e has the values values[offsets[e]] to values[offsets[e + 1]], one for each
symbol of its base: `lower` is inside before the unary rules, `upper` after them. The recursion is that of all pruned
charts (over_spans.py), with the functions of this module. The inside pass records the pairs of items that meet at a
split point, and the outside pass goes through them again. A rule is applied once to a cell:

    V(a, i, j) = Σ_{b, c} p(a → b c) M(b, c),   M(b, c) = Σ_k I(b, i, k) I(c, k, j)
    O(b, i, k) += T(b, c) I(c, k, j),           T(b, c) = Σ_a O(a, i, j) p(a → b c),         O(c, k, j) likewise

The sum of T(b, c) I(b, i, k) I(c, k, j) over the symbols of one parent base is p of all derivations that use the rule
of the bases over these spans: the score of an edge of the hypergraph (hypergraph.py).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.kit.charts.blocks import Blocks, UnaryBlocks
from rerank_plugins.kit.charts.hypergraph import Edges, Hypergraph, add_edge, hypergraph, make_edges
from rerank_plugins.kit.charts.items import Items, meetings_at_most
from rerank_plugins.kit.charts.over_spans import inside_over_spans, outside_over_spans
from rerank_plugins.kit.charts.spans import cell_number, split_number, splits
from rerank_plugins.kit.kernels import part

FAST = {"reassoc", "contract", "nsz"}  # sums in any order
ALMOST_ONE = 1 - 1e-9  # an upper bound of unary posteriors, so that a cycle of unary rules has a negative score


class Pruning(NamedTuple):
    """The rules of a grammar, the items that pruning has left of a sentence, and the scales (n) of its words."""

    blocks: Blocks
    items: Items
    scales: FloatArray


class Passes(NamedTuple):
    """The arrays that the passes fill in."""

    # (values) `lower` and `upper` are inside probabilities below and above the chains of unary rules, 0 at first;
    # `outer` and `inner` are outside probabilities of symbols at the top of a chain and at its bottom
    lower: FloatArray
    upper: FloatArray
    outer: FloatArray
    inner: FloatArray
    # The pairs of items, `left` and `right`, of a number in `Blocks.pair`, that make an item of a cell. Those of split
    # point s (`split_number`) are met[s, 0] to met[s, 1], ordered by left and right item.
    met: LongArray
    left: IntArray
    right: IntArray
    pair: IntArray


class Outside(NamedTuple):
    """The arrays that the outside pass reads and fills in: `passes`, and the edges of the hypergraph.

    `total` is p(sentence) in the chart; the score of unary rules is `most` at most.
    """

    passes: Passes
    edges: Edges
    total: float
    most: float


class CellBuffers(NamedTuple):
    """The arrays that the passes need for the present cell: of C bases, P pairs of bases, and pairs of symbols."""

    # (C) of each base in the present cell: inside, the offset of its values; outside, its item; -1 if it was
    # pruned, and between two cells
    where: LongArray
    # (P) where the pairs of symbols of each pair of bases begin in `sums`; -1 if it is not there, -2 if it has no
    # parent
    place: LongArray
    touched: LongArray  # (P) the pairs of bases that the cell has; `alive` (P) the number of items that each makes
    alive: LongArray
    # (`Blocks.room`) values of pairs of symbols; `products` (pairs of symbols) likewise, of one pair of bases
    sums: FloatArray
    products: FloatArray
    numbers: LongArray  # (4) at the places of the following constants


TOUCHED, ROOM = 0, 1  # of the present cell: how many pairs of bases are `touched`, how much of `sums` is used
MEETINGS = 2  # of all cells so far, inside: the number of pairs of items
WAYS = 3  # of all cells so far: the number of items that pairs of items make, or, outside, of edges


def cell_buffers(blocks: Blocks) -> CellBuffers:
    """Return room for the passes over a chart with these blocks."""
    pairs = len(blocks.starts) - 1
    place, touched, alive = np.full((3, pairs), -1, np.int64)
    where, sums, products = np.full(len(blocks.states), -1, np.int64), np.empty(blocks.room), np.empty(len(blocks.b))
    return CellBuffers(where, place, touched, alive, sums, products, np.zeros(4, np.int64))


@partial(part, forceinline=True)
def open_items(pruning: Pruning, passes: Passes, work: CellBuffers, i: int, j: int, n: int) -> bool:  # noqa: ARG001
    """Note where the values of the items of a cell begin; return whether there are any."""
    items, where, cell = pruning.items, work.where, cell_number(i, j, n)
    work.numbers[TOUCHED] = work.numbers[ROOM] = 0
    for item in range(items.starts[cell], items.starts[cell + 1]):
        where[items.base[item]] = items.offsets[item]
    return bool(items.starts[cell] < items.starts[cell + 1])


@partial(part, forceinline=True)
def emit_items(pruning: Pruning, passes: Passes, work: CellBuffers, i: int, word: int) -> None:
    """Emissions: V(a, i, i + 1) = p(word | a) · scale."""
    blocks, where, lower = pruning.blocks, work.where, passes.lower
    for e in range(blocks.words[word], blocks.words[word + 1]):
        symbol = blocks.word_symbol[e]
        if where[blocks.base[symbol]] >= 0:
            lower[where[blocks.base[symbol]] + blocks.local[symbol]] = blocks.word_p[e] * pruning.scales[i]


@partial(part, forceinline=True)
def meet_items(pruning: Pruning, passes: Passes, work: CellBuffers, i: int, k: int, j: int, n: int) -> None:
    """Add the products of a split point to M(b, c) = Σ_k I(b, i, k) I(c, k, j), and note the pairs of items."""
    blocks, items, upper = pruning.blocks, pruning.items, passes.upper
    pair_of, groups, group_b, group_c = blocks.pair, blocks.groups, blocks.b, blocks.c
    cell_starts, item_base, item_offsets = items.starts, items.base, items.offsets
    met_left, met_right, met_pair = passes.left, passes.right, passes.pair
    place, alive, sums = work.place, work.alive, work.sums
    met, ways = work.numbers[MEETINGS], work.numbers[WAYS]
    split, left_cell, right_cell = split_number(i, k, j, n), cell_number(i, k, n), cell_number(k, j, n)
    passes.met[split, 0] = met
    for x in range(cell_starts[left_cell], cell_starts[left_cell + 1]):
        left = item_offsets[x]
        for y in range(cell_starts[right_cell], cell_starts[right_cell + 1]):
            pair = pair_of[item_base[x], item_base[y]]
            if pair < 0:
                continue
            if place[pair] == -1:
                touch(blocks, work, pair)
            if place[pair] < 0:
                continue
            ways += alive[pair]
            met_left[met], met_right[met], met_pair[met] = x, y, pair
            met += 1
            begin, end = groups[pair], groups[pair + 1]
            right, shift = item_offsets[y], np.uint64(place[pair]) - begin
            for g in range(begin, end):
                sums[shift + g] += upper[left + group_b[g]] * upper[right + group_c[g]]
    passes.met[split, 1] = work.numbers[MEETINGS] = met
    work.numbers[WAYS] = ways


@part
def touch(blocks: Blocks, work: CellBuffers, pair: int) -> None:
    """Make room for the sums of a pair of bases that the cell has not had before, if it has a parent in the cell."""
    block_parent, where, numbers = blocks.parent, work.where, work.numbers
    work.touched[numbers[TOUCHED]] = pair
    numbers[TOUCHED] += 1
    alive = 0
    for block in range(blocks.starts[pair], blocks.starts[pair + 1]):
        if where[block_parent[block]] >= 0:
            alive += 1
    work.place[pair], work.alive[pair] = -2, alive
    if alive:
        work.place[pair] = numbers[ROOM]
        room = np.uint64(numbers[ROOM])
        size = blocks.groups[pair + 1] - blocks.groups[pair]
        for g in range(room, room + size):
            work.sums[g] = 0.0
        numbers[ROOM] += np.int64(size)


@partial(part, forceinline=True)
def close_items(pruning: Pruning, passes: Passes, work: CellBuffers, i: int, j: int, n: int) -> None:
    """Binary rules, V(a, i, j) = Σ_{b, c} p(a → b c) M(b, c), and chains, I(s, i, j) = Σ_a R(s, a) V(a, i, j)."""
    blocks, items, lower, upper, where = pruning.blocks, pruning.items, passes.lower, passes.upper, work.where
    block_starts, block_parent, block_entries = blocks.starts, blocks.parent, blocks.entries
    rule_a, rule_group, rule_p, sums = blocks.a, blocks.group, blocks.p, work.sums
    for t in range(work.numbers[TOUCHED]):
        pair = work.touched[t]
        here, work.place[pair] = work.place[pair], -1
        if here >= 0:
            for block in range(block_starts[pair], block_starts[pair + 1]):
                if where[block_parent[block]] >= 0:
                    parent, sums_here = np.uint64(where[block_parent[block]]), np.uint64(here)
                    for e in range(block_entries[block], block_entries[block + 1]):
                        lower[parent + rule_a[e]] += rule_p[e] * sums[sums_here + rule_group[e]]
    cell, chains = cell_number(i, j, n), blocks.chains
    entries, above, below, p = chains.entries, chains.a, chains.b, chains.p
    for item in range(items.starts[cell], items.starts[cell + 1]):
        child, base = items.offsets[item], items.base[item]
        for block in range(chains.starts[base], chains.starts[base + 1]):
            if where[chains.parent[block]] >= 0:
                parent = np.uint64(where[chains.parent[block]])
                for e in range(entries[block], entries[block + 1]):
                    upper[parent + above[e]] += p[e] * lower[child + below[e]]
    for item in range(items.starts[cell], items.starts[cell + 1]):
        where[items.base[item]] = -1


@partial(part, forceinline=True, fastmath=FAST)
def descend(pruning: Pruning, outside: Outside, work: CellBuffers, i: int, j: int, n: int) -> bool:
    """Go down the chains of unary rules, inner(b) = Σ_a R(a, b) outer(a); return whether the cell has items.

    Adds edges from 2e to 2e + 1 by the empty chain, and from 2e + 1 to the vertices above by every unary rule:
    Σ_{a → b} outside(a) p(a → b) I(b, i, j) / p(sentence).
    """
    blocks, items, where, edges = pruning.blocks, pruning.items, work.where, outside.edges
    upper, outer, inner = outside.passes.upper, outside.passes.outer, outside.passes.inner
    chains, unary, item_offsets, item_base = blocks.chains, blocks.unary, items.offsets, items.base
    cell, count = cell_number(i, j, n), work.numbers[WAYS]
    first, last = items.starts[cell], items.starts[cell + 1]
    work.numbers[TOUCHED] = work.numbers[ROOM] = 0
    for item in range(first, last):
        where[item_base[item]] = item
    for item in range(first, last):
        child, base = item_offsets[item], item_base[item]
        for block in range(chains.starts[base], chains.starts[base + 1]):
            above = where[chains.parent[block]]
            if above >= 0:
                parent = item_offsets[above]
                for e in range(chains.entries[block], chains.entries[block + 1]):
                    inner[child + chains.b[e]] += chains.p[e] * outer[parent + chains.a[e]]
    for item in range(first, last):
        count = add_edge(edges, count, 2 * item + 1, 2 * item, -1, 1.0)
        child, base = item_offsets[item], item_base[item]
        for block in range(unary.starts[base], unary.starts[base + 1]):
            above = where[unary.parent[block]]
            if above < 0:
                continue
            p, parent = 0.0, item_offsets[above]
            for e in range(unary.entries[block], unary.entries[block + 1]):
                p += inner[parent + unary.a[e]] * unary.p[e] * upper[child + unary.b[e]]
            p = p / outside.total if p / outside.total < outside.most else outside.most
            if p > 0.0:
                count = add_edge(edges, count, 2 * above + 1, 2 * item + 1, -1, p)
    work.numbers[WAYS] = count
    return bool(first < last)


@partial(part, forceinline=True, fastmath=FAST)
def expect_emissions(pruning: Pruning, outside: Outside, work: CellBuffers, i: int, word: int) -> None:
    """Add an edge for each base of a word: Σ_a outside(a) p(word | a) / p(sentence)."""
    blocks, items, edges, inner = pruning.blocks, pruning.items, outside.edges, outside.passes.inner
    count = work.numbers[WAYS]
    for e in range(blocks.words[word], blocks.words[word + 1]):
        symbol = blocks.word_symbol[e]
        item = work.where[blocks.base[symbol]]
        if item >= 0:
            value = inner[items.offsets[item] + blocks.local[symbol]]
            p = blocks.word_p[e] * pruning.scales[i] * value / outside.total
            if p > 0.0:
                if edges.first[2 * item] < 0:
                    count = add_edge(edges, count, 2 * item, -1, -1, 0.0)
                edges.score[edges.first[2 * item]] += p
    work.numbers[WAYS] = count


@partial(part, fastmath=FAST)
def weigh(pruning: Pruning, passes: Passes, work: CellBuffers, pair: int) -> None:
    """Set T(b, c) = Σ_a O(a, i, j) p(a → b c) of a pair of bases: of all parent bases together, then of each."""
    blocks, items, inner, sums = pruning.blocks, pruning.items, passes.inner, work.sums
    rule_a, rule_group, rule_p = blocks.a, blocks.group, blocks.p
    numbers = work.numbers
    here = room = np.uint64(numbers[ROOM])
    size = blocks.groups[pair + 1] - blocks.groups[pair]
    work.place[pair], work.touched[numbers[TOUCHED]] = numbers[ROOM], pair
    numbers[TOUCHED] += 1
    room += size
    for g in range(size):
        sums[here + g] = 0.0
    for block in range(blocks.starts[pair], blocks.starts[pair + 1]):
        if work.where[blocks.parent[block]] >= 0:
            parent = items.offsets[work.where[blocks.parent[block]]]
            for g in range(size):
                sums[room + g] = 0.0
            for e in range(blocks.entries[block], blocks.entries[block + 1]):
                sums[room + rule_group[e]] += rule_p[e] * inner[parent + rule_a[e]]
            for g in range(size):
                sums[here + g] += sums[room + g]
            room += size
    numbers[ROOM] = np.int64(room)


@partial(part, forceinline=True, fastmath=FAST)
def hand_down(pruning: Pruning, outside: Outside, work: CellBuffers, i: int, k: int, j: int, n: int) -> None:
    """Add to the outside probabilities of the children at a split point; add an edge for each pair and parent base."""
    blocks, items, passes, edges = pruning.blocks, pruning.items, outside.passes, outside.edges
    groups, group_b, group_c, block_parent = blocks.groups, blocks.b, blocks.c, blocks.parent
    met_left, met_right, met_pair = passes.left, passes.right, passes.pair
    upper, outer, sums, products, where = passes.upper, passes.outer, work.sums, work.products, work.where
    split, count = split_number(i, k, j, n), work.numbers[WAYS]
    for m in range(passes.met[split, 0], passes.met[split, 1]):
        pair = met_pair[m]
        begin = groups[pair]
        size = groups[pair + 1] - begin
        if work.place[pair] < 0:
            weigh(pruning, passes, work, pair)
        here = np.uint64(work.place[pair])
        x, y = met_left[m], met_right[m]
        left, right = items.offsets[x], items.offsets[y]
        for g in range(size):
            b, c = left + group_b[begin + g], right + group_c[begin + g]
            products[g] = upper[b] * upper[c]
            outer[b] += sums[here + g] * upper[c]
            outer[c] += sums[here + g] * upper[b]
        for block in range(blocks.starts[pair], blocks.starts[pair + 1]):
            item = where[block_parent[block]]
            if item < 0:
                continue
            here += size
            p = 0.0
            for g in range(size):
                p += sums[here + g] * products[g]
            p /= outside.total
            if p > 0.0:
                count = add_edge(edges, count, 2 * item, 2 * x + 1, 2 * y + 1, p)
    work.numbers[WAYS] = count


@partial(part, forceinline=True)
def leave(pruning: Pruning, outside: Outside, work: CellBuffers, i: int, j: int, n: int) -> None:  # noqa: ARG001
    """Forget the cell: its pairs of bases and its items."""
    items, cell = pruning.items, cell_number(i, j, n)
    for t in range(work.numbers[TOUCHED]):
        work.place[work.touched[t]] = -1
    for item in range(items.starts[cell], items.starts[cell + 1]):
        work.where[items.base[item]] = -1


fill_inside = inside_over_spans(open_items, emit_items, meet_items, close_items)
fill_outside = outside_over_spans(descend, expect_emissions, hand_down, leave)


class PrunedChart:
    """Inside and outside probabilities of one sentence, times the scales of its words.

    `passes` has the values and the pairs of items, which make `ways` items, counted each time; `total` is p(sentence)
    times the scales, summed over the derivations that the chart contains; `top` is the item of ROOT over the whole
    sentence, or -1. `work` are the arrays that the passes share.
    """

    def __init__(self, blocks: Blocks, items: Items, words: IntArray, scales: FloatArray) -> None:
        self.blocks, self.items, self.words, self.scales = blocks, items, words, scales
        self.lower, self.upper, self.outer, self.inner = np.zeros((4, int(items.offsets[-1])))
        room = meetings_at_most(items.starts, len(words))
        left, right, pair = np.empty((3, room), np.int32)
        met = np.empty((splits(len(words)), 2), np.int64)
        self.passes = Passes(self.lower, self.upper, self.outer, self.inner, met, left, right, pair)
        self.work = cell_buffers(blocks)
        fill_inside(Pruning(blocks, items, scales), words, self.passes, self.work)
        self.ways = int(self.work.numbers[WAYS])
        first, last = items.starts[-2:]
        self.top = int(first) if last > first and items.base[first] == 0 else -1
        self.total = float(self.upper[items.offsets[self.top]]) if self.top >= 0 else 0.0

    def posteriors(self) -> Hypergraph:
        """Fill in `outer` and `inner`; return the hypergraph with ln of the expected number of each rule as score.

        The chart must have a tree.
        """
        self.outer[self.items.offsets[self.top]] = 1.0
        return self._graph(self.blocks, self.passes, self.total, ALMOST_ONE)

    def probabilities(self) -> Hypergraph:
        """Return the hypergraph with ln p of each rule as score, emissions times the scales.

        Every base must have one symbol. A rule is then expected p times where all that is below it or outside it has
        the probability 1.
        """
        chains = self.blocks.chains
        none = UnaryBlocks(np.zeros_like(chains.starts), chains.parent, chains.entries, chains.a, chains.b, chains.p)
        below, outer, inner = np.where(self.upper > 0, 1.0, 0.0), np.zeros_like(self.upper), np.ones_like(self.upper)
        passes = self.passes._replace(upper=below, outer=outer, inner=inner)
        return self._graph(self.blocks._replace(chains=none), passes, 1.0, np.inf)

    def _graph(self, blocks: Blocks, passes: Passes, total: float, most: float) -> Hypergraph:
        vertices = 2 * len(self.items.base)
        chains = int(np.diff(blocks.unary.starts)[self.items.base].sum())
        edges = make_edges(vertices, self.ways + vertices + chains)
        outside = Outside(passes, edges, float(total), float(most))
        self.work.numbers[WAYS] = 0
        fill_outside(Pruning(blocks, self.items, self.scales), self.words, outside, self.work)
        return hypergraph(self.items.starts, edges, int(self.work.numbers[WAYS]), self.top)
