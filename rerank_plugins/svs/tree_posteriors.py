"""Posteriors of concepts on trees that are given: inside and outside vectors in O(n K²) (Baker 1979, on one tree).

The tree and its states are known, by whatever parser, and only concepts are hidden. With the rule M_γ and the matrices
L of the children, the inside vector of a constituent and the outside vectors of its children are

    e_γ = M_γ · Π_α L(l_α) e_α            o_α[k] = Σ_i o_γ[i] · M_γ[i] · Π_{β ≠ α} (L(l_β) e_β)[i] · P_L(k | i, l_α)
    p_γ[i] = o_γ[i] e_γ[i] / Σ_j o_γ[j] e_γ[j]

with o = a_T at the root. A node may have any number of children. Where L is the identity, as from a constituent to its
head in a lexicalised model, both nodes have the same posterior, and one node may stand for them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel

IDENTITY = -1  # the relation whose matrix L is the identity
UNKNOWN_ROW = -1  # in place of the row of a rule, word or headword that says nothing about concepts


class GivenTrees(NamedTuple):
    """N nodes of T trees, tree after tree, children before their parents, the root of each tree last."""

    offsets: LongArray  # (T + 1) tree t has the nodes offsets[t] to offsets[t + 1]
    parent: IntArray  # (N) int32 the node above, -1 at a root
    relation: IntArray  # (N) int32 the matrix L between a node and its parent, or IDENTITY
    rule: IntArray  # (N) int32 the row of M, or UNKNOWN_ROW


def posteriors(trees: GivenTrees, p: FloatArray, transfer: FloatArray, root: FloatArray) -> FloatArray:
    """(N, K) P(concept | tree, words) of all nodes, which sums to one at each.

    `p` (rules, K) has the diagonals of M, `transfer` (R, K, K) the matrices P_L(concept of the child | concept of the
    parent, relation), and `root` (K) is a_T. A tree that has probability 0 has a_T at all nodes.
    """
    return inferred(trees, p, transfer, root)[0]


def inferred(trees: GivenTrees, p: FloatArray, transfer: FloatArray, root: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The `posteriors` (N, K), and (T) ln p of each tree: 0 for one without nodes, -inf for one of probability 0."""
    posterior = np.empty((len(trees.parent), len(root)))
    none = np.zeros((0, len(root), len(root)))
    return posterior, log_likelihoods(trees, np.ones(len(trees.offsets) - 1), p, transfer, root, posterior, none)


def log_likelihoods(
    trees: GivenTrees, weights: FloatArray, p: FloatArray, transfer: FloatArray, root: FloatArray,
    posterior: FloatArray, flows: FloatArray,
) -> FloatArray:  # fmt: skip
    """(T) ln p of each tree: 0 for one without nodes, -inf for one of probability 0; `posterior` (N, K) is filled in.

    If `flows` (R, K, K) has rows, the expected counts of P_L, weighted by `weights` (T), are added to it, each divided
    by P_L.
    """
    longest = int(np.diff(trees.offsets).max(initial=0))
    e, message, outside, scale = *np.empty((3, longest, len(root))), np.empty(longest)
    columns = np.ascontiguousarray(transfer.transpose(0, 2, 1))
    work, logs = (e, message, outside, scale), np.zeros(len(trees.offsets) - 1)
    infer(*trees, weights, p, transfer, columns, root, *work, posterior, flows, logs)
    return logs


@filling_kernel
def infer(
    offsets: LongArray, parent: IntArray, relation: IntArray, rule: IntArray, weights: FloatArray, p: FloatArray,
    transfer: FloatArray, columns: FloatArray, root: FloatArray, e: FloatArray, message: FloatArray,
    outside: FloatArray, scale: FloatArray, posterior: FloatArray, flows: FloatArray, logs: FloatArray,
) -> None:  # fmt: skip
    """Fill `posterior`, `flows` and `logs`, which is 0 before; the other arguments are those of `log_likelihoods`.

    `e`, `message` and `outside` (n, K) and `scale` (n) are room for the largest tree; e and messages are scaled to a
    maximum of 1, and o so that o · e = 1.

    It is long because both passes share the vectors of a tree, and has many arguments because it creates no arrays.
    """
    k = len(root)
    for tree in range(len(offsets) - 1):
        first = offsets[tree]
        n = offsets[tree + 1] - first
        if n == 0:
            continue
        logarithm = 0.0
        for here in range(n):
            for i in range(k):
                e[here, i] = 1.0
        # Inside, from leaves to root: all messages of the children are in e when its own turn comes.
        for here in range(n):
            node = first + here
            most = 0.0
            for i in range(k):
                if rule[node] >= 0:
                    e[here, i] *= p[rule[node], i]
                most = max(most, e[here, i])
            if most == 0.0:
                logarithm = -np.inf
                break
            logarithm += np.log(most)
            for i in range(k):
                e[here, i] /= most
                message[here, i] = e[here, i] if relation[node] < 0 else 0.0
            scale[here] = 1.0
            if parent[node] < 0:
                continue
            if relation[node] >= 0:
                for j in range(k):
                    value, column = e[here, j], columns[relation[node], j]
                    for i in range(k):
                        message[here, i] += column[i] * value
                most = 0.0
                for i in range(k):
                    most = max(most, message[here, i])
                if most > 0.0:
                    scale[here] = most
                    logarithm += np.log(most)
            above = parent[node] - first
            for i in range(k):
                message[here, i] /= scale[here]
                e[above, i] *= message[here, i]
        z = 0.0
        if logarithm > -np.inf:
            for i in range(k):
                z += root[i] * e[n - 1, i]
        if z == 0.0:
            logs[tree] = -np.inf
            for here in range(n):
                for i in range(k):
                    posterior[first + here, i] = root[i]
            continue
        logs[tree] = logarithm + np.log(z)
        # Outside, from the root down. What is outside a child, before its transfer, is o_γ e_γ without its message;
        # where the message is 0, so is the posterior of all that it leads to.
        for i in range(k):
            outside[n - 1, i] = root[i] / z
        for here in range(n - 1, -1, -1):
            node = first + here
            if parent[node] >= 0:
                above, kind = parent[node] - first, relation[node]
                for i in range(k):
                    outside[here, i] = 0.0
                for i in range(k):
                    down = 0.0
                    if message[here, i] > 0.0:
                        down = outside[above, i] * e[above, i] / (message[here, i] * scale[here])
                    if kind < 0:
                        outside[here, i] = down
                        continue
                    across = transfer[kind, i]
                    for j in range(k):
                        outside[here, j] += down * across[j]
                    if len(flows):
                        flow, value = flows[kind, i], weights[tree] * down
                        for j in range(k):
                            flow[j] += value * e[here, j]
            for i in range(k):
                posterior[node, i] = outside[here, i] * e[here, i]
