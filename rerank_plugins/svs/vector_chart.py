"""Charts of vectors over the symbols that pruning has left (Wu & Schuler 2011, eqs 4 and 8).

    e_γ = ⊕ P_M · (L_α e_α) · (L_β e_β)    over the rules and split points of a symbol's span

The recursion is that of all pruned charts (kit/charts/over_spans.py), and ⊕ that of a semiring (vector_semirings.py),
for each of which it is compiled. L e depends on the child alone, and is computed once for each item, in K² steps. As
rules over K³ states, which the chart of latent states would take (kit/charts/pruned_chart.py), a rule would take K³.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from rerank_plugins import FloatArray, IntArray
from rerank_plugins.kit.charts.over_spans import inside_over_spans
from rerank_plugins.kit.charts.spans import cell_number
from rerank_plugins.kit.charts.weighted_rules import ROOT
from rerank_plugins.kit.kernels import part
from rerank_plugins.svs.symbol_filter import Kept, SymbolSets, every_category
from rerank_plugins.svs.vector_cells import (
    HIGHEST,
    NEW,
    Heap,
    enlarged,
    lowest_power,
    make_heap,
    normalise,
    power_factor,
)
from rerank_plugins.svs.vector_rules import VectorRules
from rerank_plugins.svs.vector_semirings import (
    BARRED,
    CHAIN,
    EMISSION,
    FAST,
    FULL,
    ITEMS,
    NOTHING,
    OPENED,
    POWER,
    Work,
    add_up,
    close_all,
    keep_best,
    make_work,
)

FIRST, MEMORY = 1 << 13, 1 << 26  # room for items at first; bytes of vectors above which the heap is emptied


class Vectors(NamedTuple):
    """The grammar of a sentence: the rules of a model, and the symbols that pruning has left."""

    rules: VectorRules
    sets: SymbolSets
    kept: Kept


class VectorCells(NamedTuple):
    """The chart of a sentence.

    `cells` has its cells in the heap, in the order of `cell_number`. The items of a cell are sorted by category; some
    may have the vector 0. If `sums` is None, the vectors are the best ones (eq. 8), a case that is compiled by itself;
    else they are sums over rules, for which `sums` (S, K) has room, all 0, and items have no children.
    """

    heap: Heap
    cells: IntArray
    sums: FloatArray | None


@part
def meet(
    rules: VectorRules, sets: SymbolSets, kept: Kept, heap: Heap, work: Work, cell: int, left: int, right: int,
) -> int:  # fmt: skip
    """Write to `work` the pairs of items of two cells that have a rule whose parent's category is kept in `cell`.

    Returns how many there are.
    """
    symbol_of, place_of, runs, blocks, where = heap.symbol, rules.place, heap.runs, sets.blocks, work.where
    block_pairs, pair_right, exact = rules.block_pairs, rules.pair_right, len(kept.allowed) == 0
    right_begin, right_end = heap.begin[right], heap.end[right]
    met_pair, met_left, met_right, met = work.pair, work.left, work.right, 0
    part_left, part_block = work.parts, work.blocks
    for y in range(right_begin, right_end):
        where[symbol_of[y]] = y
    for one in range(kept.starts[left], heap.runs_end[left]):
        for two in range(kept.starts[right], heap.runs_end[right]):
            couple = rules.couples[runs[one, 2], runs[two, 2]]
            if couple < 0:
                continue
            fits, triple = exact, rules.couple_starts[couple]
            while not fits and triple < rules.couple_starts[couple + 1]:
                fits = kept.kept[cell, rules.couple_parents[triple]]
                triple += 1
            if not fits:
                continue
            # Both lists are filled without a branch, which no processor could foresee.
            offset, count = sets.block_starts[couple], 0
            for x in range(runs[one, 0], runs[one, 1]):
                block = blocks[offset + place_of[symbol_of[x]]]
                part_block[count], part_left[count] = block, x
                count += block >= 0
            for number in range(count):
                block, x = part_block[number], part_left[number]
                for pair in range(np.uint64(block_pairs[block]), np.uint64(block_pairs[block + 1])):
                    y = where[pair_right[pair]]
                    met_pair[met], met_left[met], met_right[met] = pair, x, y
                    met += (y >= right_begin) & (y < right_end)  # y may be an item of another cell
    return met


@part
def open_cell(rules: VectorRules, kept: Kept, work: Work, cell: int) -> int:
    """Let the symbols that may be in a tree be derived; return how many there are in `work.opened`."""
    members, member_starts, opened, worth = rules.members, rules.member_starts, work.opened, work.worth
    exact, count = len(kept.allowed) == 0, 0
    for place in range(kept.starts[cell], kept.starts[cell + 1]):
        first = member_starts[kept.groups[place]]
        for bit in range(member_starts[kept.groups[place] + 1] - first):
            opened[count] = members[first + bit]
            if exact:
                count += 1
            else:
                count += int((kept.allowed[place, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1))
    for number in range(count):
        worth[opened[number]] = NOTHING
    return count


@part
def make_items(rules: VectorRules, kept: Kept, heap: Heap, work: Work, cell: int, count: int) -> int:
    """Make items of those of `count` symbols that derive the span of a cell; return their end."""
    chained, chain_starts, chains, above = rules.chained, rules.chain_starts, rules.chains, rules.above
    worth, opened, runs = work.worth, work.opened, heap.runs
    for number in range(count):
        symbol = opened[number]
        if worth[symbol] >= 0.0 and not chained[symbol]:
            for chain in range(chain_starts[symbol], chain_starts[symbol + 1]):
                parent = above[chains[chain]]
                if worth[parent] < CHAIN:
                    worth[parent] = CHAIN
    item, run, last = heap.begin[cell], kept.starts[cell] - 1, -1
    for number in range(count):
        symbol = opened[number]
        if worth[symbol] > NOTHING:
            work.here[symbol], heap.symbol[item], heap.cell[item] = item, symbol, cell
            if rules.group[symbol] != last:
                last = rules.group[symbol]
                run += 1
                runs[run, 0], runs[run, 2] = item, last
            item += 1
            runs[run, 1] = item
    heap.runs_end[cell] = run + 1
    return int(item)


@partial(part, fastmath=FAST)
def write_vectors(rules: VectorRules, heap: Heap, begin: int, end: int, work: Work, sums: FloatArray | None) -> None:
    """Write L e of a cell's items, P(yield | concept of the constituent above): first of those without unary rules."""
    e, both, vector, worth, derived = work.e, work.both, heap.vector, work.worth, work.derived
    for level in range(2):
        for item in range(begin, end):
            symbol = heap.symbol[item]
            if rules.chained[symbol] != (level == 1):
                continue
            now = derived[symbol]
            if sums is None and worth[symbol] <= 0.0:
                now["left"] = now["right"] = -1
            rule, x, y = now["rule"], now["left"], now["right"]
            for c in range(len(e)):
                if rule == EMISSION:
                    e[c] = rules.word_p[y, c]
                elif sums is not None:
                    e[c], sums[symbol, c] = sums[symbol, c], 0.0
                elif worth[symbol] <= 0.0:
                    e[c] = 0.0
                elif rule >= 0:
                    e[c] = rules.p[rule, c] * (now["scale"] * vector[x, c] * vector[y, c])
                else:
                    e[c] = rules.chain_p[-2 - rule, c] * vector[x, c]
            heap.rule[item], heap.left[item], heap.right[item] = rule, x, y
            transfer = rules.transfer[rules.relation[symbol]]
            for parent in range(len(e)):
                value = 0.0
                for child in range(len(e)):
                    value += transfer[parent, child] * e[child]
                vector[item, parent] = value
            # This item as the only child.
            for place in range(rules.chain_starts[symbol], rules.chain_starts[symbol + 1]):
                chain = rules.chains[place]
                above = rules.above[chain]
                if work.here[above] >= 0:
                    for c in range(len(e)):
                        both[c] = vector[item, c]
                    if sums is None:
                        keep_best(work, above, -2 - chain, item, -1, 1.0, rules.chain_weight, chain, both)
                    else:
                        add_up(work, above, -2 - chain, rules.chain_p, chain, both, sums)


