"""Outside probabilities over the inside chart, and how often each symbol is expected over each span of a sentence.

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
    """Cells in order of their width, then from left to right: those of width d begin after Σ_{e<d} (n - e + 1)."""
    d = j - i - 1
    return d * n - d * (d - 1) // 2 + i


@njit(cache=True, nogil=True)
def outside_pass(rules: Any, n: int, from_start: Any, to_end: Any, least: float, counts: Any) -> None:
    """counts[cell, s] = expected number of nodes s over the cell's span.

    Nodes expected less often than `least` are passed over, they and what is below them.
    """
    size = counts.shape[1]
    total = from_start[0, ROOT, n]
    as_left = np.zeros((n, size, n + 1))  # outside probabilities of left children, by their start
    as_right = np.zeros((n + 1, size, n))  # of right children, by their end
    pairs = len(rules.pair_left)
    needed, used = np.zeros(pairs), np.empty(pairs, np.int32)
    waits = np.zeros(pairs, np.bool_)
    above, below = np.empty(size), np.empty(size)
    for width in range(n, 0, -1):
        for i in range(n - width + 1):
            j = i + width
            cell = cell_number(i, j, n)
            some = False
            for s in range(size):
                above[s] = as_left[i, s, j] + as_right[j, s, i]
                if width == n and s == ROOT:
                    above[s] = 1.0
                some = some or above[s] != 0.0
            if not some:
                continue
            apply_chains_down(rules.chains, above, below)
            number = 0
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
                        if not waits[pair]:
                            waits[pair] = True
                            used[number] = pair
                            number += 1
                        needed[pair] += rules.parent_p[rule] * below[s]
            for place in range(number):
                pair = used[place]
                weight, left, right = needed[pair], rules.pair_left[pair], rules.pair_right[pair]
                needed[pair], waits[pair] = 0.0, False
                first, last = i + 1, j
                if rules.narrow[left]:
                    last = i + 2
                if rules.narrow[right]:
                    first = j - 1
                for k in range(first, last):
                    as_left[i, left, k] += weight * to_end[j, right, k]
                    as_right[j, right, k] += weight * from_start[i, left, k]


def expected_nodes(chart: Chart, least: float = 0.0) -> FloatArray:
    """(cells, S) expected number of nodes over each span of the chart's sentence; zeros where it has no tree.

    Cells are in the order of `spans`. Counts below `least` are given as 0, and others may be too small by what was
    passed over for it.
    """
    n = len(chart.words)
    counts = np.zeros((n * (n + 1) // 2, len(chart.rules.narrow)))
    if n and chart.from_start[0, ROOT, n] > 0:
        outside_pass(chart.rules, n, chart.from_start, chart.to_end, least, counts)
    return counts


def spans(n: int) -> LongArray:
    """(n (n + 1) / 2, 2) first word and word after the last of each cell: the narrow ones first, from left to right."""
    return np.array([(i, i + width) for width in range(1, n + 1) for i in range(n - width + 1)], np.int64).reshape(
        -1, 2
    )
