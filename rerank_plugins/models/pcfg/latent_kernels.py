"""Inside and outside probabilities of latent states on fixed trees, their expected counts, and the losses of merging.

The tree of a training sentence is known, only the state of each node is not, so both passes are linear in the number of
nodes (Petrov et al. 2006, §2.1). Vectors are scaled node by node: an inside vector to a maximum of 1, an outside vector
so that outside · inside is 1. The logs of the divisors of inside vectors add up to ln p(tree).

All trees are processed at once: nodes in the order of their height (inside) or depth (outside), and within that by
rule, so that a rule's probabilities stay in the processor's cache for all nodes that use it. They form a matrix, states
of the parent × combinations of the children's states, the right child's state varying fastest; the matrix begins at the
rule's place in one array. The vector of a node begins at its `at`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

FAST = {"reassoc", "contract", "nsz"}  # sums may be evaluated in any order


@njit(cache=True, nogil=True, fastmath=FAST)
def fill_below(node: int, nodes: Any, states: Any, at: Any, inside: Any, below: Any) -> int:
    """Set below[b, c] = I(b) I(c) for all states of the children; return the number of combinations."""
    label, left, right, _ = nodes
    first, second = left[node], right[node]
    kb, one = states[label[first]], at[first]
    if second < 0:
        for b in range(kb):
            below[b] = inside[one + b]
        return int(kb)
    kc, two = states[label[second]], at[second]
    for b in range(kb):
        value = inside[one + b]
        for c in range(kc):
            below[b * kc + c] = value * inside[two + c]
    return int(kb * kc)


@njit(cache=True, nogil=True, fastmath=FAST)
def fill_inside(order: Any, nodes: Any, states: Any, places: Any, p: Any, at: Any, inside: Any, scale: Any) -> None:
    """Fill `inside` and `scale` (nodes), children before parents; the scale of a node with p = 0 is 0.

    I(a) = Σ_{b, c} p(a → b c) I(b) I(c) / scale, or p(a → word) / scale, with the largest value as scale.
    """
    label, left, _, rule = nodes
    below = np.ones(states.max() * states.max())
    current, table = -1, np.empty((0, 0))
    for node in order:
        k, place, here = states[label[node]], places[rule[node]], at[node]
        most = 0.0
        # A preterminal: p(a → word).
        if left[node] < 0:
            for a in range(k):
                inside[here + a] = p[place + a]
                most = max(most, p[place + a])
        else:
            # A phrase: the rule's matrix times the products of the children's inside values.
            width = fill_below(node, nodes, states, at, inside, below)
            if rule[node] != current:
                current, table = rule[node], p[place : place + k * width].reshape(k, width)
            for a in range(k):
                total = 0.0
                for bc in range(width):
                    total += table[a, bc] * below[bc]
                inside[here + a] = total
                most = max(most, total)
        # Scale the vector to a maximum of 1.
        scale[node] = most
        if most > 0.0:
            for a in range(k):
                inside[here + a] /= most


@njit(cache=True, nogil=True, fastmath=FAST)
def fill_outside(
    order: Any, nodes: Any, states: Any, places: Any, p: Any, at: Any, inside: Any, scale: Any, outside: Any
) -> None:
    """Fill `outside`, parents before children; the roots are filled on entry. Nodes below one with p = 0 are skipped.

    O(b) = Σ_{a, c} O(a) p(a → b c) I(c) / scale of the parent, and O(c) likewise.
    """
    label, left, right, rule = nodes
    down = np.empty(states.max() * states.max())
    current, table = -1, np.empty((0, 0))
    for node in order:
        if left[node] < 0 or scale[node] == 0.0:
            continue
        k, place, first, second = states[label[node]], places[rule[node]], left[node], right[node]
        kb = states[label[first]]
        kc = states[label[second]] if second >= 0 else 1
        width = kb * kc
        if rule[node] != current:
            current, table = rule[node], p[place : place + k * width].reshape(k, width)
        # down[b, c] = Σ_a O(a) p(a → b c) / scale.
        down[:width] = 0.0
        for a in range(k):
            o = outside[at[node] + a] / scale[node]
            for bc in range(width):
                down[bc] += o * table[a, bc]
        # An only child gets `down` itself; of two, each gets it weighted by the inside values of its sister.
        one = at[first]
        if second < 0:
            for b in range(kb):
                outside[one + b] = down[b]
            continue
        two = at[second]
        for c in range(kc):
            outside[two + c] = 0.0
        for b in range(kb):
            total, value = 0.0, inside[one + b]
            for c in range(kc):
                total += down[b * kc + c] * inside[two + c]
                outside[two + c] += down[b * kc + c] * value
            outside[one + b] = total


@njit(cache=True, nogil=True, fastmath=FAST)
def count(
    order: Any, nodes: Any, states: Any, places: Any, weights: Any, at: Any, inside: Any, scale: Any, outside: Any,
    counts: Any,
) -> None:  # fmt: skip
    """Add expected counts divided by p to `counts`, laid out as p: Σ over nodes weight · O(a) I(b) I(c) / scale."""
    label, left, _, rule = nodes
    below = np.ones(states.max() * states.max())
    current, table = -1, np.empty((0, 0))
    for node in order:
        if weights[node] == 0.0:
            continue
        k, place, per = states[label[node]], places[rule[node]], weights[node] / scale[node]
        width = fill_below(node, nodes, states, at, inside, below) if left[node] >= 0 else 1
        if left[node] < 0:
            below[0] = 1.0
        if rule[node] != current:
            current, table = rule[node], counts[place : place + k * width].reshape(k, width)
        for a in range(k):
            o = outside[at[node] + a] * per
            for bc in range(width):
                table[a, bc] += o * below[bc]


@njit(cache=True, nogil=True)
def merge_losses(
    label: Any, states: Any, weights: Any, at: Any, inside: Any, outside: Any, firsts: Any, shares: Any, losses: Any
) -> None:
    """Add to `losses` (by even state number) the decrease of Σ weight · ln p(tree) if a state is merged with the next.

    `shares` (states of all labels) is the share of each state in the expected count of its pair; `firsts` says where
    the states of a label begin. A merge is judged at one node at a time, all others staying split (Petrov et al. 2006,
    §2.2): p(tree) changes from Σ_a O(a) I(a) = 1 by (O_i + O_j)(s_i I_i + s_j I_j) - O_i I_i - O_j I_j.
    """
    for node in range(len(label)):
        base, here = firsts[label[node]], at[node]
        for a in range(0, states[label[node]] - 1, 2):
            i, j = inside[here + a], inside[here + a + 1]
            o, u = outside[here + a], outside[here + a + 1]
            mixed = shares[base + a] * i + shares[base + a + 1] * j
            change = (o + u) * mixed - o * i - u * j
            losses[base + a] -= weights[node] * np.log1p(max(change, -0.999999))


@njit(cache=True, nogil=True, fastmath=FAST)
def add_rows(values: Any, places: Any, rows: Any, columns: Any, begins: Any, totals: Any) -> None:
    """Add the sum of row a of each rule's matrix to totals[begins[rule] + a]."""
    for rule in range(len(places)):
        for a in range(rows[rule]):
            row = values[places[rule] + a * columns[rule] : places[rule] + (a + 1) * columns[rule]]
            totals[begins[rule] + a] += row.sum()


