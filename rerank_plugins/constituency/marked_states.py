"""Latent states of labels that bear the marks of features (kit/trees/features.py), shared with the plain labels.

States are learnt on plain labels, NP, and each label with marks, NP-pl, has the states of its plain one. Rules with
marks are rare, so that their probabilities begin as those of the plain rules r, divided among the marks f of the parent
and g, h of the children by relative frequency, and normalised for every state a of a marked parent:

    P0(A^f a -> B^g b C^h c) ~ P(A a -> B b C c) · c(A^f -> B^g C^h) / c(A -> B C)

In EM on the marked trees this is the mean of a Dirichlet prior of weight κ: P = (c + κ P0) / (c(A^f a) + κ). A state
of a marked label differs from that of the plain label as far as counts say so. States that are too rare for that are
then made one in each label, so that a label that hardly occurs does not have all states of the plain one.

No tree has all combinations of marks: a plural subject whose verb phrase lacks its object and waits for the licensor
of *any* is rare. Head features, such as number, and foot features, such as gaps, are independent within a plain rule,
as far as we know. So where their combination is less frequent than independence would have it, a part λ of what it
lacks is added to the prior, in the states that the plain rule has:

    λ max(0, c(n, r) c(o, r) / c(r) - c(n, o, r))        n: the head marks of a rule r, o: its foot marks

Likewise a word has its tag with all the marks that siblings give it: one occurrence of a word w with a tag T is added,
divided among the marks h of the tag as they are frequent with all its words, c(T^h) / c(T).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.constituency.grammar import numbered
from rerank_plugins.constituency.latent_grammar import LatentGrammar, of_productions
from rerank_plugins.constituency.treebank_grammar import EncodedTrees, Productions, productions, rule_numbers

LEAST_COUNT = 0.5  # combinations with a lower count by independence are left out
OCCURRENCE = 1.0  # the weight of the marks of a tag in those of each of its words, in occurrences of the word


class Marks(NamedTuple):
    """What takes marks off a label: all of them, those of foot features, or those of head features."""

    plain: Callable[[str], str]
    head: Callable[[str], str]  # the label with the marks of head features alone
    foot: Callable[[str], str]  # the label with the marks of foot features alone
    word: Callable[[str], str]  # of a tag, the label without marks from its siblings: what its word says


@dataclass(frozen=True, eq=False)
class Prior:
    """A Dirichlet prior of the rules with marks: `mean` with `weight` for every state, and `added` counts."""

    mean: LatentGrammar
    weight: float
    added: FloatArray  # laid out as mean.p

    @property
    def counts(self) -> FloatArray:
        """The counts that EM adds to those of the trees, laid out as mean.p."""
        return self.weight * self.mean.p + self.added


def with_marks(
    grammar: LatentGrammar,
    counts: FloatArray,
    forest: EncodedTrees,
    marked: EncodedTrees,
    marks: Marks,
    weight: float,
    part: float,
) -> tuple[LatentGrammar, Prior]:
    """Return a grammar for the labels of the forest `marked` with which EM starts, and the prior of its rules.

    `grammar` is that of the same `forest` with plain labels, and `counts` are its expected counts, laid out as p.
    `weight` is κ, and `part` is λ.
    """
    number = {label: i for i, label in enumerate(forest.labels)}
    plain_label = np.array([number[marks.plain(label)] for label in marked.labels], np.int32)
    rules, lacking = _combined(marked, plain_label, marks, part)
    whole = of_productions(rules, grammar.states[plain_label])
    rule = rule_numbers(grammar.productions, _renamed(rules, plain_label))
    sizes = np.diff(whole.places)
    place = np.repeat(grammar.places[rule] - whole.places[:-1], sizes) + np.arange(sizes.sum())
    rule_counts = np.add.reduceat(counts, grammar.places[:-1])[rule]

    def in_states(values: FloatArray) -> FloatArray:
        """Counts of rules, laid out as p: among states as the expected counts of the plain rules are."""
        laid_out: FloatArray = counts[place] * np.repeat(values / np.maximum(rule_counts, 1e-300), sizes)
        return laid_out

    seen, added = in_states(rules.counts), in_states(lacking)
    return whole.normalised(seen + added), Prior(whole.normalised(seen), weight, added)


def without_rare(grammar: LatentGrammar, prior: Prior, counts: FloatArray, rare: float) -> tuple[LatentGrammar, Prior]:
    """Return both with one state in each label for all of its states that occur less than `rare` times.

    `counts` are expected counts, laid out as p; the prior has the same rules and states.
    """
    totals = grammar.totals(counts)
    first = np.repeat(grammar.firsts[:-1], grammar.states)
    label = np.repeat(np.arange(len(grammar.states)), grammar.states)
    few = totals < rare
    leading = np.full(len(grammar.states), len(totals))  # the first rare state of each label, which stands for all
    np.minimum.at(leading, label[few], np.flatnonzero(few))
    group = np.where(few, leading[label], np.arange(len(totals)))
    together = np.bincount(group, totals, len(totals))[group]
    members = np.bincount(group, minlength=len(totals))[group]
    proportions = np.where(together > 0, totals / np.maximum(together, 1e-300), 1 / members)
    mean = prior.mean.regrouped(group - first, proportions)
    added = replace(prior.mean, p=prior.added).regrouped(group - first, np.ones(len(totals)))
    return grammar.regrouped(group - first, proportions), Prior(mean, prior.weight, added.p)


def _combined(forest: EncodedTrees, plain: IntArray, marks: Marks, part: float) -> tuple[Productions, FloatArray]:
    """Return the productions of a marked forest, with combinations of marks, and (R) λ times what each of them lacks.

    `plain` (C) are the numbers of the plain labels. A combination that no tree has gets the count 0.
    """
    seen = productions(forest)
    binary = forest.right >= 0
    unary = ~binary & (forest.word < 0)
    combinations = _Combinations(forest.labels, plain, marks)
    rule = seen.rule.copy()
    tables, counts, lacking = [], [], []
    for rules, count, nodes in ((seen.binary, seen.binary_count, binary), (seen.unary, seen.unary_count, unary)):
        table, place, expected = combinations.of(rules, count)
        tables.append(table)
        counts.append(_sums(place, count, len(table)))
        lacking.append(part * np.maximum(expected - counts[-1], 0))
        rule[nodes] = place[rule[nodes]]
    words, place, added = _with_all_marks(seen, _number_of(marks.word, forest.labels))
    rule[forest.word >= 0] = place[rule[forest.word >= 0]]
    counts.append(_sums(place, seen.emission_count, len(words)))
    whole = Productions(tables[0], counts[0], tables[1], counts[1], words, counts[2], rule)
    return whole, np.concatenate([*lacking, added])


def _with_all_marks(seen: Productions, without: IntArray) -> tuple[IntArray, LongArray, FloatArray]:
    """Return the emissions with all marks of each tag; the places of those that are seen; and the added counts.

    `without` (C) numbers the labels without marks from siblings.
    """
    label, word = seen.emission.astype(np.int64).T
    totals = _sums(label, seen.emission_count, len(without))
    share = totals / np.maximum(_sums(without.astype(np.int64), totals, without.max() + 1)[without], 1e-300)
    pairs = np.unique(np.column_stack([without[label], word]), axis=0)
    emissions, added = [], []
    for mark in np.flatnonzero((share > 0) & (share < 1)).tolist():
        words = pairs[pairs[:, 0] == without[mark], 1]
        emissions.append(np.column_stack([np.full_like(words, mark), words]))
        added.append(np.full(len(words), OCCURRENCE * share[mark]))
    return _with_new(seen.emission, emissions, added)


class _Combinations:
    """Combines head marks and foot marks of rules, whose labels are numbers."""

    def __init__(self, labels: tuple[str, ...], plain: IntArray, marks: Marks) -> None:
        self._head, self._foot = (_number_of(projection, labels) for projection in (marks.head, marks.foot))
        self._label = np.full((self._head.max() + 1, self._foot.max() + 1), -1, np.int32)  # of both projections
        self._label[self._head, self._foot] = np.arange(len(labels))
        self._plain_of_head, self._plain_of_foot = (
            np.zeros(each.max() + 1, np.int32) for each in (self._head, self._foot)
        )
        self._plain_of_head[self._head] = self._plain_of_foot[self._foot] = plain

    def of(self, rules: IntArray, counts: FloatArray) -> tuple[IntArray, LongArray, FloatArray]:
        """Return these rules (R, k) with their combinations, sorted; the place of each rule; and expected counts.

        The expected counts are those of independent marks, c(n, r) c(o, r) / c(r).
        """
        if not len(rules):
            return rules, np.zeros(0, np.int64), np.zeros(0)
        heads, head_counts = _summed(self._head[rules], counts)
        feet, foot_counts = _summed(self._foot[rules], counts)
        combined, expected = [], []
        for head, foot in zip(_by_row(self._plain_of_head[heads]), _by_row(self._plain_of_foot[feet]), strict=True):
            values = np.outer(head_counts[head], foot_counts[foot]) / head_counts[head].sum()
            i, j = np.nonzero(values >= LEAST_COUNT)
            labels = self._label[heads[head[i]], feet[foot[j]]]
            exists = (labels >= 0).all(axis=1)
            combined.append(labels[exists])
            expected.append(values[i, j][exists])
        return _with_new(rules, combined, expected)


def _number_of(projection: Callable[[str], str], labels: tuple[str, ...]) -> IntArray:
    """Return (C) the number of the projection of each label; equal projections have the same number."""
    return numbered([projection(label) for label in labels])[1]


def _with_new(
    rules: IntArray, new: Sequence[IntArray], values: Sequence[FloatArray]
) -> tuple[IntArray, LongArray, FloatArray]:
    """Return the rules (R, k) with new ones, sorted; the place of each of `rules`; and the sum of the values of each.

    Rules that are not among the new ones have the value 0.
    """
    whole, place = np.unique(np.concatenate([rules, *new]), axis=0, return_inverse=True)
    known, added = np.split(place.ravel(), [len(rules)])
    return whole, known.astype(np.int64), _sums(added, np.concatenate([np.zeros(0), *values]), len(whole))


def _summed(rules: IntArray, counts: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the distinct rows and the sum of the counts of each."""
    distinct, row = np.unique(rules, axis=0, return_inverse=True)
    return distinct, _sums(row.ravel(), counts, len(distinct))


def _sums(places: LongArray, values: FloatArray, size: int) -> FloatArray:
    """Return (size) the sum of the values at each place."""
    return np.bincount(places, values, size).astype(np.float64)


def _by_row(rows: IntArray) -> list[LongArray]:
    """Return the places of each distinct row, in the order of the sorted rows."""
    distinct, row = np.unique(rows, axis=0, return_inverse=True)
    row = row.ravel()
    return np.split(np.argsort(row, kind="stable"), np.cumsum(np.bincount(row, minlength=len(distinct)))[:-1])


def _renamed(rules: Productions, number: IntArray) -> Productions:
    """The productions with another number for every label."""
    emission = np.column_stack([number[rules.emission[:, 0]], rules.emission[:, 1]])
    return rules._replace(binary=number[rules.binary], unary=number[rules.unary], emission=emission)
