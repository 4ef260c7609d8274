"""Outside probabilities over the inside chart, and the expected number of each symbol over each span of a sentence.

O(s, i, j) = p(the sentence with words i … j-1 replaced by an s), Baker (1979): from the spans above, then down the
chains of unary rules. The expected number of nodes s over words i … j-1 is O(s, i, j) I(s, i, j) / p(sentence).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.models.pcfg.closure import apply_chains_down
from rerank_plugins.models.pcfg.grammar import ROOT
from rerank_plugins.models.pcfg.inside import Chart


@njit(cache=True, nogil=True)
def cell_number(i: int, j: int, n: int) -> int:
    """Number the cells by width, then from left to right: those of width d begin after Σ_{e<d} (n - e + 1) others."""
    d = j - i - 1
    return d * n - d * (d - 1) // 2 + i


@njit(cache=True, nogil=True)
def outside_pass(rules: Any, n: int, from_start: Any, to_end: Any, least: float, counts: Any) -> None:
    """Set counts[cell, s] to the expected used_count of nodes s over the cell's span.

    Nodes whose expected used_count is below `least` are pruned together with the nodes below them.
    """
    size = counts.shape[1]
    total = from_start[0, ROOT, n]
    as_left = np.zeros((n, size, n + 1))  # outside probabilities of left children, by their start
    as_right = np.zeros((n + 1, size, n))  # the same of right children, by their end
    pairs = len(rules.pair_left)
    needed, used = np.zeros(pairs), np.empty(pairs, np.int32)
    pending = np.zeros(pairs, np.bool_)
    above, below = np.empty(size), np.empty(size)
    for width in range(n, 0, -1):
        for i in range(n - width + 1):
            j = i + width
            cell = cell_number(i, j, n)
            # Outside probabilities from the wider spans: as a left or right child, or as the root.
            reachable = False
            for s in range(size):
                above[s] = as_left[i, s, j] + as_right[j, s, i]
                if width == n and s == ROOT:
                    above[s] = 1.0
                reachable = reachable or above[s] != 0.0
            if not reachable:
                continue
            # Down the chains of unary rules: O(b) = Σ_a R(a, b) above(a).
            apply_chains_down(rules.chains, above, below)
            # Expected numbers, and weight of each pair of children: Σ over its rules of O(parent) p(rule).
            used_count = 0
            for s in range(size):
                if below[s] == 0.0 or (width > 1 and rules.narrow[s]):
                    continue
                count = below[s] * from_start[i, s, j] / total
                if count < least or count == 0.0:
                    continue
                counts[cell, s] = count
                if width > 1:
                    for rule in range(rules.parent_starts[s], rules.parent_starts[s + 1]):
                        pair = rules.parent_pair[rule]
                        if not pending[pair]:
                            pending[pair] = True
                            used[used_count] = pair
                            used_count += 1
                        needed[pair] += rules.parent_p[rule] * below[s]
            # Hand down: O(l, i, k) += weight · I(r, k, j), O(r, k, j) += weight · I(l, i, k), for every split point k.
            for place in range(used_count):
                pair = used[place]
                weight, left, right = needed[pair], rules.pair_left[pair], rules.pair_right[pair]
                needed[pair], pending[pair] = 0.0, False
                first, last = i + 1, j
                if rules.narrow[left]:
                    last = i + 2
                if rules.narrow[right]:
                    first = j - 1
                for k in range(first, last):
                    as_left[i, left, k] += weight * to_end[j, right, k]
                    as_right[j, right, k] += weight * from_start[i, left, k]


def expected_nodes(chart: Chart, least: float = 0.0) -> FloatArray:
    """Return (cells, S) the expected number of nodes over each span of the chart's sentence; zeros if it has no tree.

    Cells are in the order of `spans`. Counts below `least` are 0, and other counts lack the contributions that were
    pruned with them.
    """
    n = len(chart.words)
    counts = np.zeros((n * (n + 1) // 2, len(chart.rules.narrow)))
    if n and chart.from_start[0, ROOT, n] > 0:
        outside_pass(chart.rules, n, chart.from_start, chart.to_end, least, counts)
    return counts


def spans(n: int) -> LongArray:
    """Return (n (n + 1) / 2, 2) the first word of each cell and the one after its last, ordered by `cell_number`."""
    return np.array([(i, i + width) for width in range(1, n + 1) for i in range(n - width + 1)], np.int64).reshape(
        -1, 2
    )