@partial(part, forceinline=True)
def open_vectors(grammar: Vectors, chart: VectorCells, work: Work, i: int, j: int, n: int) -> bool:
    """Open the cell of a span that is not yet filled, if the cells below it have vectors, and the heap has room."""
    heap, numbers = chart.heap, work.numbers
    cell, size = chart.cells[cell_number(i, j, n)], numbers[ITEMS]
    if numbers[FULL] or heap.begin[cell] != NEW:
        return False
    if size + len(work.here) > len(heap.symbol):
        numbers[FULL] = 1
        return False
    heap.begin[cell] = heap.end[cell] = size
    heap.width[cell], heap.power[cell] = j - i, HIGHEST
    power = numbers[POWER] = lowest_power(heap.power, chart.cells, i, j, n)
    if power == HIGHEST:
        return False
    numbers[OPENED] = open_cell(grammar.rules, grammar.kept, work, cell)
    return True


@partial(part, forceinline=True)
def emit_vectors(grammar: Vectors, chart: VectorCells, work: Work, i: int, word: int) -> None:  # noqa: ARG001
    """Note the preterminals of a word."""
    rules, worth = grammar.rules, work.worth
    for entry in range(rules.words[word], rules.words[word + 1]):
        symbol = rules.word_symbol[entry]
        if worth[symbol] < BARRED:
            worth[symbol], now = 1.0, work.derived[symbol]  # above 0: a preterminal has no other candidate
            now["rule"], now["left"], now["right"] = EMISSION, -1, entry


