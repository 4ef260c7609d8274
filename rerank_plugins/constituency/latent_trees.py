"""The E-step of latent states on the trees of a forest, part by part on all cores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rerank_plugins.constituency import latent_kernels as kernels
from rerank_plugins.constituency.binarised_trees import Forest
from rerank_plugins.constituency.distinct_subtrees import Subtrees, parts, subtrees
from rerank_plugins.constituency.latent_grammar import LatentGrammar
from rerank_plugins.constituency.treebank_grammar import Productions
from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.core.threads import cores, in_threads


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
        first,
        parent.astype(np.int32),
        left.astype(np.int32),
        right.astype(np.int32),
        grammar.p[place],
        place,
        np.column_stack([grammar.rows, widths]).astype(np.int64),
    )


class Trees:
    """A forest laid out for the kernels. Results do not depend on the number of cores, among which parts are divided.

    `rule` is the rule of each node of the forest: binary rules first, then unary rules, then emissions.
    """

    def __init__(self, forest: Forest, productions: Productions) -> None:
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

    def merge_losses(self, grammar: LatentGrammar, shares: FloatArray) -> FloatArray:
        """Return (all states) the loss in ln p of merging each even state with the next; 0 for odd states.

        The losses are no sums over the occurrences of a subtree, so every node is looked at.
        """
        listed, losses = entries(grammar), np.zeros(grammar.firsts[-1])
        for part in parts(self._forest):
            nodes = subtrees(self._forest, self.rule, *part, shared=False)
            at, inside, _, outside, _ = _passes(nodes, grammar, listed)
            known = grammar.firsts, shares, losses
            label = grammar.parent[nodes.rule]
            kernels.merge_losses(label, grammar.states, nodes.weights, at, inside, outside, *known)
        return losses


Passes = tuple[LongArray, FloatArray, FloatArray, FloatArray, FloatArray]


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
