"""Max-rule-product decoding (Petrov & Klein 2007, §4), an alternative to the best tree by eq. 8.

The expected count of a rule A → B C of plain categories over its spans is a sum over all that eq. 8 must decide:
annotations, relations and concepts. The best tree has the greatest product of expected counts; its vectors come after.

    e(lc, i, j) = Σ over rules and split points of P_M · (L_α e_α) · (L_β e_β)                       (vector_chart.py)
    o_α = Lᵀ Σ (o_γ · P_M · L_β e_β) over the rules and spans above;  the same for right and only children

A rule over two children is expected Σ_c o_γ[c] P_M[c] (L_α e_α)[c] (L_β e_β)[c] times (Baker 1979). Vectors e of a
cell are 2^power times the true values, vectors o 2^-power times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from rerank_plugins import BoolArray, FloatArray, IntArray, LongArray
from rerank_plugins.kit.charts.hypergraph import Edges, add_edge, hypergraph, make_edges
from rerank_plugins.kit.charts.k_best import KBest
from rerank_plugins.kit.charts.over_spans import outside_over_spans
from rerank_plugins.kit.charts.spans import cell_number
from rerank_plugins.kit.charts.weighted_rules import ROOT
from rerank_plugins.kit.kernels import part
from rerank_plugins.svs.symbol_filter import Kept, SymbolSets
from rerank_plugins.svs.vector_cells import HIGHEST, Heap, power_factor
from rerank_plugins.svs.vector_chart import VectorChart, meet
from rerank_plugins.svs.vector_rules import VectorRules
from rerank_plugins.svs.vector_semirings import FAST, Work, close_all


class PlainRules(NamedTuple):
    """The numbers of the rules between plain categories: `rule` (B) of the model's binary rules, `chain` (U) of others.

    At most `kinds` chains are over the same two categories.
    """

    rule: IntArray
    chain: IntArray
    kinds: int


def plain_rules(rules: VectorRules, between: Sequence[tuple[str, ...]]) -> PlainRules:
    """The rules over the plain categories; unary rules of different `between` are distinct."""
    group = rules.group
    _, rule = np.unique(group[np.stack((rules.parent, rules.left, rules.right))], axis=1, return_inverse=True)
    numbers = {chain: number for number, chain in enumerate(dict.fromkeys(between))}
    names = np.array([numbers[chain] for chain in between], np.int32)
    chains, chain = np.unique(np.stack((group[rules.above], group[rules.below], names)), axis=1, return_inverse=True)
    _, kinds = np.unique(chains[:2], axis=1, return_counts=True)
    numbers_of = rule.ravel().astype(np.int32), chain.ravel().astype(np.int32)
    return PlainRules(*numbers_of, int(kinds.max(initial=1)))


class Expected(NamedTuple):
    """What the kernel notes: outside vectors, and expected counts of rules of plain categories in one place."""

    outer: FloatArray  # (items, K), 0 at first
    sums: FloatArray  # (K)
    counts: FloatArray  # (plain rules of either kind, or categories) the expected count of each, 0 at first
    noted: IntArray  # (as many as `counts`) a rule for each count above 0
    number: LongArray  # (2) at the places of the following constants


NOTED, EDGES = 0, 1  # how many rules are noted, how many edges there are


class PlainGrammar(NamedTuple):
    """The grammar of a sentence as in vector_chart.py, and the numbers of its rules between plain categories.

    `places` (cells, G) are the numbers of the kept categories, the items of the hypergraph.
    """

    rules: VectorRules
    sets: SymbolSets
    kept: Kept
    plain: PlainRules
    places: IntArray


class ExpectedChart(NamedTuple):
    """The sums of a chart, what is expected of them, and the edges of the hypergraph.

    At first, `outer` of ROOT over all words is the inverse of its vector.
    """

    heap: Heap
    expected: Expected
    edges: Edges


@partial(part, forceinline=True)
def note(to: Expected, plain: int, rule: int, count: float) -> None:
    """Add to the expected count of a plain rule, of which `rule` is an example."""
    if count > 0.0:
        if to.counts[plain] == 0.0:
            to.noted[to.number[NOTED]] = rule
            to.number[NOTED] += 1
        to.counts[plain] += count


@part
def noted(expected: Expected, plain: int) -> float:
    """Return the expected count of a plain rule, and set it to 0."""
    count = expected.counts[plain]
    expected.counts[plain] = 0.0
    return float(count)


@partial(part, fastmath=FAST)
def hand_down(rules: VectorRules, plain: PlainRules, heap: Heap, here: IntArray, cell: int, expected: Expected) -> None:
    """Compute the outside vectors o = Lᵀ Σ … of a cell's items: of those with unary rules, then of those below them."""
    outer, sums, vector = expected.outer, expected.sums, heap.vector
    for level in range(1, -1, -1):
        for item in range(heap.begin[cell], heap.end[cell]):
            symbol = heap.symbol[item]
            if rules.chained[symbol] != (level == 1):
                continue
            for place in range(rules.chain_starts[symbol], rules.chain_starts[symbol + 1]):
                chain = rules.chains[place]
                above = here[rules.above[chain]]
                if above >= 0:
                    count = 0.0
                    for c in range(len(sums)):
                        mass = outer[above, c] * rules.chain_p[chain, c]
                        outer[item, c] += mass
                        count += mass * vector[item, c]
                    note(expected, plain.chain[chain], chain, count)
            for child in range(len(sums)):
                sums[child] = 0.0
            for parent in range(len(sums)):
                if outer[item, parent] > 0.0:
                    for child in range(len(sums)):
                        sums[child] += rules.transfer[rules.relation[symbol], parent, child] * outer[item, parent]
            for c in range(len(sums)):
                outer[item, c] = sums[c]


