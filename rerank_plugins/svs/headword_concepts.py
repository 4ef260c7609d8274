"""Headwords as concepts (Wu & Schuler 2011, §2.2.1): nothing is hidden, so all models are relative frequencies.

The concept of a node is the class of its headword. Heads pass it up unchanged, so L(ID) is the identity; L(MOD) has the
probabilities that one headword modifies another. Nothing is smoothed: a symbol has the headwords it was seen with only.
"""

from __future__ import annotations

import numpy as np

from rerank_plugins.constituency.lexicon import Lexicon
from rerank_plugins.svs.clustering import Expected, Parameters, per_symbol
from rerank_plugins.svs.model import VectorLexicon
from rerank_plugins.svs.observed_trees import Observed
from rerank_plugins.svs.training import vector_lexicon, word_classes


def count(observed: Observed) -> tuple[Parameters, Expected]:
    """The parameters by relative frequency, and the counts. Unseen pairs of symbol and concept have no rewritings."""
    forest, rules = observed.forest, observed.rewritings
    k, head, weights = len(observed.headwords), observed.head, forest.node_weights
    relation = observed.relation[forest.label]
    counts, flows, roots = np.zeros((len(rules.p), k)), np.zeros((len(observed.relations), k, k)), np.zeros(k)
    np.add.at(counts, (rules.rule, head), weights)
    for children in (forest.left, forest.right):
        nodes = np.flatnonzero(children >= 0)
        below = children[nodes]
        np.add.at(flows, (relation[below], head[nodes], head[below]), weights[nodes])
    np.add.at(roots, head[forest.offsets[1:] - 1], forest.weights)
    totals, sums = per_symbol(counts, rules)[rules.parent], flows.sum(axis=2, keepdims=True)
    p = counts / np.where(totals > 0, totals, 1)
    transfer = np.where(sums > 0, flows / np.where(sums > 0, sums, 1), 1 / k)
    transfer[0] = np.eye(k)
    posterior = np.equal(head[:, None], np.arange(k)).astype(np.float64)
    now = Parameters(p, transfer, roots / roots.sum())
    return now, Expected(log_likelihood(observed, now), counts, flows, roots, posterior)


def log_likelihood(observed: Observed, now: Parameters) -> float:
    """Σ weight · ln p(tree, headwords) under the counted parameters."""
    forest, head = observed.forest, observed.head
    values = np.log(now.p[observed.rewritings.rule, head])
    for children in (forest.left, forest.right):
        nodes = np.flatnonzero(children >= 0)
        below = children[nodes]
        values[nodes] += np.log(now.transfer[observed.relation[forest.label[below]], head[nodes], head[below]])
    values[forest.offsets[1:] - 1] += np.log(now.root[head[forest.offsets[1:] - 1]])
    return float(values @ forest.node_weights)


def headword_lexicon(observed: Observed, lexicon: Lexicon) -> VectorLexicon:
    """P(word | lc, concept) from the lexicon of the treebank grammar: a concept emits the words of its class alone."""
    classes = word_classes(lexicon.words, observed.headwords)[lexicon.word_of]
    return vector_lexicon(lexicon, np.equal(classes[:, None], np.arange(len(observed.headwords))).astype(np.float64))
