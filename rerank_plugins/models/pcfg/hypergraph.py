"""The trees of a pruned chart as a hypergraph of vertices and scored edges.

Item e of the chart has two vertices: 2e, its base over its span by an emission or a binary rule, and 2e + 1, the same
with any chain of unary rules on top. The edges are emissions (no tails), binary rules (tails 2x + 1 and 2y + 1), the
empty chain (2e → 2e + 1, score 0) and unary rules (from 2x + 1). The score of a tree is the sum of the scores of its
edges. There are two criteria:

- `rule_posteriors`: ln of the expected number of times that the rule is used over these spans, summed over the symbols
  of its bases: the max-rule-product criterion of Petrov & Klein (2007), a Bayes risk. The best tree is the one with the
  highest probability that all its rules are right, if rules were independent.
- `rule_probabilities`: ln p of the rule. Every base has one symbol; the best tree is the Viterbi derivation.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from rerank_plugins.arrays import FloatArray, IntArray
from rerank_plugins.models.pcfg.outside import cell_number
from rerank_plugins.models.pcfg.pruned_chart import PrunedChart

ALMOST_ONE = 1 - 1e-9  # an upper bound of unary posteriors, so that a cycle of unary rules has a negative score


class Hypergraph(NamedTuple):
    """V vertices and E edges.

    `first`, `next`  (V), (E) linked lists: the edges into v are first[v], next[first[v]] and so on, until -1
    `left`, `right`  (E) the tails of an edge, -1 if there is none
    `score`          (E) the score of an edge
    `best`           (V) the score of the best derivation, -inf if there is none
    `top`            the vertex of ROOT over the whole sentence, -1 if the chart does not contain it
    """

    first: IntArray
    next: IntArray
    left: IntArray
    right: IntArray
    score: FloatArray
    best: FloatArray
    top: int


@njit(cache=True, nogil=True)
def add_edges(
    blocks: Any, items: Any, words: Any, scales: Any, values: Any, posterior: bool, total: float, graph: Any
) -> int:
    """Fill the graph's arrays, except for `best`, and return the number of edges.

    `values` are the chart's upper and inner values, `total` its p(sentence). Scores are posteriors if `posterior`, else
    probabilities of rules; their logarithms are taken at the end.
    """
    n, count = len(words), 0
    upper, inner = values
    first, following, lefts, rights, score = graph
    first[:] = -1
    where = np.full(len(blocks.states), -1, np.int64)  # the item of each base in the present cell, -1 if pruned
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            cell = cell_number(i, j, n)
            begin, end = items.starts[cell], items.starts[cell + 1]
            if begin == end:
                continue
            for item in range(begin, end):
                where[items.base[item]] = item
            # Emissions of the word, an edge for each base: Σ_a outside(a) p(word | a) / p(sentence), or p(word | a).
            if width == 1:
                for e in range(blocks.words[words[i]], blocks.words[words[i] + 1]):
                    symbol = blocks.word_symbol[e]
                    item = where[blocks.base[symbol]]
                    if item >= 0:
                        p = blocks.word_p[e] * scales[i]
                        if posterior:
                            p *= inner[items.offsets[item] + blocks.local[symbol]] / total
                        if p > 0.0:
                            edge = first[2 * item]
                            if edge < 0:
                                edge, count = count, count + 1
                                first[2 * item], following[edge], lefts[edge], rights[edge] = edge, -1, -1, -1
                                score[edge] = 0.0
                            score[edge] += p
            # Binary rules, an edge for each split point k, pair of items x and y, and parent base:
            # Σ_{a → b c} outside(a) p(a → b c) I(b, i, k) I(c, k, j) / p(sentence), or p(a → b c).
            for k in range(i + 1, j):
                left_cell, right_cell = cell_number(i, k, n), cell_number(k, j, n)
                for x in range(items.starts[left_cell], items.starts[left_cell + 1]):
                    left = items.offsets[x]
                    for y in range(items.starts[right_cell], items.starts[right_cell + 1]):
                        pair = blocks.pair[items.base[x], items.base[y]]
                        if pair < 0:
                            continue
                        right = items.offsets[y]
                        for block in range(blocks.starts[pair], blocks.starts[pair + 1]):
                            item = where[blocks.parent[block]]
                            if item < 0:
                                continue
                            p = 0.0
                            if posterior:
                                parent = items.offsets[item]
                                for e in range(blocks.entries[block], blocks.entries[block + 1]):
                                    p += (
                                        inner[parent + blocks.a[e]]
                                        * blocks.p[e]
                                        * upper[left + blocks.b[e]]
                                        * upper[right + blocks.c[e]]
                                    )
                                p /= total
                            elif upper[left] > 0.0 and upper[right] > 0.0:
                                p = blocks.p[blocks.entries[block]]
                            if p > 0.0:
                                following[count], first[2 * item] = first[2 * item], count
                                lefts[count], rights[count], score[count] = 2 * x + 1, 2 * y + 1, p
                                count += 1
            # From 2e to 2e + 1 by the empty chain, and from 2e + 1 to the vertices above by every unary rule:
            # Σ_{a → b} outside(a) p(a → b) I(b, i, j) / p(sentence), or p(a → b).
            for item in range(begin, end):
                following[count], first[2 * item + 1] = first[2 * item + 1], count
                lefts[count], rights[count], score[count] = 2 * item, -1, 1.0
                count += 1
                base, child = items.base[item], items.offsets[item]
                for block in range(blocks.unary.starts[base], blocks.unary.starts[base + 1]):
                    above = where[blocks.unary.parent[block]]
                    if above < 0:
                        continue
                    p = 0.0
                    for e in range(blocks.unary.entries[block], blocks.unary.entries[block + 1]):
                        if posterior:
                            p += (
                                inner[items.offsets[above] + blocks.unary.a[e]]
                                * blocks.unary.p[e]
                                * upper[child + blocks.unary.b[e]]
                            )
                        elif upper[child] > 0.0:
                            p = blocks.unary.p[e]
                    if posterior:
                        p = min(p / total, ALMOST_ONE)
                    if p > 0.0:
                        following[count], first[2 * above + 1] = first[2 * above + 1], count
                        lefts[count], rights[count], score[count] = 2 * item + 1, -1, p
                        count += 1
            for item in range(begin, end):
                where[items.base[item]] = -1
    for edge in range(count):
        score[edge] = math.log(score[edge])
    return count


@njit(cache=True, nogil=True)
def best_scores(starts: Any, first: Any, following: Any, left: Any, right: Any, score: Any, best: Any) -> None:
    """Fill in the score of the best derivation of each vertex (Viterbi).

    Cells are visited from narrow to wide. Within a cell, unary rules are relaxed until no score rises.
    """
    best[:] = -math.inf
    for cell in range(len(starts) - 1):
        for item in range(starts[cell], starts[cell + 1]):
            edge = first[2 * item]
            while edge >= 0:
                value = score[edge]
                if left[edge] >= 0:
                    value += best[left[edge]] + best[right[edge]]
                best[2 * item] = max(best[2 * item], value)
                edge = following[edge]
        rising = True
        while rising:
            rising = False
            for item in range(starts[cell], starts[cell + 1]):
                edge = first[2 * item + 1]
                while edge >= 0:
                    value = score[edge] + best[left[edge]]
                    if value > best[2 * item + 1]:
                        best[2 * item + 1] = value
                        rising = True
                    edge = following[edge]


def _graph(chart: PrunedChart, posterior: bool) -> Hypergraph:
    """Build the hypergraph of a chart; the number of ways and unary rules bounds the number of edges."""
    items, blocks = chart.items, chart.blocks
    vertices = 2 * len(items.base)
    chains = int(np.diff(blocks.unary.starts)[items.base].sum())
    room = chart.ways + vertices + chains
    first = np.empty(vertices, np.int32)
    following, left, right = np.empty((3, room), np.int32)
    score, best = np.empty(room), np.empty(vertices)
    arrays = (first, following, left, right, score)
    values = (chart.upper, chart.inner)
    count = add_edges(blocks, items, chart.words, chart.scales, values, posterior, chart.total, arrays)
    edges = (following[:count], left[:count], right[:count], score[:count])
    best_scores(items.starts, first, *edges, best)
    return Hypergraph(first, *edges, best, 2 * chart.top + 1 if chart.top >= 0 else -1)


def rule_posteriors(chart: PrunedChart) -> Hypergraph:
    """Score edges by ln of the expected number of the rule over its spans; the chart must have its outside values."""
    return _graph(chart, True)


def rule_probabilities(chart: PrunedChart) -> Hypergraph:
    """Score edges by ln p of the rule, emissions times the scales; every base of the chart has one symbol."""
    return _graph(chart, False)