@partial(part, forceinline=True)
def descend(grammar: PlainGrammar, chart: ExpectedChart, work: Work, i: int, j: int, n: int) -> bool:
    """Go down the unary rules of a cell, and add their edges; return whether it has vectors."""
    rules, plain, places, kept, group = grammar.rules, grammar.plain, grammar.places, grammar.kept, grammar.rules.group
    heap, expected, edges, here = chart.heap, chart.expected, chart.edges, work.here
    cell, edge = cell_number(i, j, n), chart.expected.number[EDGES]
    for place in range(kept.starts[cell], kept.starts[cell + 1]):
        edge = add_edge(edges, edge, 2 * place + 1, 2 * place, -1, 1.0)
    has_vectors = heap.power[cell] < HIGHEST
    if has_vectors:
        for item in range(heap.begin[cell], heap.end[cell]):
            here[heap.symbol[item]] = item
        expected.number[NOTED] = 0
        hand_down(rules, plain, heap, here, cell, expected)
        for place in range(expected.number[NOTED]):
            chain = expected.noted[place]
            above, below = places[cell, group[rules.above[chain]]], places[cell, group[rules.below[chain]]]
            edge = add_edge(edges, edge, 2 * above + 1, 2 * below, -1, noted(expected, plain.chain[chain]))
        # Items that are in no tree have no rules.
        for item in range(heap.begin[cell], heap.end[cell]):
            most = 0.0
            for c in range(len(expected.sums)):
                most = max(most, expected.outer[item, c])
            if most == 0.0:
                here[heap.symbol[item]] = -1
    expected.number[EDGES] = edge
    return bool(has_vectors)


@partial(part, forceinline=True, fastmath=FAST)
def expect_tags(grammar: PlainGrammar, chart: ExpectedChart, work: Work, i: int, word: int) -> None:
    """Add the edges of a word's tags."""
    rules, group, expected, here = grammar.rules, grammar.rules.group, chart.expected, work.here
    expected.number[NOTED], edge = 0, expected.number[EDGES]
    factor = math.ldexp(1.0, int(chart.heap.power[i]))
    for entry in range(rules.words[word], rules.words[word + 1]):
        symbol, count = rules.word_symbol[entry], 0.0
        if here[symbol] >= 0:
            for c in range(len(expected.sums)):
                count += factor * expected.outer[here[symbol], c] * rules.word_p[entry, c]
            note(expected, group[symbol], symbol, count)
    for place in range(expected.number[NOTED]):
        symbol = expected.noted[place]
        vertex = 2 * grammar.places[i, group[symbol]]
        edge = add_edge(chart.edges, edge, vertex, -1, -1, noted(expected, group[symbol]))
    expected.number[EDGES] = edge


