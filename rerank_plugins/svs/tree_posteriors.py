"""Posteriors of concepts on trees that are given: inside and outside vectors in O(n K²) (Baker 1979, on one tree).

The tree and its states are known, by whatever parser, and only concepts are hidden. With the rule M_γ and the matrices
L of the children, the inside vector of a constituent and the outside vectors of its children are

    e_γ = M_γ · Π_α L(l_α) e_α            o_α[k] = Σ_i o_γ[i] · M_γ[i] · Π_{β ≠ α} (L(l_β) e_β)[i] · P_L(k | i, l_α)
    p_γ[i] = o_γ[i] e_γ[i] / Σ_j o_γ[j] e_γ[j]

with o = a_T at the root. A node may have any number of children. Where L is the identity, as from a constituent to its
head, both nodes have the same posterior, and one node may stand for them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel, part

IDENTITY = -1  # the relation whose matrix L is the identity
UNKNOWN_ROW = -1  # in place of the row of a rule, word or headword that says nothing about concepts


class GivenTrees(NamedTuple):
    """N nodes of T trees, tree after tree, children before their parents, the root of each tree last."""

    offsets: LongArray  # (T + 1) tree t has the nodes offsets[t] to offsets[t + 1]
    parent: IntArray  # (N) int32 the node above, -1 at a root
    relation: IntArray  # (N) int32 the matrix L between a node and its parent, or IDENTITY
    rule: IntArray  # (N) int32 the row of M, or UNKNOWN_ROW


class ConceptCounts(NamedTuple):
    """Expected counts of EM, weighted by tree: `rules` like p, `flows` like P_L and divided by it, `roots` (K)."""

    rules: FloatArray
    flows: FloatArray
    roots: FloatArray


NO_COUNTS = ConceptCounts(np.zeros((0, 0)), np.zeros((0, 0, 0)), np.zeros(0))


class ConceptModels(NamedTuple):
    """`p` (rules, K) has the diagonals of M, `transfer` (R, K, K) the matrices P_L, `root` (K) is a_T."""

    p: FloatArray
    transfer: FloatArray  # [relation, concept of the parent, concept of the child]
    columns: FloatArray  # [relation, concept of the child, concept of the parent]: the same numbers
    root: FloatArray


class TreeVectors(NamedTuple):
    """Room for the largest tree: `e`, `message` and `outside` (n, K), `scale` (n) of messages.

    Vectors e and messages are scaled to a maximum of 1, and o so that o · e = 1.
    """

    e: FloatArray
    message: FloatArray
    outside: FloatArray
    scale: FloatArray


def posteriors(trees: GivenTrees, p: FloatArray, transfer: FloatArray, root: FloatArray) -> FloatArray:
    """(N, K) P(concept | tree, words) of all nodes, which sums to one at each.

    `p` (rules, K) has the diagonals of M, `transfer` (R, K, K) the matrices P_L(concept of the child | concept of the
    parent, relation), and `root` (K) is a_T. A tree that has probability 0 has a_T at all nodes.
    """
    return inferred(trees, p, transfer, root)[0]


def inferred(trees: GivenTrees, p: FloatArray, transfer: FloatArray, root: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The `posteriors` (N, K), and (T) ln p of each tree: 0 for one without nodes, -inf for one of probability 0."""
    posterior = np.empty((len(trees.parent), len(root)))
    return posterior, add_expected(trees, np.ones(len(trees.offsets) - 1), p, transfer, root, NO_COUNTS, posterior)


def add_expected(
    trees: GivenTrees, weights: FloatArray, p: FloatArray, transfer: FloatArray, root: FloatArray,
    counts: ConceptCounts, posterior: FloatArray,
) -> FloatArray:  # fmt: skip
    """Add the expected counts of trees with these weights (T) to `counts`, and return (T) ln p as `inferred` does.

    Arrays of `counts` without elements stay so. `posterior` (N, K) is filled in if it has N rows. A tree of probability
    0 adds no counts.
    """
    k, longest = len(root), int(np.diff(trees.offsets).max(initial=0))
    e, message, outside = np.empty((3, longest, k))
    vectors = TreeVectors(e, message, outside, np.empty(longest))
    models = ConceptModels(p, transfer, np.ascontiguousarray(transfer.transpose(0, 2, 1)), root)
    logs = np.zeros(len(trees.offsets) - 1)
    infer(trees, weights, models, vectors, counts, posterior, logs)
    return logs