@partial(part, forceinline=True)
def meet_vectors(grammar: Vectors, chart: VectorCells, work: Work, i: int, k: int, j: int, n: int) -> None:
    """Add the rules over a split point, if both cells have vectors."""
    powers, cells = chart.heap.power, chart.cells
    cell, left, right = cells[cell_number(i, j, n)], cells[cell_number(i, k, n)], cells[cell_number(k, j, n)]
    if powers[left] < HIGHEST and powers[right] < HIGHEST:
        count = meet(grammar.rules, grammar.sets, grammar.kept, chart.heap, work, cell, left, right)
        factor = power_factor(powers, work.numbers[POWER], left, right)
        compose(grammar.rules, chart.heap, work, count, factor, chart.sums)


@partial(part, fastmath=FAST, forceinline=True)
def compose(
    rules: VectorRules, heap: Heap, work: Work, count: int, factor: float, sums: FloatArray | None
) -> None:  # fmt: skip
    """Add the rules over `count` pairs of items, whose products are to be multiplied by a factor, to their parents."""
    rule_starts, parents, most, both, worth = rules.rule_starts, rules.parent, rules.most, work.both, work.worth
    vector, greatest, total = heap.vector, heap.greatest, heap.total
    met_pair, met_left, met_right = work.pair, work.left, work.right
    for met in range(count):
        pair, x, y = met_pair[met], met_left[met], met_right[met]
        # No product with a vector of weights is above this bound times the greatest weight.
        bound, new = factor * greatest[x] * total[y], True
        for rule in range(rule_starts[pair], rule_starts[pair + 1]):
            parent = parents[rule]
            if (sums is not None or bound * most[rule] >= worth[parent]) and worth[parent] < BARRED:
                if new:
                    new = False
                    for c in range(len(both)):
                        both[c] = factor * vector[x, c] * vector[y, c]
                if sums is None:
                    keep_best(work, parent, rule, x, y, factor, rules.weight, rule, both)
                else:
                    add_up(work, parent, rule, rules.p, rule, both, sums)


@partial(part, forceinline=True)
def close_vectors(grammar: Vectors, chart: VectorCells, work: Work, i: int, j: int, n: int) -> None:
    """Make the items of a cell, with their vectors; every symbol of the cell is then as it was before."""
    heap, numbers, cell = chart.heap, work.numbers, chart.cells[cell_number(i, j, n)]
    begin, count = numbers[ITEMS], numbers[OPENED]
    numbers[ITEMS] = heap.end[cell] = make_items(grammar.rules, grammar.kept, heap, work, cell, count)
    write_vectors(grammar.rules, heap, begin, heap.end[cell], work, chart.sums)
    shift = normalise(heap, begin, heap.end[cell])
    if shift < HIGHEST:
        heap.power[cell] = numbers[POWER] + shift
    for number in range(count):
        work.here[work.opened[number]], work.worth[work.opened[number]] = -1, BARRED


