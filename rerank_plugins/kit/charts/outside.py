"""Outside probabilities over the inside chart, and the expected number of each symbol over each span of a sentence.

O(s, i, j) = p(the sentence with words i … j-1 replaced by an s), Baker (1979): from the spans above, then down the
chains of unary rules. The expected number of nodes s over words i … j-1 is O(s, i, j) I(s, i, j) / p(sentence).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rerank_plugins.core.arrays import FloatArray, PlaceArray
from rerank_plugins.kit.charts.inside import Chart, InsideValues
from rerank_plugins.kit.charts.rules import Rules
from rerank_plugins.kit.charts.spans import cell_number
from rerank_plugins.kit.charts.weighted_rules import ROOT
from rerank_plugins.kit.kernels import filling_kernel


class OutsideBuffers(NamedTuple):
    """Outside probabilities of children in a sentence of n words, and room for S symbols and for pairs of children."""

    as_left: FloatArray  # (n, S, n + 1) outside probabilities of left children, by their start; 0 at first
    as_right: FloatArray  # (n + 1, S, n) the same of right children, by their end
    needed: FloatArray  # (pairs) weights of the pairs in one cell; 0 at first
    chosen: PlaceArray  # (pairs + 1)
    above: FloatArray  # (S)


def outside_buffers(rules: Rules, n: int) -> OutsideBuffers:
    """Return the start values of the outside pass over a sentence of n words."""
    size, pairs = len(rules.narrow), len(rules.pair_left)
    left, right = np.zeros((n, size, n + 1)), np.zeros((n + 1, size, n))
    return OutsideBuffers(left, right, np.zeros(pairs), np.empty(pairs + 1, np.uint32), np.empty(size))


@filling_kernel
def outside_pass(
    rules: Rules, n: int, values: InsideValues, least: float, counts: FloatArray, work: OutsideBuffers
) -> None:
    """Set counts[cell, s] to the expected number of nodes s over the cell's span.

    Nodes whose expected number is below `least` are pruned together with the nodes below them. `values` are
    those of the chart.

    It is long because the steps of a cell, from the spans above, down the chains and to the children, share what they
    note of its symbols and pairs.
    """
    from_start, to_end, begins, ends = values.from_start, values.to_end, values.begins, values.ends
    narrow, pair_starts, pair_left, pair_right = rules.narrow, rules.pair_starts, rules.pair_left, rules.pair_right
    parent_starts, parent_pair, parent_p = rules.parent_starts, rules.parent_pair, rules.parent_p
    chain_starts, chain_parents, chain_p = rules.chains.starts, rules.chains.parents, rules.chains.p
    size = counts.shape[1]
    total = from_start[0, ROOT, n]
    as_left, as_right, needed, chosen, above = work
    for width in range(n, 0, -1):
        for i in range(n - width + 1):
            j = i + width
            cell = cell_number(i, j, n)
            # Outside probabilities from the wider spans: as a left or right child, or as the root.
            reachable = False
            for s in range(size):
                above[s] = 0.0
                if begins[i, s] and (width == 1 or not narrow[s]):
                    above[s] = as_left[i, s, j] + as_right[j, s, i]
                    if width == n and s == ROOT:
                        above[s] = 1.0
                    reachable = reachable or above[s] != 0.0
            if not reachable:
                continue
            active = False
            for s in range(size):
                if not begins[i, s] or (width > 1 and narrow[s]) or from_start[i, s, j] == 0.0:
                    continue
                # Down the chains of unary rules: O(b) = Σ_a R(a, b) above(a).
                below = 0.0
                for e in range(chain_starts[s], chain_starts[s + 1]):
                    below += chain_p[e] * above[chain_parents[e]]
                # Expected numbers, and weight of each pair of children: Σ over its rules of O(parent) p(rule).
                count = below * from_start[i, s, j] / total
                if count < least or count == 0.0:
                    continue
                counts[cell, s] = count
                if width == 1:
                    continue
                for rule in range(parent_starts[s], parent_starts[s + 1]):
                    needed[parent_pair[rule]] += parent_p[rule] * below
                active = True
            if not active:
                continue
            # The pairs that have a weight and a split point, without a branch, which no processor could foresee.
            found = np.uint64(0)
            for left in range(size):
                bits = begins[i, left]
                if bits:
                    for pair in range(pair_starts[left], pair_starts[left + 1]):
                        chosen[found] = pair
                        both = bits & ends[j, pair_right[pair]]
                        found += np.uint64((both != 0) & (needed[pair] != 0.0))
            # Hand down: O(l, i, k) += weight · I(r, k, j), O(r, k, j) += weight · I(l, i, k), for every split point k.
            # The elements of other k are not read any more, so that k may run over whole rows of eight.
            start, end = np.uint64((i + 1) & -8), np.uint64(j + 7 & -8 if j + 7 & -8 < n else n)
            for place in range(found):
                children = chosen[place]
                weight, left, right = needed[children], pair_left[children], pair_right[children]
                row, column = from_start[i, left], to_end[j, right]
                left_row, right_row = as_left[i, left], as_right[j, right]
                for k in range(start, end):
                    left_row[k] += weight * column[k]
                    right_row[k] += weight * row[k]
            for pair in range(len(needed)):
                needed[pair] = 0.0


def expected_nodes(chart: Chart, least: float = 0.0) -> FloatArray:
    """Return (cells, S) the expected number of nodes over each span of the chart's sentence; zeros if it has no tree.

    Cells are in the order of `spans`. Counts below `least` are 0, and other counts lack the contributions that were
    pruned with them.
    """
    n = len(chart.words)
    counts = np.zeros((n * (n + 1) // 2, len(chart.rules.narrow)))
    if n and chart.from_start[0, ROOT, n] > 0:
        outside_pass(chart.rules, n, chart.values, least, counts, outside_buffers(chart.rules, n))
    return counts
