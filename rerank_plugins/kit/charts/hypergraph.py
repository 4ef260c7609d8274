"""The trees of a pruned chart as a hypergraph of vertices and scored edges.

Item e of the chart has two vertices: 2e, its base over its span by an emission or a binary rule, and 2e + 1, the same
with any chain of unary rules on top. Edges are emissions (no tails), binary rules (tails 2x + 1 and 2y + 1), the empty
chain (2e → 2e + 1, score 0) and unary rules (from 2x + 1); a tree scores the sum of its edges. `rule_posteriors`
scores by ln of the expected number of times that the rule is used over its spans, the max-rule-product criterion of
Petrov & Klein (2007); `rule_probabilities` by ln p of the rule, where every base has one symbol (Viterbi derivations).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray
from rerank_plugins.kit.charts.pruned_chart import Edges, PrunedChart
from rerank_plugins.kit.kernels import filling_kernel


class Hypergraph(NamedTuple):
    """V vertices and E edges."""

    # first, next: (V), (E) linked lists: the edges into v are first[v], next[first[v]] and so on, until -1
    first: IntArray
    next: IntArray
    # left, right: (E) the tails of an edge, -1 if there is none
    left: IntArray
    right: IntArray
    score: FloatArray  # (E) the score of an edge
    best: FloatArray  # (V) the score of the best derivation, -inf if there is none
    top: int  # the vertex of ROOT over the whole sentence, -1 if the chart does not contain it


@filling_kernel
def add_rules(
    blocks: Any, items: Any, words: Any, scales: Any, upper: Any, meetings: Any, edges: Any, where: Any
) -> int:
    """Fill in edges with the probabilities of rules; return their number. Every base has one symbol.

    `where` is that of `CellBuffers`: the item of each base in the present cell.
    """
    met_starts, met_left, met_right, met_pair = meetings
    first, following, lefts, rights, score = edges
    for vertex in range(len(first)):
        first[vertex] = -1
    count = 0
    for cell in range(len(items.starts) - 1):
        begin, end = items.starts[cell], items.starts[cell + 1]
        for item in range(begin, end):
            where[items.base[item]] = item
        # Emissions of the word: p(word | a), times the scale. The first cells are those of single words.
        if cell < len(words):
            for e in range(blocks.words[words[cell]], blocks.words[words[cell] + 1]):
                item = where[blocks.base[blocks.word_symbol[e]]]
                if item >= 0 and blocks.word_p[e] > 0.0:
                    first[2 * item], following[count], lefts[count], rights[count] = count, -1, -1, -1
                    score[count] = blocks.word_p[e] * scales[cell]
                    count += 1
        # Binary rules, an edge for each meeting and parent: p(a → b c).
        for m in range(met_starts[cell], met_starts[cell + 1]):
            x, y, pair = met_left[m], met_right[m], met_pair[m]
            for block in range(blocks.starts[pair], blocks.starts[pair + 1]):
                item = where[blocks.parent[block]]
                p = blocks.p[blocks.entries[block]]
                if item >= 0 and upper[x] > 0.0 and upper[y] > 0.0 and p > 0.0:
                    following[count], first[2 * item] = first[2 * item], count
                    lefts[count], rights[count], score[count] = 2 * x + 1, 2 * y + 1, p
                    count += 1
        # From 2e to 2e + 1 by the empty chain, and from 2e + 1 to the vertices above by every unary rule: p(a → b).
        for item in range(begin, end):
            following[count], first[2 * item + 1] = first[2 * item + 1], count
            lefts[count], rights[count], score[count] = 2 * item, -1, 1.0
            count += 1
            base = items.base[item]
            for block in range(blocks.unary.starts[base], blocks.unary.starts[base + 1]):
                above, p = where[blocks.unary.parent[block]], blocks.unary.p[blocks.unary.entries[block]]
                if above >= 0 and upper[item] > 0.0 and p > 0.0:
                    following[count], first[2 * above + 1] = first[2 * above + 1], count
                    lefts[count], rights[count], score[count] = 2 * item + 1, -1, p
                    count += 1
        for item in range(begin, end):
            where[items.base[item]] = -1
    return count


@filling_kernel
def best_scores(starts: Any, first: Any, following: Any, left: Any, right: Any, score: Any, best: Any) -> None:
    """Take the logarithm of the scores, and fill in the score of the best derivation of each vertex (Viterbi).

    Cells are visited from narrow to wide. Within a cell, unary rules are relaxed until no score rises.
    """
    for vertex in range(len(best)):
        best[vertex] = -math.inf
    for edge in range(len(score)):
        score[edge] = math.log(score[edge])
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


def _graph(chart: PrunedChart, edges: Edges, count: int) -> Hypergraph:
    """Build the hypergraph of a chart from its first `count` edges."""
    first, score = edges.first, edges.score[:count]
    following, left, right = edges.next[:count], edges.left[:count], edges.right[:count]
    best = np.empty(len(first))
    best_scores(chart.items.starts, first, following, left, right, score, best)
    return Hypergraph(first, following, left, right, score, best, 2 * chart.top + 1 if chart.top >= 0 else -1)


def rule_posteriors(chart: PrunedChart) -> Hypergraph:
    """Fill the outside values of a chart; score edges by ln of the expected number of the rule over its spans."""
    return _graph(chart, *chart.fill_outside())


def rule_probabilities(chart: PrunedChart) -> Hypergraph:
    """Score edges by ln p of the rule, emissions times the scales; every base of the chart has one symbol."""
    edges = chart.edges()
    met = chart.meetings[:-1]
    count = add_rules(chart.blocks, chart.items, chart.words, chart.scales, chart.upper, met, edges, chart.work.where)
    return _graph(chart, edges, count)
