"""A grammar whose symbols have latent states, over the productions of a forest: split, merged, re-estimated.

The probabilities of all rules are in one array, rule after rule: binary rules, unary rules, emissions. Those of rule r
are a tensor from places[r] on: rows[r] states of the parent × columns[r] combinations of the children's states.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from rerank_plugins.arrays import BoolArray, FloatArray, IntArray, LongArray
from rerank_plugins.models.pcfg import latent_kernels as kernels
from rerank_plugins.models.pcfg.forest import Forest
from rerank_plugins.models.pcfg.treebank_grammar import Productions, productions
from rerank_plugins.threads import cores, over_ranges

Places = LongArray
LEAST_NODES = 20_000  # the least work of a thread: about 10 ms with a few states
LEAST_CELLS = 4e6  # the same in cells of rules' tensors, times nodes


@dataclass(frozen=True, eq=False)
class LatentGrammar:
    """Rules over labels, with latent states.

    `productions`  the rules and their counts in the forest
    `parent`       (R) the label of each rule's parent; `children` (R, 2) labels, -1 if there is no child
    `states`       (C) the number of states of each label
    `p`            the tensors of all rules
    """

    productions: Productions
    parent: IntArray
    children: IntArray
    states: IntArray
    p: FloatArray

    @cached_property
    def rows(self) -> Places:
        """(R) the number of states of the parent."""
        return self.states[self.parent].astype(np.int64)

    @cached_property
    def columns(self) -> Places:
        """(R) the number of combinations of the children's states."""
        widths = np.where(self.children >= 0, self.states[self.children], 1).astype(np.int64)
        return widths[:, 0] * widths[:, 1]

    @cached_property
    def places(self) -> Places:
        """(R + 1) where the tensor of each rule begins."""
        return np.concatenate(([0], np.cumsum(self.rows * self.columns)))

    @cached_property
    def firsts(self) -> Places:
        """(C + 1) where the states of each label begin in a consecutive numbering of all states."""
        return np.concatenate(([0], np.cumsum(self.states, dtype=np.int64)))

    @cached_property
    def owner(self) -> IntArray:
        """(len(p)) the state, in the consecutive numbering, whose rewriting each probability belongs to."""
        begin = np.repeat(self.firsts[self.parent], self.rows)
        within = np.arange(len(begin)) - np.repeat(np.cumsum(self.rows) - self.rows, self.rows)
        return np.repeat(begin + within, np.repeat(self.columns, self.rows)).astype(np.int32)

    def shape(self, rule: int) -> tuple[int, int, int]:
        """Return the shape of a rule's tensor; a missing child counts as one state."""
        left, right = (int(self.states[child]) if child >= 0 else 1 for child in self.children[rule])
        return int(self.rows[rule]), left, right

    def tensors(self) -> list[FloatArray]:
        """Return the tensor of each rule, as views of `p`."""
        places = self.places.tolist()
        return [self.p[places[rule] : places[rule + 1]].reshape(self.shape(rule)) for rule in range(len(self.parent))]

    def totals(self, values: FloatArray) -> FloatArray:
        """Return (all states) Σ of `values`, laid out as p, over the rewritings of each state."""
        totals = np.zeros(self.firsts[-1])
        kernels.add_rows(values, *self._matrices, totals)
        return totals

    def normalised(self, counts: FloatArray) -> LatentGrammar:
        """Return the grammar of these counts, laid out as p. A state without counts gets a uniform distribution."""
        p, totals = counts.copy(), self.totals(counts)
        while True:
            kernels.divide_rows(p, *self._matrices, totals)
            if np.all(totals > 0):
                return replace(self, p=p)
            totals = np.where(totals > 0, 1.0, self.totals(p))

    @property
    def _matrices(self) -> tuple[Places, Places, Places, Places]:
        return self.places[:-1], self.rows, self.columns, self.firsts[self.parent]

    def smoothed(self, rules: float, emissions: float) -> LatentGrammar:
        """Interpolate a label's states with their mean, by these shares (Petrov et al. 2006, §2.3: 0.01 and 0.1)."""
        p = self.p.copy()
        shares = np.where(self.children[:, 0] >= 0, rules, emissions)
        kernels.draw_together(p, self.places[:-1], self.rows, self.columns, shares)
        return replace(self, p=p)

    def split(self, rng: np.random.Generator, noise: float = 0.01) -> LatentGrammar:
        """Split every state but ROOT's in two, whose probabilities differ by random factors of 1 ± `noise`."""
        states = self.states * 2
        states[0] = 1
        tensors = []
        for rule, tensor in enumerate(self.tensors()):
            labels = (self.parent[rule], *self.children[rule])
            for axis, label in enumerate(labels):
                if label > 0:
                    tensor = np.repeat(tensor if axis == 0 else tensor / 2, 2, axis)
            tensors.append(tensor.ravel())
        values = np.concatenate(tensors)
        halves = replace(self, states=states, p=values)
        return halves.normalised(values * (1 + rng.uniform(-noise, noise, len(values))))

    def merged(self, together: BoolArray, shares: FloatArray) -> LatentGrammar:
        """Merge the states a and a + 1 if `together[a]`; a is even within its label.

        `together` and `shares` are over all states. The rewritings of a merged state are those of the two, weighted by
        `shares`, their shares of the pair's expected count.
        """
        memberships, weights = [], []
        for label, k in enumerate(self.states.tolist()):
            span = slice(self.firsts[label], self.firsts[label] + k)
            joins = np.flatnonzero(together[span])
            kept = np.ones(k, np.bool_)
            kept[joins + 1] = False
            new = np.cumsum(kept) - 1  # (k) the new number of each state
            incoming = (new[:, None] == np.arange(kept.sum())).astype(np.float64)
            share = np.ones(k)
            share[joins], share[joins + 1] = shares[span][joins], shares[span][joins + 1]
            memberships.append(incoming)
            weights.append((incoming * share[:, None]).T)
        # Sum over the merged states of the children, mean over those of the parent.
        one = np.ones((1, 1))
        tensors = [
            np.einsum(
                "xa,abc,by,cz->xyz",
                weights[self.parent[rule]],
                tensor,
                *(memberships[child] if child >= 0 else one for child in self.children[rule]),
                optimize=["einsum_path", (0, 1), (0, 2), (0, 1)],
            ).ravel()
            for rule, tensor in enumerate(self.tensors())
        ]
        states = np.array([matrix.shape[1] for matrix in memberships], np.int32)
        return replace(self, states=states, p=np.concatenate(tensors))