@part
def fill_inside(trees: GivenTrees, models: ConceptModels, vectors: TreeVectors, first: int, n: int) -> float:
    """Fill in `e`, messages and scales of the tree of n nodes from `first` on; return ln p(tree), or -inf.

    All messages of the children are in e when a node's own turn comes.
    """
    parent, relation, rule = trees.parent, trees.relation, trees.rule
    e, message, scale = vectors.e, vectors.message, vectors.scale
    k, logarithm = e.shape[1], 0.0
    for here in range(n):
        for i in range(k):
            e[here, i] = 1.0
    for here in range(n):
        node = first + here
        most = 0.0
        if rule[node] >= 0:
            for i in range(k):
                e[here, i] *= models.p[rule[node], i]
        for i in range(k):
            most = max(most, e[here, i])
        if most == 0.0:
            return -np.inf
        logarithm += np.log(most)
        for i in range(k):
            e[here, i] /= most
            message[here, i] = e[here, i] if relation[node] < 0 else 0.0
        scale[here] = 1.0
        if parent[node] < 0:
            continue
        if relation[node] >= 0:
            for j in range(k):
                value, column = e[here, j], models.columns[relation[node], j]
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
    for i in range(k):
        z += models.root[i] * e[n - 1, i]
    return logarithm + np.log(z) if z > 0.0 else -np.inf


@part
def fill_outside(
    trees: GivenTrees, models: ConceptModels, vectors: TreeVectors, first: int, n: int, weight: float, flows: FloatArray
) -> None:
    """Fill in `outside` of the tree, from the root down; add its expected flows, if `flows` has any.

    What is outside a child, before its transfer, is o_γ e_γ without the child's message, in whose place it stands;
    where the message is 0, so is the posterior of all that it leads to.
    """
    e, down, outside = vectors.e, vectors.message, vectors.outside
    k, z = e.shape[1], 0.0
    for i in range(k):
        z += models.root[i] * e[n - 1, i]
    for i in range(k):
        outside[n - 1, i] = models.root[i] / z
    for here in range(n - 2, -1, -1):
        above, kind = trees.parent[first + here] - first, trees.relation[first + here]
        for i in range(k):
            if down[here, i] > 0.0:
                down[here, i] = outside[above, i] * e[above, i] / (down[here, i] * vectors.scale[here])
            outside[here, i] = down[here, i] if kind < 0 else 0.0
        if kind < 0:
            continue
        for i in range(k):
            value, across = down[here, i], models.transfer[kind, i]
            for j in range(k):
                outside[here, j] += value * across[j]
            if len(flows):
                value, flow = weight * value, flows[kind, i]
                for j in range(k):
                    flow[j] += value * e[here, j]


@filling_kernel
def infer(
    trees: GivenTrees, weights: FloatArray, models: ConceptModels, vectors: TreeVectors, counts: ConceptCounts,
    posterior: FloatArray, logs: FloatArray,
) -> None:  # fmt: skip
    """Fill `logs` (T), which is 0 before, and `posterior`, and add to `counts`: see `add_expected`."""
    k, e, outside = len(models.root), vectors.e, vectors.outside
    for tree in range(len(logs)):
        first, weight = trees.offsets[tree], weights[tree]
        n = trees.offsets[tree + 1] - first
        if n == 0:
            continue
        logs[tree] = fill_inside(trees, models, vectors, first, n)
        if logs[tree] == -np.inf:
            for node in range(first, first + n if len(posterior) else first):
                for i in range(k):
                    posterior[node, i] = models.root[i]
            continue
        fill_outside(trees, models, vectors, first, n, weight, counts.flows)
        for here in range(n if len(posterior) else 0):
            for i in range(k):
                posterior[first + here, i] = outside[here, i] * e[here, i]
        for here in range(n if len(counts.rules) else 0):
            rule = trees.rule[first + here]
            if rule >= 0:
                for i in range(k):
                    counts.rules[rule, i] += weight * (outside[here, i] * e[here, i])
        for i in range(len(counts.roots)):
            counts.roots[i] += weight * (outside[n - 1, i] * e[n - 1, i])
