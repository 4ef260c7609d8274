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

from rerank_plugins import FloatArray
from rerank_plugins.constituency.latent_grammar import LatentGrammar, unsplit
from rerank_plugins.constituency.treebank_grammar import Forest, Productions, rule_numbers


def with_marks(grammar: LatentGrammar, forest: Forest, marked: Forest, plain: Callable[[str], str]) -> LatentGrammar:
    """Return P0 for the labels of the forest `marked`; `grammar` is that of the same `forest` with plain labels."""
    number = {label: i for i, label in enumerate(forest.labels)}
    plain_label = np.array([number[plain(label)] for label in marked.labels], np.int32)
    relative = unsplit(marked)
    whole = replace(relative, states=grammar.states[plain_label])
    rules = whole.productions
    plain_rules = rules._replace(
        binary=plain_label[rules.binary],
        unary=plain_label[rules.unary],
        emission=np.column_stack([plain_label[rules.emission[:, 0]], rules.emission[:, 1]]),
    )
    rule = rule_numbers(grammar.productions, plain_rules)
    share = _counts(rules) / np.maximum(_counts(grammar.productions)[rule], 1e-300)
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


def _counts(rules: Productions) -> FloatArray:
    """Return (R) the counts of all rules: binary, unary, emissions."""
    return np.concatenate([rules.binary_count, rules.unary_count, rules.emission_count])
