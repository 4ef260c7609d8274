"""The E-step of latent states on the trees of a forest, part by part on all cores, with equal subtrees as one node.

Equal subtrees have equal inside probabilities, and both outside probabilities and expected counts are sums over their
occurrences. Most words, and a third of the phrases, occur several times in some ten thousand trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.constituency import latent_kernels as kernels
from rerank_plugins.constituency.latent_grammar import LatentGrammar
from rerank_plugins.constituency.treebank_grammar import EncodedTrees, Productions
from rerank_plugins.core.threads import cores, in_threads

NODES_A_PART = 1 << 20  # nodes of a part of a forest; its vectors take 16 bytes per distinct node and state
Passes = tuple[LongArray, FloatArray, FloatArray, FloatArray, FloatArray]


class Subtrees(NamedTuple):
    """N nodes by height, and within a height by rule; children come before their parents."""

    rule: IntArray  # (N) the rule of each node
    left: IntArray  # (N) int32 the first child, -1 in a preterminal
    right: IntArray  # (N) int32 the second child, -1 in a preterminal and where there is one child
    runs: LongArray  # (runs + 1) where each run of nodes of the same height and rule begins
    weights: FloatArray  # (N) the sum of the weights of the trees in which the node occurs, for each occurrence
    roots: LongArray  # the nodes that are roots, and `root_weights` the sum of the weights of their trees
    root_weights: FloatArray


def parts(forest: EncodedTrees, size: int | None = None) -> Iterator[tuple[int, int]]:
    """Cut a forest into parts of about `size` nodes: yield the first tree of each and the one after its last."""
    first, last, size = 0, len(forest.weights), size or NODES_A_PART
    while first < last:
        end = min(int(np.searchsorted(forest.offsets, forest.offsets[first] + size)), last)
        yield first, end
        first = end


def subtrees(forest: EncodedTrees, rule: IntArray, first: int, end: int, *, shared: bool = True) -> Subtrees:
    """Lay out the trees from `first` to `end`; `rule` is the rule of each node of the forest.

    With `shared`, equal subtrees become one node. Otherwise every node remains.
    """
    begin = int(forest.offsets[first])
    span = slice(begin, int(forest.offsets[end]))
    rule, height = rule[span], np.zeros(span.stop - begin, np.int32)
    left, right = (np.where(child[span] >= 0, child[span] - begin, -1) for child in (forest.left, forest.right))
    kernels.heights(left, right, height)
    order = np.lexsort((rule, height))
    number = np.full(len(rule) + 1, -1, np.int32)  # the place of each node in the result; that of node -1 is -1
    if shared:
        kept, ends = [], np.searchsorted(height[order], np.arange(height.max(initial=0) + 2))
        total = 0
        for start, stop in pairwise(ends.tolist()):
            level = order[start:stop]
            children = number[left[level]].astype(np.int64) << 32 | number[right[level]] + 1
            by_children = np.lexsort((children, rule[level]))
            level, children = level[by_children], children[by_children]
            new = np.append(True, (rule[level[1:]] != rule[level[:-1]]) | (children[1:] != children[:-1]))
            number[level] = total + np.cumsum(new) - 1
            total += int(new.sum())
            kept.append(level[new])
        order = np.concatenate(kept)
    else:
        number[order] = np.arange(len(order))
    tree_weights = forest.weights[first:end]
    weights = np.repeat(tree_weights, np.diff(forest.offsets[first : end + 1]))
    roots, root = np.unique(number[forest.offsets[first + 1 : end + 1] - 1 - begin], return_inverse=True)
    steps = (np.diff(rule[order]) != 0) | (np.diff(height[order]) != 0)
    return Subtrees(
        np.ascontiguousarray(rule[order], np.int32), number[left[order]], number[right[order]],
        np.concatenate(([0], np.flatnonzero(steps) + 1, [len(order)])).astype(np.int64),
        np.bincount(number[:-1], weights, len(order)).astype(np.float64), roots.astype(np.int64),
        np.bincount(root, tree_weights, len(roots)).astype(np.float64),
    )  # fmt: skip


class Entries(NamedTuple):
    """The probabilities above zero: those of rule r are first[r] to first[r + 1], by states of parent and children.

    `place` is where each is in the grammar's p; `widths` (R, 3) has the numbers of states of each rule's labels.
    """

    first: LongArray
    parent: IntArray
    left: IntArray
    right: IntArray
    value: FloatArray
    place: LongArray
    widths: LongArray


def entries(grammar: LatentGrammar) -> Entries:
    """List the probabilities of a grammar that are above zero."""
    place = np.flatnonzero(grammar.p)
    first = np.searchsorted(place, grammar.places)
    widths = np.where(grammar.children >= 0, grammar.states[grammar.children], 1)
    sizes = np.diff(first)
    within = place - np.repeat(grammar.places[:-1], sizes)
    parent, both = np.divmod(within, np.repeat(grammar.columns, sizes))
    left, right = np.divmod(both, np.repeat(widths[:, 1], sizes))
    return Entries(
        first, parent.astype(np.int32), left.astype(np.int32), right.astype(np.int32), grammar.p[place], place,
        np.column_stack([grammar.rows, widths]).astype(np.int64),
    )  # fmt: skip


class Trees:
    """A forest laid out for the kernels. Results do not depend on the number of cores, among which parts are divided.

    `rule` is the rule of each node of the forest: binary rules first, then unary rules, then emissions.
    """

    def __init__(self, forest: EncodedTrees, productions: Productions) -> None:
        start = np.where(forest.word >= 0, len(productions.binary) + len(productions.unary), len(productions.binary))
        start[forest.right >= 0] = 0
        self.rule = (productions.rule + start).astype(np.int32)
        self._forest = forest
        self._parts = [subtrees(forest, self.rule, *part) for part in parts(forest)]

    def expected(self, grammar: LatentGrammar) -> tuple[float, FloatArray]:
        """Return Σ weight · ln p(tree), and the expected counts, laid out as `grammar.p` (the E-step)."""
        listed, jobs = entries(grammar), cores()
        log_p, counts = 0.0, np.zeros(len(listed.value))
        for begin in range(0, len(self._parts), jobs):
            tasks = [(part, grammar, listed) for part in self._parts[begin : begin + jobs]]
            for value, found in in_threads(_expected, tasks, jobs):
                log_p += value
                counts += found
        laid_out = np.zeros_like(grammar.p)
        laid_out[listed.place] = counts * listed.value
        return log_p, laid_out

    def merge_losses(self, grammar: LatentGrammar, proportions: FloatArray) -> FloatArray:
        """Return (all states) the loss in ln p of merging each even state with the next; 0 for odd states.

        The losses are no sums over the occurrences of a subtree, so every node is looked at.
        """
        listed, losses = entries(grammar), np.zeros(grammar.firsts[-1])
        for part in parts(self._forest):
            nodes = subtrees(self._forest, self.rule, *part, shared=False)
            at, inside, _, outside, _ = _passes(nodes, grammar, listed)
            known = grammar.firsts, proportions, losses
            label = grammar.parent[nodes.rule]
            kernels.merge_losses(label, grammar.states, nodes.weights, at, inside, outside, *known)
        return losses


def _passes(nodes: Subtrees, grammar: LatentGrammar, listed: Entries) -> Passes:
    """Return where each vector begins, inside vectors, scales, outside vectors, and expected counts divided by p."""
    ends = np.cumsum(grammar.rows[nodes.rule], dtype=np.int64)
    at = np.concatenate(([0], ends[:-1]))
    inside, scale, outside = np.empty(ends[-1]), np.empty(len(at)), np.zeros(ends[-1])
    outside[at[nodes.roots]] = nodes.root_weights  # a root has one state, its inside value is 1
    counts = np.zeros(len(listed.value))
    known = nodes.runs, (nodes.rule, nodes.left, nodes.right), listed.widths, at, listed[:5], inside, scale
    kernels.fill_inside(*known)
    kernels.fill_outside(*known, outside, counts)
    return at, inside, scale, outside, counts


def _expected(nodes: Subtrees, grammar: LatentGrammar, listed: Entries) -> tuple[float, FloatArray]:
    """Return Σ weight · ln p(tree) of one part, and its expected counts divided by p."""
    _, _, scale, _, counts = _passes(nodes, grammar, listed)
    with np.errstate(divide="ignore"):
        return float(nodes.weights @ np.log(scale)), counts