def unsplit(forest: Forest) -> LatentGrammar:
    """Return the treebank grammar of a forest, with one state for each label and an unsmoothed lexicon."""
    rewritings = productions(forest)
    none = np.full(len(rewritings.unary), -1, np.int32)
    nothing = np.full((len(rewritings.emission), 2), -1, np.int32)
    parent = np.concatenate([rewritings.binary[:, 0], rewritings.unary[:, 0], rewritings.emission[:, 0]])
    children = np.concatenate([rewritings.binary[:, 1:], np.stack([rewritings.unary[:, 1], none], axis=1), nothing])
    states = np.ones(len(forest.labels), np.int32)
    counts = np.concatenate([rewritings.binary_count, rewritings.unary_count, rewritings.emission_count])
    return LatentGrammar(rewritings, parent, children, states, counts).normalised(counts)


class Trees:
    """A forest laid out for the kernels, which run on all cores; takes 16 bytes per node and state.

    Threads divide up trees (inside, outside) or rules (counts), so the results do not depend on the number of cores.
    """

    def __init__(self, forest: Forest, grammar: LatentGrammar) -> None:
        rewritings = grammar.productions
        start = np.where(forest.word >= 0, len(rewritings.binary) + len(rewritings.unary), len(rewritings.binary))
        start[forest.right >= 0] = 0
        self.nodes = forest.label, forest.left, forest.right, (rewritings.rule + start).astype(np.int32)
        self.weights = forest.node_weights
        self._roots = forest.offsets[1:] - 1
        heights, depths = np.zeros((2, len(forest.label)), np.int32)
        kernels.heights_and_depths(forest.left, forest.right, forest.offsets, heights, depths)
        rule = self.nodes[3]
        self._by_rule = np.argsort(rule, kind="stable")
        # Where the nodes of each rule begin in `_by_rule`.
        self._begins = np.searchsorted(rule[self._by_rule], np.arange(len(grammar.parent) + 1))
        jobs = cores()
        bounds = forest.offsets[np.arange(jobs + 1) * (len(forest.offsets) - 1) // jobs]
        self._parts = [np.arange(first, end) for first, end in pairwise(bounds.tolist())]  # nodes of neighbouring trees
        self._upwards, self._downwards = (
            [part[np.lexsort((rule[part], level[part]))] for part in self._parts] for level in (heights, depths)
        )

    def expected(self, grammar: LatentGrammar) -> tuple[float, FloatArray]:
        """Return Σ weight · ln p(tree), and the expected counts, laid out as `grammar.p` (the E-step)."""
        passes = self._passes(grammar)
        counts = np.zeros_like(grammar.p)
        known = self.nodes, grammar.states, grammar.places

        def count(first: int, end: int) -> None:
            nodes = self._by_rule[self._begins[first] : self._begins[end]]
            kernels.count(nodes, *known, self.weights, *passes, counts)

        over_ranges(count, np.diff(self._begins) * grammar.rows * grammar.columns, LEAST_CELLS)
        counts *= grammar.p
        return float(self.weights @ np.log(passes[2])), counts

    def merge_losses(self, grammar: LatentGrammar, shares: FloatArray) -> FloatArray:
        """Return (all states) the loss in ln p of merging each even state with the next; 0 for odd states."""
        losses = np.zeros(grammar.firsts[-1])
        at, inside, _, outside = self._passes(grammar)
        known = grammar.firsts, shares, losses
        kernels.merge_losses(self.nodes[0], grammar.states, self.weights, at, inside, outside, *known)
        return losses

    def _passes(self, grammar: LatentGrammar) -> tuple[Places, FloatArray, FloatArray, FloatArray]:
        """Return where each node's vector begins, the inside vectors, the scales (nodes) and the outside vectors."""
        ends = np.cumsum(grammar.states[self.nodes[0]], dtype=np.int64)
        at = np.concatenate(([0], ends[:-1]))
        inside, outside, scale = np.empty(ends[-1]), np.empty(ends[-1]), np.empty(len(at))
        known = self.nodes, grammar.states, grammar.places, grammar.p, at, inside, scale
        outside[at[self._roots]] = 1.0  # a root has one state, its inside value is 1

        def both(first: int, end: int) -> None:
            for part in range(first, end):
                kernels.fill_inside(self._upwards[part], *known)
                kernels.fill_outside(self._downwards[part], *known, outside)

        over_ranges(both, np.array([len(part) for part in self._parts]), LEAST_NODES)
        return at, inside, scale, outside
