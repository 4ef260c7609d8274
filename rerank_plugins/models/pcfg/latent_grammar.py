"""A grammar whose symbols have latent states, over the productions of a forest: split, merged, re-estimated.

Probabilities of all rules lie in one array, rule after rule: binary ones, unary ones, emissions. That of rule r is a
tensor from places[r] on: rows[r] states of the parent × columns[r] combinations of the children's states.
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
LEAST_NODES = 20_000  # about 10 ms with a few states: less is not worth a thread
LEAST_CELLS = 4e6  # of rules' tensors, times nodes


@dataclass(frozen=True, eq=False)
class LatentGrammar:
    """`parent` (R) label, `children` (R, 2) labels or -1, of each rule; `states` (C) of each label; `p` all tensors."""

    productions: Productions
    parent: IntArray
    children: IntArray
    states: IntArray
    p: FloatArray

    @cached_property
    def rows(self) -> Places:
        """(R) how many states the parent has."""
        return self.states[self.parent].astype(np.int64)

    @cached_property
    def columns(self) -> Places:
        """(R) how many combinations of the children's states there are."""
        widths = np.where(self.children >= 0, self.states[self.children], 1).astype(np.int64)
        return widths[:, 0] * widths[:, 1]

    @cached_property
    def places(self) -> Places:
        """(R + 1) where the tensor of each rule begins."""
        return np.concatenate(([0], np.cumsum(self.rows * self.columns)))

    @cached_property
    def firsts(self) -> Places:
        """(C + 1) where the states of each label begin when all states are numbered through."""
        return np.concatenate(([0], np.cumsum(self.states, dtype=np.int64)))

    @cached_property
    def owner(self) -> IntArray:
        """(len(p)) the state, numbered through, whose rewriting each probability belongs to."""
        begin = np.repeat(self.firsts[self.parent], self.rows)
        within = np.arange(len(begin)) - np.repeat(np.cumsum(self.rows) - self.rows, self.rows)
        return np.repeat(begin + within, np.repeat(self.columns, self.rows)).astype(np.int32)

    def shape(self, rule: int) -> tuple[int, int, int]:
        """Shape of a rule's tensor; a missing child counts as one state."""
        left, right = (int(self.states[child]) if child >= 0 else 1 for child in self.children[rule])
        return int(self.rows[rule]), left, right

    def tensors(self) -> list[FloatArray]:
        """The tensor of each rule: views of `p`."""
        places = self.places.tolist()
        return [self.p[places[rule] : places[rule + 1]].reshape(self.shape(rule)) for rule in range(len(self.parent))]

    def totals(self, values: FloatArray) -> FloatArray:
        """(states numbered through) Σ of `values` (as p) over the rewritings of each state."""
        totals = np.zeros(self.firsts[-1])
        kernels.add_rows(values, *self._matrices, totals)
        return totals

    def normalised(self, counts: FloatArray) -> LatentGrammar:
        """The grammar of these counts (as p). A state without counts is rewritten by its rules evenly."""
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
        """States of one label drawn together, by this share of the way (Petrov et al. 2006, §2.3: 0.01 and 0.1)."""
        p = self.p.copy()
        shares = np.where(self.children[:, 0] >= 0, rules, emissions)
        kernels.draw_together(p, self.places[:-1], self.rows, self.columns, shares)
        return replace(self, p=p)

    def split(self, rng: np.random.Generator, noise: float = 0.01) -> LatentGrammar:
        """Every state but ROOT's in two, their probabilities apart by up to `noise` (a share)."""
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
        """States a and a + 1 made one where `together[a]`, a even within its label; both over states numbered through.

        The rewritings of a merged state are those of the two, weighted by `shares` (their parts in the pair's count).
        """
        taken, weights = [], []
        for label, k in enumerate(self.states.tolist()):
            span = slice(self.firsts[label], self.firsts[label] + k)
            joins = np.flatnonzero(together[span])
            kept = np.ones(k, np.bool_)
            kept[joins + 1] = False
            new = np.cumsum(kept) - 1  # (k) the new number of each state
            incoming = (new[:, None] == np.arange(kept.sum())).astype(np.float64)
            share = np.ones(k)
            share[joins], share[joins + 1] = shares[span][joins], shares[span][joins + 1]
            taken.append(incoming)
            weights.append((incoming * share[:, None]).T)
        one = np.ones((1, 1))
        tensors = [
            np.einsum(
                "xa,abc,by,cz->xyz",
                weights[self.parent[rule]],
                tensor,
                *(taken[child] if child >= 0 else one for child in self.children[rule]),
                optimize=["einsum_path", (0, 1), (0, 2), (0, 1)],
            ).ravel()
            for rule, tensor in enumerate(self.tensors())
        ]
        states = np.array([each.shape[1] for each in taken], np.int32)
        return replace(self, states=states, p=np.concatenate(tensors))


