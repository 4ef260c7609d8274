"""Inside and outside over a chart that keeps, for every span, only the bases that pruning has left, called its items.

Cells are numbered as in outside.py; item e has the values values[offsets[e]] to values[offsets[e + 1]], one for each
symbol of its base: `lower` is inside before the unary rules, `upper` after them. The inside pass records the pairs of
items that meet at a split point, and the outside pass goes through them again. A rule is applied once to a cell:

    V(a, i, j) = Σ_{b, c} p(a → b c) M(b, c),   M(b, c) = Σ_k I(b, i, k) I(c, k, j)
    O(b, i, k) += T(b, c) I(c, k, j),           T(b, c) = Σ_a O(a, i, j) p(a → b c),         O(c, k, j) likewise

The sum of T(b, c) I(b, i, k) I(c, k, j) over the symbols of one parent base is p of all derivations that use the rule
of the bases over these spans: the score of an edge of the hypergraph (hypergraph.py).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray, PlaceArray
from rerank_plugins.kit.charts.blocks import Blocks, UnaryBlocks
from rerank_plugins.kit.charts.hypergraph import Edges, Hypergraph, add_edge, hypergraph, make_edges
from rerank_plugins.kit.charts.spans import cell_number, spans
from rerank_plugins.kit.kernels import filling_kernel

ALMOST_ONE = 1 - 1e-9  # an upper bound of unary posteriors, so that a cycle of unary rules has a negative score


class Items(NamedTuple):
    """The items of a pruned chart, sorted by cell and base."""

    starts: IntArray  # (cells + 1) cell c has the items starts[c] to starts[c + 1]
    # base, cell: (items) the base and the cell of each item
    base: IntArray
    cell: IntArray
    offsets: PlaceArray  # (items + 1) where the values of each item begin


@filling_kernel
def select(
    counts: FloatArray,
    threshold: float,
    states: IntArray,
    starts: IntArray,
    base_of: IntArray,
    cell_of: IntArray,
    offsets: PlaceArray,
) -> int:
    """Fill in the arrays of the items whose count is above the threshold; return how many there are."""
    cells, bases = counts.shape
    item, offset = 0, 0
    for cell in range(cells):
        starts[cell] = item
        for base in range(bases):
            if counts[cell, base] > threshold:
                base_of[item], cell_of[item], offsets[item] = base, cell, offset
                offset += states[base]
                item += 1
    starts[cells], offsets[item] = item, offset
    return item


def items_of(counts: FloatArray, threshold: float, blocks: Blocks) -> Items:
    """Return the items of a chart: for each cell, the bases whose count in `counts` (cells, C) is above `threshold`."""
    starts, offsets = np.empty(len(counts) + 1, np.int32), np.empty(counts.size + 1, np.uint32)
    base, cell = np.empty((2, counts.size), np.int32)
    items = select(counts, threshold, blocks.states, starts, base, cell, offsets)
    return Items(starts, base[:items], cell[:items], offsets[: items + 1])


def items_at(cell: NDArray[np.integer], base: NDArray[np.integer], cells: int, blocks: Blocks) -> Items:
    """Return the items of a chart with so many cells; `cell` and `base` are sorted by cell, then by base."""
    starts = np.searchsorted(cell, np.arange(cells + 1))
    offsets = np.concatenate(([0], np.cumsum(blocks.states[base])))
    return Items(starts.astype(np.int32), base.astype(np.int32), cell.astype(np.int32), offsets.astype(np.uint32))


class Passes(NamedTuple):
    """What the passes fill in."""

    # (values) `lower` and `upper` are inside probabilities below and above the chains of unary rules, 0 at first;
    # `outer` and `inner` are outside probabilities of symbols at the top of a chain and at its bottom
    lower: FloatArray
    upper: FloatArray
    outer: FloatArray
    inner: FloatArray
    # The pairs of items, `left` and `right`, of a number in `Blocks.pair`, that make an item of a cell. Those of cell c
    # are starts[c] to starts[c + 1], ordered by split point, left and right item.
    starts: IntArray
    left: IntArray
    right: IntArray
    pair: IntArray


class CellBuffers(NamedTuple):
    """What the passes need for the cell at which they are: of C bases, P pairs of bases, and pairs of symbols."""

    where: LongArray  # (C) what the present cell has of each base; -1 if it was pruned, and between two cells
    place: LongArray  # (P) where the pairs of symbols of each pair of bases begin in `sums`; -1 if it is not there
    touched: LongArray  # (P) the pairs of bases that the cell has; `alive` (P) the number of items that each makes
    alive: LongArray
    # (`Blocks.room`) values of pairs of symbols; `products` (pairs of symbols) likewise, of one pair of bases
    sums: FloatArray
    products: FloatArray


def cell_buffers(blocks: Blocks) -> CellBuffers:
    """Return room for the passes over a chart with these blocks."""
    pairs = len(blocks.starts) - 1
    place, touched, alive = np.full((3, pairs), -1, np.int64)
    where, sums, products = np.full(len(blocks.states), -1, np.int64), np.empty(blocks.room), np.empty(len(blocks.b))
    return CellBuffers(where, place, touched, alive, sums, products)


def meetings_at_most(starts: IntArray, n: int) -> int:
    """Return Σ_k (items of i, k) (items of k, j), the pairs of items side by side, over the cells that have items."""
    items = np.zeros((n + 1, n + 1))
    items[spans(n)] = np.diff(starts)
    return int((items @ items)[items > 0].sum())


@filling_kernel
def fill_inside(
    blocks: Blocks, items: Items, words: IntArray, scales: FloatArray, passes: Passes, work: CellBuffers
) -> int:
    """Fill in inside probabilities, times the scales (n) of the words, and pairs of items (Baker 1979).

    Returns how many items these pairs make.
    """
    pair_of, groups, group_b, group_c = blocks.pair, blocks.groups, blocks.b, blocks.c
    block_starts, block_parent, block_entries = blocks.starts, blocks.parent, blocks.entries
    rule_a, rule_group, rule_p = blocks.a, blocks.group, blocks.p
    word_starts, word_symbol, word_p = blocks.words, blocks.word_symbol, blocks.word_p
    base_of, local = blocks.base, blocks.local
    cell_starts, item_base, item_offsets = items.starts, items.base, items.offsets
    met_starts, met_left, met_right, met_pair = passes.starts, passes.left, passes.right, passes.pair
    chains, lower, upper = blocks.chains, passes.lower, passes.upper
    n, ways, met = len(words), 0, 0
    where, place, sums = work.where, work.place, work.sums  # where: the offset of a base; place: -2: no parent
    touched, alive = work.touched, work.alive
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            cell = cell_number(i, j, n)
            first, last = cell_starts[cell], cell_starts[cell + 1]
            met_starts[cell] = met
            if first == last:
                continue
            for item in range(first, last):
                where[item_base[item]] = item_offsets[item]
            # Emissions: V(a, i, i + 1) = p(word | a) · scale.
            if width == 1:
                for e in range(word_starts[words[i]], word_starts[words[i] + 1]):
                    symbol = word_symbol[e]
                    if where[base_of[symbol]] >= 0:
                        lower[where[base_of[symbol]] + local[symbol]] = word_p[e] * scales[i]
            # M(b, c) = Σ_k I(b, i, k) I(c, k, j).
            count, room = 0, np.uint64(0)
            for k in range(i + 1, j):
                left_cell, right_cell = cell_number(i, k, n), cell_number(k, j, n)
                for x in range(cell_starts[left_cell], cell_starts[left_cell + 1]):
                    left = item_offsets[x]
                    for y in range(cell_starts[right_cell], cell_starts[right_cell + 1]):
                        pair = pair_of[item_base[x], item_base[y]]
                        if pair < 0:
                            continue
                        begin, end = groups[pair], groups[pair + 1]
                        if place[pair] == -1:
                            touched[count] = pair
                            count += 1
                            alive[pair] = 0
                            for block in range(block_starts[pair], block_starts[pair + 1]):
                                if where[block_parent[block]] >= 0:
                                    alive[pair] += 1
                            place[pair] = -2
                            if alive[pair]:
                                place[pair] = np.int64(room)
                                for g in range(room, room + end - begin):
                                    sums[g] = 0.0
                                room += end - begin
                        if place[pair] < 0:
                            continue
                        ways += alive[pair]
                        met_left[met], met_right[met], met_pair[met] = x, y, pair
                        met += 1
                        right, shift = item_offsets[y], np.uint64(place[pair]) - begin
                        for g in range(begin, end):
                            sums[shift + g] += upper[left + group_b[g]] * upper[right + group_c[g]]
            # Binary rules: V(a, i, j) = Σ_{b, c} p(a → b c) M(b, c).
            for t in range(count):
                pair = touched[t]
                here, place[pair] = place[pair], -1
                if here >= 0:
                    for block in range(block_starts[pair], block_starts[pair + 1]):
                        if where[block_parent[block]] >= 0:
                            parent, sums_here = np.uint64(where[block_parent[block]]), np.uint64(here)
                            for e in range(block_entries[block], block_entries[block + 1]):
                                lower[parent + rule_a[e]] += rule_p[e] * sums[sums_here + rule_group[e]]
            # All chains of unary rules on top: I(s, i, j) = Σ_a R(s, a) V(a, i, j).
            for item in range(first, last):
                child, base = item_offsets[item], item_base[item]
                for block in range(chains.starts[base], chains.starts[base + 1]):
                    if where[chains.parent[block]] >= 0:
                        parent = np.uint64(where[chains.parent[block]])
                        for e in range(chains.entries[block], chains.entries[block + 1]):
                            upper[parent + chains.a[e]] += chains.p[e] * lower[child + chains.b[e]]
            for item in range(first, last):
                where[item_base[item]] = -1
    met_starts[len(met_starts) - 1] = met
    return ways


@partial(filling_kernel, fastmath={"reassoc", "contract", "nsz"})
def fill_outside(
    blocks: Blocks, items: Items, words: IntArray, scales: FloatArray, passes: Passes, total: float, most: float,
    edges: Edges, work: CellBuffers,
) -> int:  # fmt: skip
    """Fill in outside probabilities from the inside probabilities `upper` and the pairs of items.

    On entry they are 0, except that `outer` of ROOT over the whole sentence is 1. `total` is p(sentence) in the chart.
    Fills `edges` too, whose score is the expected number of the rule over its spans, that of unary rules at `most` so
    high, and returns how many there are.
    """
    groups, group_b, group_c = blocks.groups, blocks.b, blocks.c
    block_starts, block_parent, block_entries = blocks.starts, blocks.parent, blocks.entries
    rule_a, rule_group, rule_p = blocks.a, blocks.group, blocks.p
    word_starts, word_symbol, word_p = blocks.words, blocks.word_symbol, blocks.word_p
    base_of, local = blocks.base, blocks.local
    cell_starts, item_base, item_offsets = items.starts, items.base, items.offsets
    met_starts, met_left, met_right, met_pair = passes.starts, passes.left, passes.right, passes.pair
    upper, outer, inner = passes.upper, passes.outer, passes.inner
    first_edge, score = edges.first, edges.score
    chains, unary = blocks.chains, blocks.unary
    n, count = len(words), 0
    where, place, sums, products = work.where, work.place, work.sums, work.products  # where: the item of a base
    for width in range(n, 0, -1):
        for i in range(n - width + 1):
            cell = cell_number(i, i + width, n)
            first, last = cell_starts[cell], cell_starts[cell + 1]
            if first == last:
                continue
            for item in range(first, last):
                where[item_base[item]] = item
            # Down all chains of unary rules: inner(b) = Σ_a R(a, b) outer(a). All larger spans are done.
            for item in range(first, last):
                child, base = item_offsets[item], item_base[item]
                for block in range(chains.starts[base], chains.starts[base + 1]):
                    above = where[chains.parent[block]]
                    if above >= 0:
                        parent = item_offsets[above]
                        for e in range(chains.entries[block], chains.entries[block + 1]):
                            inner[child + chains.b[e]] += chains.p[e] * outer[parent + chains.a[e]]
            # Edges from 2e to 2e + 1 by the empty chain, and from 2e + 1 to the vertices above by every unary rule:
            # Σ_{a → b} outside(a) p(a → b) I(b, i, j) / p(sentence).
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
                    p = p / total if p / total < most else most
                    if p > 0.0:
                        count = add_edge(edges, count, 2 * above + 1, 2 * item + 1, -1, p)
            # Emissions of the word, an edge for each base: Σ_a outside(a) p(word | a) / p(sentence).
            if width == 1:
                for e in range(word_starts[words[i]], word_starts[words[i] + 1]):
                    symbol = word_symbol[e]
                    item = where[base_of[symbol]]
                    if item >= 0:
                        p = word_p[e] * scales[i] * inner[item_offsets[item] + local[symbol]] / total
                        if p > 0.0:
                            if first_edge[2 * item] < 0:
                                count = add_edge(edges, count, 2 * item, -1, -1, 0.0)
                            score[first_edge[2 * item]] += p
            # Binary rules, an edge for each meeting and parent base.
            room = np.uint64(0)
            for m in range(met_starts[cell], met_starts[cell + 1]):
                pair = met_pair[m]
                begin = groups[pair]
                size = groups[pair + 1] - begin
                # T(b, c) = Σ_a O(a, i, j) p(a → b c): first for all parent bases together, then for each.
                if place[pair] < 0:
                    place[pair], here = np.int64(room), room
                    room += size
                    for g in range(size):
                        sums[here + g] = 0.0
                    for block in range(block_starts[pair], block_starts[pair + 1]):
                        if where[block_parent[block]] >= 0:
                            parent = item_offsets[where[block_parent[block]]]
                            for g in range(size):
                                sums[room + g] = 0.0
                            for e in range(block_entries[block], block_entries[block + 1]):
                                sums[room + rule_group[e]] += rule_p[e] * inner[parent + rule_a[e]]
                            for g in range(size):
                                sums[here + g] += sums[room + g]
                            room += size
                # Outside of both children, and the edges' posteriors.
                here = np.uint64(place[pair])
                x, y = met_left[m], met_right[m]
                left, right = item_offsets[x], item_offsets[y]
                for g in range(size):
                    b, c = left + group_b[begin + g], right + group_c[begin + g]
                    products[g] = upper[b] * upper[c]
                    outer[b] += sums[here + g] * upper[c]
                    outer[c] += sums[here + g] * upper[b]
                for block in range(block_starts[pair], block_starts[pair + 1]):
                    item = where[block_parent[block]]
                    if item < 0:
                        continue
                    here += size
                    p = 0.0
                    for g in range(size):
                        p += sums[here + g] * products[g]
                    p /= total
                    if p > 0.0:
                        count = add_edge(edges, count, 2 * item, 2 * x + 1, 2 * y + 1, p)
            for m in range(met_starts[cell], met_starts[cell + 1]):
                place[met_pair[m]] = -1
            for item in range(first, last):
                where[item_base[item]] = -1
    return count


class PrunedChart:
    """Inside and outside probabilities of one sentence, times the scales of its words.

    `passes` has the values and the pairs of items, which make `ways` items, counted each time; `total` is p(sentence)
    times the scales, summed over the derivations that the chart contains; `top` is the item of ROOT over the whole
    sentence, or -1. `work` is what the passes share.
    """

    def __init__(self, blocks: Blocks, items: Items, words: IntArray, scales: FloatArray) -> None:
        self.blocks, self.items, self.words, self.scales = blocks, items, words, scales
        self.lower, self.upper, self.outer, self.inner = np.zeros((4, int(items.offsets[-1])))
        room = meetings_at_most(items.starts, len(words))
        left, right, pair = np.empty((3, room), np.int32)
        starts = np.empty(len(items.starts), np.int32)
        values = self.lower, self.upper, self.outer, self.inner
        self.passes = Passes(*values, starts, left, right, pair)
        self.work = cell_buffers(blocks)
        self.ways = fill_inside(blocks, items, words, scales, self.passes, self.work)
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
        values = passes, total, most, edges, self.work
        count = fill_outside(blocks, self.items, self.words, self.scales, *values)
        return hypergraph(self.items.starts, edges, count, self.top)
