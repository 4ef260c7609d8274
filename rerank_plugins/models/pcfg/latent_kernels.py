"""Inside and outside probabilities of latent states on fixed trees, their expected counts, and what merging costs.

The tree of a training sentence is known, only the state of each node is not, so both passes are linear in the number
of nodes (Petrov et al. 2006, §2.1). Vectors are scaled node by node: an inside vector to a maximum of 1, an outside
vector so that outside · inside is the weight of the tree; what inside vectors were divided by adds up to ln p(tree).

A rule's probabilities lie in one array from its place on, as a tensor (states of parent × left × right), row-major;
those of a unary rule as (parent × child), of an emission as (parent).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def inside_pass(first: int, last: int, nodes: Any, states: Any, places: Any, p: Any, inside: Any, scale: Any) -> float:
    """Fill `inside` (nodes of the tree × states) and `scale` (nodes of the tree); ln p(tree), -inf for p = 0."""
    label, left, right, rule = nodes
    log_p = 0.0
    for node in range(first, last):
        k = states[label[node]]
        mine = inside[node - first]
        place = places[rule[node]]
        if left[node] < 0:
            for a in range(k):
                mine[a] = p[place + a]
        elif right[node] < 0:
            below, kb = inside[left[node] - first], states[label[left[node]]]
            for a in range(k):
                total = 0.0
                for b in range(kb):
                    total += p[place + a * kb + b] * below[b]
                mine[a] = total
        else:
            one, kb = inside[left[node] - first], states[label[left[node]]]
            two, kc = inside[right[node] - first], states[label[right[node]]]
            for a in range(k):
                total = 0.0
                for b in range(kb):
                    at = place + (a * kb + b) * kc
                    dot = 0.0
                    for c in range(kc):
                        dot += p[at + c] * two[c]
                    total += one[b] * dot
                mine[a] = total
        most = 0.0
        for a in range(k):
            most = max(most, mine[a])
        if most == 0.0:
            return -np.inf
        for a in range(k):
            mine[a] /= most
        scale[node - first] = most
        log_p += np.log(most)
    return log_p


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def outside_pass(
    first: int, last: int, nodes: Any, states: Any, places: Any, p: Any, weight: float, inside: Any, scale: Any,
    outside: Any, counts: Any,
) -> None:  # fmt: skip
    """Fill `outside` and add to `counts` (as p) the expected counts divided by p. Call it after `inside_pass`."""
    label, left, right, rule = nodes
    outside[last - 1 - first, 0] = weight / inside[last - 1 - first, 0]
    for node in range(last - 1, first - 1, -1):
        k = states[label[node]]
        mine, place = outside[node - first], places[rule[node]]
        per = 1.0 / scale[node - first]
        if left[node] < 0:
            for a in range(k):
                counts[place + a] += mine[a] * per
        elif right[node] < 0:
            below, kb = inside[left[node] - first], states[label[left[node]]]
            out = outside[left[node] - first]
            out[:kb] = 0.0
            for a in range(k):
                o = mine[a] * per
                if o == 0.0:
                    continue
                at = place + a * kb
                for b in range(kb):
                    counts[at + b] += o * below[b]
                    out[b] += o * p[at + b]
        else:
            one, kb = inside[left[node] - first], states[label[left[node]]]
            two, kc = inside[right[node] - first], states[label[right[node]]]
            out_one, out_two = outside[left[node] - first], outside[right[node] - first]
            out_one[:kb] = 0.0
            out_two[:kc] = 0.0
            for a in range(k):
                o = mine[a] * per
                if o == 0.0:
                    continue
                for b in range(kb):
                    at = place + (a * kb + b) * kc
                    both = o * one[b]
                    dot = 0.0
                    for c in range(kc):
                        probability = p[at + c]
                        counts[at + c] += both * two[c]
                        out_two[c] += both * probability
                        dot += probability * two[c]
                    out_one[b] += o * dot


@njit(cache=True, nogil=True)
def expect(
    nodes: Any, offsets: Any, weights: Any, states: Any, places: Any, p: Any, counts: Any, inside: Any, outside: Any,
    scale: Any,
) -> float:  # fmt: skip
    """Add the expected counts, still to be multiplied by p, of all trees to `counts`; Σ weight · ln p(tree)."""
    total = 0.0
    for tree in range(len(weights)):
        if weights[tree] > 0.0:
            first, last = offsets[tree], offsets[tree + 1]
            total += weights[tree] * inside_pass(first, last, nodes, states, places, p, inside, scale)
            outside_pass(first, last, nodes, states, places, p, weights[tree], inside, scale, outside, counts)
    return total


@njit(cache=True, nogil=True)
def merge_losses(
    nodes: Any, offsets: Any, weights: Any, states: Any, places: Any, p: Any, firsts: Any, shares: Any, losses: Any,
    counts: Any, inside: Any, outside: Any, scale: Any,
) -> None:  # fmt: skip
    """Add to `losses` (by even state number) the fall of Σ weight · ln p(tree) when a state and the next are merged.

    `shares` (states of all labels) is each state's part in the expected count of its pair; `firsts` where the states
    of a label begin. A merge is judged at one node at a time, the others as they are (Petrov et al. 2006, §2.2).
    """
    label = nodes[0]
    for tree in range(len(weights)):
        if weights[tree] == 0.0:
            continue
        first, last = offsets[tree], offsets[tree + 1]
        inside_pass(first, last, nodes, states, places, p, inside, scale)
        outside_pass(first, last, nodes, states, places, p, 1.0, inside, scale, outside, counts)
        for node in range(first, last):
            base = firsts[label[node]]
            o, i = outside[node - first], inside[node - first]
            for a in range(0, states[label[node]] - 1, 2):
                mixed = shares[base + a] * i[a] + shares[base + a + 1] * i[a + 1]
                change = (o[a] + o[a + 1]) * mixed - o[a] * i[a] - o[a + 1] * i[a + 1]
                losses[base + a] -= weights[tree] * np.log1p(max(change, -0.999999))


@njit(cache=True, nogil=True)
def draw_together(p: Any, places: Any, rows: Any, columns: Any, shares: Any) -> None:
    """Smooth in place: the rows of each tensor move towards their mean by `shares` of the way."""
    for rule in range(len(places)):
        k, width, at = rows[rule], columns[rule], places[rule]
        for c in range(width):
            mean = 0.0
            for a in range(k):
                mean += p[at + a * width + c]
            mean *= shares[rule] / k
            for a in range(k):
                p[at + a * width + c] = (1.0 - shares[rule]) * p[at + a * width + c] + mean