fill_vectors = inside_over_spans(open_vectors, emit_vectors, meet_vectors, close_vectors)


class VectorChart:
    """The charts of successive sentences, with best vectors or, if `summing`, with sums over rules.

    `cells` has the numbers in `heap` of the last sentence's cells, and `top` the item of ROOT over all its words, -1 if
    there is none. Sentences share cells over the same words where nothing is pruned; `requested` counts the cells of
    all sentences, `shared` those that earlier ones had.
    """

    def __init__(self, rules: VectorRules, sets: SymbolSets, *, summing: bool = False) -> None:
        self.rules, self.sets = rules, sets
        self.concepts, self._groups = rules.transfer.shape[1], len(rules.member_starts) - 1
        self.work = make_work(len(rules.relation), self.concepts, len(rules.pair_right))
        self._sums = np.zeros((len(rules.relation), self.concepts)) if summing else None
        self.heap = make_heap(0, FIRST, self.concepts, self._groups)
        self._every = every_category(0, self._groups)
        self.words, self.cells = np.zeros((2, 0), np.int32)
        self.requested = self.shared = 0
        self.top, self._pruned = -1, False
        self.forget()

    def forget(self) -> None:
        """Empty the heap."""
        self.size = 0
        self.known: dict[bytes, int] = {}
        self.heap.begin[:] = NEW

    def fill(self, words: IntArray, kept: Kept | None = None) -> bool:
        """Fill the chart of a sentence from what is `kept`, None for everything; return whether there is a tree."""
        n = len(words)
        if kept is not None or self._pruned or self.size * self.concepts * 8 > MEMORY:
            self.forget()
        self._pruned = kept is not None
        if kept is not None:
            used = n * (n + 1) // 2
            self.cells = np.arange(used, dtype=np.int32)
        else:
            before = len(self.known)
            keys = [words[i : i + width].tobytes() for width in range(1, n + 1) for i in range(n - width + 1)]
            self.cells = np.array([self.known.setdefault(key, len(self.known)) for key in keys], np.int32)
            used = len(self.known)
            self.requested, self.shared = self.requested + len(keys), self.shared + len(keys) - (used - before)
        self.words = words
        if used > len(self.heap.begin):
            self.heap = enlarged(self.heap, 2 * used, 0, self._groups)
        if kept is None and used >= len(self._every.starts):
            self._every = every_category(2 * used, self._groups)
        grammar = Vectors(self.rules, self.sets, self._every if kept is None else kept)
        numbers = self.work.numbers
        numbers[ITEMS], numbers[FULL] = self.size, n > 0
        while numbers[FULL]:  # the cells that were filled before the heap was full remain
            close_all(self.work)
            fill_vectors(grammar, words, VectorCells(self.heap, self.cells, self._sums), self.work)
            self.size = int(numbers[ITEMS])
            if numbers[FULL]:
                self.heap = enlarged(self.heap, 0, 2 * (self.size + len(self.rules.relation)), self._groups)
        self.top = self._top() if n else -1
        return self.top >= 0

    def _top(self) -> int:
        begin, end = self.heap.begin[self.cells[-1]], self.heap.end[self.cells[-1]]
        roots = begin + np.flatnonzero(self.heap.symbol[begin:end] == ROOT)
        return int(roots[0]) if len(roots) and self.heap.vector[roots[0], 0] > 0 else -1

    def log_probability(self) -> float:
        """Ln p(tree, words) of the best tree, or the sum ln p(words); -inf if there is no tree."""
        if self.top < 0:
            return -math.inf
        return math.log(self.heap.vector[self.top, 0]) - float(self.heap.power[self.heap.cell[self.top]]) * math.log(2)