@njit(cache=True, nogil=True)
def divide_rows(values: Any, places: Any, rows: Any, columns: Any, begins: Any, totals: Any) -> None:
    """Divide row a of each rule's matrix by totals[begins[rule] + a]; a row whose total is 0 is set to 1."""
    for rule in range(len(places)):
        for a in range(rows[rule]):
            row = values[places[rule] + a * columns[rule] : places[rule] + (a + 1) * columns[rule]]
            total = totals[begins[rule] + a]
            if total > 0.0:
                row /= total
            else:
                row[:] = 1.0


@njit(cache=True, nogil=True)
def draw_together(p: Any, places: Any, rows: Any, columns: Any, shares: Any) -> None:
    """Smooth in place: p(a) = (1 - share) p(a) + share · mean over the parent's states (Petrov et al. 2006, §2.3)."""
    for rule in range(len(places)):
        k, width, at = rows[rule], columns[rule], places[rule]
        for c in range(width):
            mean = 0.0
            for a in range(k):
                mean += p[at + a * width + c]
            mean *= shares[rule] / k
            for a in range(k):
                p[at + a * width + c] = (1.0 - shares[rule]) * p[at + a * width + c] + mean


@njit(cache=True)
def heights_and_depths(left: Any, right: Any, offsets: Any, heights: Any, depths: Any) -> None:
    """Fill in the height of each node over its words and its depth below its root."""
    for tree in range(len(offsets) - 1):
        for node in range(offsets[tree], offsets[tree + 1]):  # children come first
            if left[node] >= 0:
                heights[node] = heights[left[node]] + 1
            if right[node] >= 0:
                heights[node] = max(heights[node], heights[right[node]] + 1)
        # Depths from the root down: parents come first in reverse order.
        for node in range(offsets[tree + 1] - 1, offsets[tree] - 1, -1):
            if left[node] >= 0:
                depths[left[node]] = depths[node] + 1
            if right[node] >= 0:
                depths[right[node]] = depths[node] + 1