def unsplit(forest: Forest) -> LatentGrammar:
    """The treebank grammar of a forest, each label with one state; lexicon as counted."""
    found = productions(forest)
    none = np.full(len(found.unary), -1, np.int32)
    nothing = np.full((len(found.emission), 2), -1, np.int32)
    parent = np.concatenate([found.binary[:, 0], found.unary[:, 0], found.emission[:, 0]])
    children = np.concatenate([found.binary[:, 1:], np.stack([found.unary[:, 1], none], axis=1), nothing])
    states = np.ones(len(forest.labels), np.int32)
    counts = np.concatenate([found.binary_count, found.unary_count, found.emission_count])
    return LatentGrammar(found, parent, children, states, counts).normalised(counts)


class Trees:
    """A forest laid out for the kernels, and what they find on it, on all cores. 16 bytes a node and state.

    Threads share out trees (inside, outside) or rules (counts), so any number of cores finds the same.
    """

    def __init__(self, forest: Forest, grammar: LatentGrammar) -> None:
        found = grammar.productions
        start = np.where(forest.word >= 0, len(found.binary) + len(found.unary), len(found.binary))
        start[forest.right >= 0] = 0
        self.nodes = forest.label, forest.left, forest.right, (found.rule + start).astype(np.int32)
        self.weights = forest.node_weights
        self._roots = forest.offsets[1:] - 1
        heights, depths = np.zeros((2, len(forest.label)), np.int32)
        kernels.heights_and_depths(forest.left, forest.right, forest.offsets, heights, depths)
        rule = self.nodes[3]
        self._by_rule = np.argsort(rule, kind="stable")
        self._begins = np.searchsorted(rule[self._by_rule], np.arange(len(grammar.parent) + 1))  # the uses of each rule
        jobs = cores()
        bounds = forest.offsets[np.arange(jobs + 1) * (len(forest.offsets) - 1) // jobs]
        self._parts = [np.arange(first, end) for first, end in pairwise(bounds.tolist())]  # of neighbouring trees
        self._upwards, self._downwards = (
            [part[np.lexsort((rule[part], level[part]))] for part in self._parts] for level in (heights, depths)
        )

    def expected(self, grammar: LatentGrammar) -> tuple[float, FloatArray]:
        """Σ weight · ln p(tree), and the expected count of everything in `grammar.p`."""
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
        """(states numbered through) what merging each even state with the next would cost in ln p; 0 elsewhere."""
        losses = np.zeros(grammar.firsts[-1])
        at, inside, _, outside = self._passes(grammar)
        known = grammar.firsts, shares, losses
        kernels.merge_losses(self.nodes[0], grammar.states, self.weights, at, inside, outside, *known)
        return losses

    def _passes(self, grammar: LatentGrammar) -> tuple[Places, FloatArray, FloatArray, FloatArray]:
        """Where each node's vector begins, inside vectors, scales (nodes), outside vectors."""
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
