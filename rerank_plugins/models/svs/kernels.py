"""Inside and outside probabilities of concepts on fixed trees, and their expected counts (Wu & Schuler 2011, §3.1).

The tree is known, only the concept of each node is not: both passes go once over its nodes (children come before their
parents). A node's vector e is scaled to a maximum of 1 and sent up as L e, the transfer of its relation applied, once;
a constituent's own vector is then a product of three vectors (eq. 6). Its outside vector is scaled so that
outside · e = 1, and the product of the two, number by number, is the posterior of its concepts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

FAST = {"reassoc", "contract", "nsz"}  # sums in any order


@njit(cache=True, nogil=True, fastmath=FAST)
def expect(
    offsets: Any, weights: Any, left: Any, right: Any, rule: Any, relation: Any, p: Any, transfer: Any, root: Any,
    counts: Any, flows: Any, roots: Any, posterior: Any,
) -> float:  # fmt: skip
    """Σ weight · ln p(tree), every tree's concepts summed over.

    `left`, `right`, `rule`, `relation` (N) are of nodes, `p` (rules, K) of rules, `transfer` (R, K, K), `root` (K).
    Expected counts are added: to `counts` (as p); to `flows` (as transfer) divided by the transfer; to `roots` (K).
    `posterior` (N, K) is filled in, where it has N rows.
    """
    k, longest = len(root), 0
    for tree in range(len(offsets) - 1):
        longest = max(longest, offsets[tree + 1] - offsets[tree])
    e, sent, outside = np.empty((longest, k)), np.empty((longest, k)), np.empty((longest, k))
    scale, down, share = np.empty(longest), np.empty(k), np.empty(k)
    total = 0.0
    for tree in range(len(offsets) - 1):
        first, weight = offsets[tree], weights[tree]
        n = offsets[tree + 1] - first
        logarithm = 0.0
        for here in range(n):
            node = first + here
            most = 0.0
            one, two = left[node] - first, right[node] - first
            for i in range(k):
                value = p[rule[node], i]
                if left[node] >= 0:
                    value *= sent[one, i]
                if right[node] >= 0:
                    value *= sent[two, i]
                e[here, i] = value
                most = max(most, value)
            if most == 0.0:
                return -np.inf
            scale[here] = most
            logarithm += np.log(most)
            for i in range(k):
                e[here, i] /= most
            across = transfer[relation[node]]
            for i in range(k):
                value = 0.0
                for j in range(k):
                    value += across[i, j] * e[here, j]
                sent[here, i] = value
        z = 0.0
        for i in range(k):
            z += root[i] * e[n - 1, i]
        total += weight * (logarithm + np.log(z))
        for i in range(k):
            outside[n - 1, i] = root[i] / z
            roots[i] += weight * outside[n - 1, i] * e[n - 1, i]
        for here in range(n - 1, -1, -1):
            node = first + here
            for i in range(k):
                share[i] = outside[here, i] * e[here, i]
                counts[rule[node], i] += weight * share[i]
            if len(posterior):
                posterior[node] = share
            for side in range(2):
                child = left[node] if side == 0 else right[node]
                if child < 0:
                    continue
                other = right[node] if side == 0 else left[node]
                across, flow = transfer[relation[child]], flows[relation[child]]
                for i in range(k):
                    down[i] = outside[here, i] * p[rule[node], i] / scale[here]
                    if other >= 0:
                        down[i] *= sent[other - first, i]
                below = child - first
                for j in range(k):
                    outside[below, j] = 0.0
                for i in range(k):
                    value = down[i]
                    for j in range(k):
                        outside[below, j] += value * across[i, j]
                        flow[i, j] += weight * value * e[below, j]
    return total
