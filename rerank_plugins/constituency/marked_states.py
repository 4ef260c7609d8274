"""Latent states of labels that bear the marks of features (kit/trees/features.py), shared with the plain labels.

States are learnt on plain labels, NP, and each label with marks, NP-pl, has the states of its plain one. Rules with
marks are rare, so that their probabilities begin as those of the plain rules r, divided among the marks f of the parent
and g, h of the children by relative frequency, and normalised for every state a of a marked parent:

    P0(A^f a -> B^g b C^h c) ~ P(A a -> B b C c) · c(A^f -> B^g C^h) / c(A -> B C)

In EM on the marked trees this is the mean of a Dirichlet prior of weight κ: P = (c + κ P0) / (c(A^f a) + κ). A state
of a marked label differs from that of the plain label as far as counts say so. States that are too rare for that are
then made one in each label, so that a label that hardly occurs does not have all states of the plain one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.constituency.latent_grammar import LatentGrammar, unsplit
from rerank_plugins.constituency.treebank_grammar import Forest, Productions

KINDS = ("binary", "unary", "emission")


def with_marks(grammar: LatentGrammar, forest: Forest, marked: Forest, plain: Callable[[str], str]) -> LatentGrammar:
    """Return P0 for the labels of the forest `marked`; `grammar` is that of the same `forest` with plain labels."""
    number = {label: i for i, label in enumerate(forest.labels)}
    plain_label = np.array([number[plain(label)] for label in marked.labels], np.int32)
    relative = unsplit(marked)
    whole = replace(relative, states=grammar.states[plain_label])
    rule = _plain_rules(grammar.productions, whole.productions, plain_label)
    share = _counts(whole.productions) / np.maximum(_counts(grammar.productions)[rule], 1e-300)
    sizes = np.diff(whole.places)
    place = np.repeat(grammar.places[rule] - whole.places[:-1], sizes) + np.arange(sizes.sum())
    return whole.normalised(grammar.p[place] * np.repeat(share, sizes))


def without_rare(grammar: LatentGrammar, prior: LatentGrammar, counts: FloatArray, rare: float) -> list[LatentGrammar]:
    """Return both grammars with one state in each label for all of its states that occur less than `rare` times.

    `counts` are expected counts, laid out as p; `prior` has the same rules and states.
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
    return [each.regrouped(group - first, proportions) for each in (grammar, prior)]


def _counts(rules: Productions) -> LongArray:
    """Return (R) the counts of all rules: binary, unary, emissions."""
    return np.concatenate([getattr(rules, f"{kind}_count") for kind in KINDS])


def _plain_rules(plain: Productions, marked: Productions, plain_label: IntArray) -> LongArray:
    """Return (R) the number of the plain rule of each rule with marks; rules of each kind are sorted in `plain`."""
    begin, numbers = 0, []
    for kind in KINDS:
        known, wanted = getattr(plain, kind), getattr(marked, kind).copy()
        labels = wanted.shape[1] - (kind == "emission")  # the second column of emissions has words
        wanted[:, :labels] = plain_label[wanted[:, :labels]]
        base = 1 + max(int(known.max(initial=0)), int(wanted.max(initial=0)))
        keys = []
        for table in (known, wanted):
            key = np.zeros(len(table), np.int64)
            for column in table.T:
                key = key * base + column
            keys.append(key)
        numbers.append(begin + np.searchsorted(*keys))
        begin += len(known)
    return np.concatenate(numbers)
