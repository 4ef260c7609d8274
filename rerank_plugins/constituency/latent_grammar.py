"""A grammar whose symbols have latent states, over the productions of a forest: split, merged, re-estimated.

The probabilities of all rules are in one array, rule after rule: binary rules, unary rules, emissions. Those of rule r
are a tensor from places[r] on: rows[r] states of the parent × columns[r] combinations of the children's states.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from rerank_plugins import BoolArray, FloatArray, IntArray, LongArray
from rerank_plugins.constituency import latent_kernels as kernels
from rerank_plugins.constituency.treebank_grammar import EncodedTrees, Productions, productions

Places = LongArray


@dataclass(frozen=True, eq=False)
class LatentGrammar:
    """Rules over labels, with latent states."""

    productions: Productions  # the rules and their counts in the forest
    parent: IntArray  # (R) the label of each rule's parent; `children` (R, 2) labels, -1 if there is no child
    children: IntArray
    states: IntArray  # (C) the number of states of each label
    p: FloatArray  # the tensors of all rules

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

    def child_states(self) -> tuple[LongArray, LongArray]:
        """Return (len(p)) the states of the left and right child, in the consecutive numbering; -1 for no child."""
        sizes = np.diff(self.places)
        within = np.arange(len(self.p)) - np.repeat(self.places[:-1], sizes)
        widths = np.where(self.children >= 0, self.states[self.children], 1).astype(np.int64)
        begins = np.where(self.children >= 0, self.firsts[self.children], -1)
        width, both = (np.repeat(column, sizes) for column in (widths[:, 1], self.columns))
        left = np.repeat(begins[:, 0], sizes) + within % both // width
        return left, np.repeat(begins[:, 1], sizes) + within % width

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
        kernels.divide_rows(p, *self._matrices, totals)
        if not np.all(totals > 0):  # those rewritings are ones now; a label may also have no rewriting
            uniform = np.where(totals > 0, 1.0, np.maximum(self.totals(p), 1.0))
            kernels.divide_rows(p, *self._matrices, uniform)
        return replace(self, p=p)

    def without_negligible(self, counts: FloatArray, least: float) -> LatentGrammar:
        """Return the grammar without probabilities that stand for an expected count below `least`.

        The counts of the states are those of `counts`, laid out as p. Each tree loses at most `least` of its
        probability by each of its rules, and EM passes over what is zero.
        """
        if least <= 0:
            return self
        p = self.p.copy()
        kernels.drop_negligible(p, *self._matrices, self.totals(counts), least)
        return replace(self, p=p)

    @property
    def _matrices(self) -> tuple[Places, Places, Places, Places]:
        return self.places[:-1], self.rows, self.columns, self.firsts[self.parent]

    def smoothed(self, rules: float, emissions: float) -> LatentGrammar:
        """Interpolate a label's states with their mean, by these weights (Petrov et al. 2006, §2.3: 0.01 and 0.1)."""
        p = self.p.copy()
        weights = np.where(self.children[:, 0] >= 0, rules, emissions)
        kernels.draw_together(p, self.places[:-1], self.rows, self.columns, weights)
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

    def merged(self, together: BoolArray, proportions: FloatArray) -> LatentGrammar:
        """Merge the states a and a + 1 if `together[a]`; a is even within its label.

        Both arrays are over all states. The rewritings of a merged state are those of the two, weighted by their
        `proportions` of the pair's expected count.
        """
        kept = np.ones(len(together), np.bool_)
        kept[np.flatnonzero(together) + 1] = False
        new = np.cumsum(kept) - 1
        return self.regrouped(new, np.where(kept & ~together, 1.0, proportions))

    def regrouped(self, group: LongArray, proportions: FloatArray) -> LatentGrammar:
        """Return the grammar in which states with the same number in `group` are one; numbers grow with the labels.

        The rewritings of the new state are those of the old ones, weighted by their `proportions` of its count.
        """
        orders, starts = [], []
        for first, end in pairwise(self.firsts.tolist()):
            order = np.argsort(group[first:end], kind="stable")
            orders.append(order)
            starts.append(np.flatnonzero(np.diff(group[first:end][order], prepend=-1)))
        tensors = []
        for rule, tensor in enumerate(self.tensors()):
            label = self.parent[rule]
            tensor = tensor * proportions[self.firsts[label] : self.firsts[label + 1], None, None]
            for axis, member in enumerate((label, *self.children[rule])):
                if member >= 0 and len(starts[member]) < len(orders[member]):
                    tensor = np.add.reduceat(tensor.take(orders[member], axis), starts[member], axis=axis)
            tensors.append(tensor.ravel())
        return replace(self, states=np.array([len(start) for start in starts], np.int32), p=np.concatenate(tensors))


def of_productions(rules: Productions, states: IntArray) -> LatentGrammar:
    """Return the grammar of these rules whose labels have so many states; all probabilities are zero."""
    none = np.full(len(rules.unary), -1, np.int32)
    nothing = np.full((len(rules.emission), 2), -1, np.int32)
    parent = np.concatenate([rules.binary[:, 0], rules.unary[:, 0], rules.emission[:, 0]])
    children = np.concatenate([rules.binary[:, 1:], np.stack([rules.unary[:, 1], none], axis=1), nothing])
    grammar = LatentGrammar(rules, parent, children, states, np.zeros(0))
    return replace(grammar, p=np.zeros(grammar.places[-1]))


def unsplit(forest: EncodedTrees) -> LatentGrammar:
    """Return the treebank grammar of a forest, with one state for each label and an unsmoothed lexicon."""
    rules = productions(forest)
    return of_productions(rules, np.ones(len(forest.labels), np.int32)).normalised(rules.counts)
