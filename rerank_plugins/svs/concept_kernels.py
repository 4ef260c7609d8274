"""Inside and outside probabilities of concepts on fixed trees, and their expected counts (Wu & Schuler 2011, §3.1).

The tree is observed and only the concepts of its nodes are hidden, so each pass visits every node once (children come
before their parents). A node's vector e is scaled to a maximum of 1 and passed up as L e, with the transfer of its
relation; the vector of a constituent is then a product of three vectors (eq. 6). Outside vectors are scaled so that
outside · e = 1, which makes the elementwise product of the two the posterior of the node's concepts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def expect(
    offsets: Any, weights: Any, left: Any, right: Any, rule: Any, relation: Any, p: Any, transfer: Any, root: Any,
    counts: Any, flows: Any, roots: Any, posterior: Any,
) -> float:  # fmt: skip
    """Σ weight · ln p(tree), with the concepts summed over; -inf if a tree has probability 0.

    `left`, `right`, `rule` and `relation` (N) belong to nodes, `p` (rules, K) to rules; `transfer` (R, K, K), `root`
    (K). Expected counts are added to `counts` (like p), `flows` (like transfer, and divided by it) and `roots` (K).
    `posterior` (N, K) is filled in if it has N rows.
    """
    k, longest, columns = len(root), 0, np.ascontiguousarray(transfer.transpose(0, 2, 1))  # of each matrix L
    for tree in range(len(offsets) - 1):
        longest = max(longest, offsets[tree + 1] - offsets[tree])
    e, sent, outside = np.empty((longest, k)), np.empty((longest, k)), np.empty((longest, k))
    scale, down, share = np.empty(longest), np.empty(k), np.empty(k)
    total = 0.0
    for tree in range(len(offsets) - 1):
        first, weight = offsets[tree], weights[tree]
        n = offsets[tree + 1] - first
        logarithm = 0.0
        # Inside pass, from leaves to root: e is P_M or P_H times the transferred vectors of the children (eq. 6).
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
            # Scale e to a maximum of 1, and pass it up as L e.
            scale[here] = most
            logarithm += np.log(most)
            for i in range(k):
                e[here, i] /= most
            for i in range(k):
                sent[here, i] = 0.0
            for j in range(k):
                value, column = e[here, j], columns[relation[node], j]
                for i in range(k):
                    sent[here, i] += column[i] * value
        # The root: p(tree) = a_Tᵀ e, and the outside vector a_T / p(tree).
        z = 0.0
        for i in range(k):
            z += root[i] * e[n - 1, i]
        total += weight * (logarithm + np.log(z))
        for i in range(k):
            outside[n - 1, i] = root[i] / z
            roots[i] += weight * outside[n - 1, i] * e[n - 1, i]
        # Outside pass, from the root down: outside · e is the expected count of the node's rule (eq. 9).
        for here in range(n - 1, -1, -1):
            node = first + here
            for i in range(k):
                share[i] = outside[here, i] * e[here, i]
                counts[rule[node], i] += weight * share[i]
            if len(posterior):
                for i in range(k):
                    posterior[node, i] = share[i]
            for side in range(2):
                child = left[node] if side == 0 else right[node]
                if child < 0:
                    continue
                other = right[node] if side == 0 else left[node]
                across, flow = transfer[relation[child]], flows[relation[child]]
                # All that is outside the child, before its transfer: the parent's outside vector, rule and other child.
                for i in range(k):
                    down[i] = outside[here, i] * p[rule[node], i] / scale[here]
                    if other >= 0:
                        down[i] *= sent[other - first, i]
                # The child's outside vector is Lᵀ of it; its expected flow from concept i to concept j is added.
                below = child - first
                for j in range(k):
                    outside[below, j] = 0.0
                for i in range(k):
                    value = down[i]
                    for j in range(k):
                        outside[below, j] += value * across[i, j]
                        flow[i, j] += weight * value * e[below, j]
    return total