@partial(part, forceinline=True, fastmath=FAST)
def expect_rules(grammar: PlainGrammar, chart: ExpectedChart, work: Work, i: int, k: int, j: int, n: int) -> None:
    """Add the edges of the binary rules over a split point, and hand outside vectors down to the children."""
    rules, plain, places, group = grammar.rules, grammar.plain, grammar.places, grammar.rules.group
    heap, expected, here, both = chart.heap, chart.expected, work.here, work.both
    powers, vector, outer, sums, number = heap.power, heap.vector, expected.outer, expected.sums, expected.number
    cell, left, right = cell_number(i, j, n), cell_number(i, k, n), cell_number(k, j, n)
    if powers[left] == HIGHEST or powers[right] == HIGHEST:
        return
    number[NOTED], edge = 0, number[EDGES]
    factor = power_factor(powers, powers[cell], left, right)
    for met in range(meet(rules, grammar.sets, grammar.kept, heap, work, cell, left, right)):
        pair, x, y = work.pair[met], work.left[met], work.right[met]
        for c in range(len(sums)):
            sums[c] = 0.0
            both[c] = factor * vector[x, c] * vector[y, c]
        for rule in range(rules.rule_starts[pair], rules.rule_starts[pair + 1]):
            item = here[rules.parent[rule]]
            if item >= 0:
                count = 0.0
                for c in range(len(sums)):
                    mass = outer[item, c] * rules.p[rule, c]
                    sums[c] += mass
                    count += mass * both[c]
                note(expected, plain.rule[rule], rule, count)
        for c in range(len(sums)):
            mass = factor * sums[c]
            outer[x, c] += mass * vector[y, c]
            outer[y, c] += mass * vector[x, c]
    for place in range(number[NOTED]):
        rule = expected.noted[place]
        x, y = places[left, group[rules.left[rule]]], places[right, group[rules.right[rule]]]
        vertex, count = 2 * places[cell, group[rules.parent[rule]]], noted(expected, plain.rule[rule])
        edge = add_edge(chart.edges, edge, vertex, 2 * x + 1, 2 * y + 1, count)
    number[EDGES] = edge


@partial(part, forceinline=True)
def leave(grammar: PlainGrammar, chart: ExpectedChart, work: Work, i: int, j: int, n: int) -> None:  # noqa: ARG001
    """Forget the items of a cell."""
    heap, cell = chart.heap, cell_number(i, j, n)
    for item in range(heap.begin[cell], heap.end[cell]):
        work.here[heap.symbol[item]] = -1


fill_expected = outside_over_spans(descend, expect_tags, expect_rules, leave)


def max_rule_categories(plain: PlainRules, chart: VectorChart, kept: Kept) -> BoolArray:
    """(cells, G) the plain categories of the max-rule tree of a chart of sums with a tree; all False if there is none.

    There is none if no category of ROOT's rules has a product above 0.
    """
    rules, categories = chart.rules, len(kept.groups)
    places = np.full(kept.kept.shape, -1, np.int32)
    places[kept.kept] = np.arange(categories)
    outer = np.zeros((chart.size, chart.concepts))
    outer[chart.top, 0] = 1 / chart.heap.vector[chart.top, 0]  # the rows of ROOT's L are a_T
    most = 1 + max(int(plain.rule.max(initial=0)), int(plain.chain.max(initial=0)), len(rules.member_starts))
    notes = np.zeros(most), np.empty(most, np.int32), np.zeros(2, np.int64)
    expected = Expected(outer, np.empty(chart.concepts), *notes)
    edges = make_edges(2 * categories, plain.kinds * int(kept.ways[0]) + 2 * categories)
    close_all(chart.work)
    grammar = PlainGrammar(rules, chart.sets, kept, plain, places)
    fill_expected(grammar, chart.words, ExpectedChart(chart.heap, expected, edges), chart.work)
    best = KBest()(hypergraph(kept.starts, edges, int(expected.number[EDGES]), int(places[-1, rules.group[ROOT]])), 1)
    chosen = np.zeros(kept.kept.shape, np.bool_)
    cells = np.repeat(np.arange(len(chosen)), np.diff(kept.starts))
    chosen[cells[best.vertex >> 1], kept.groups[best.vertex >> 1]] = True
    return chosen
