"""Slow, obvious twins of the estimation of structured vectorial semantics: every assignment of concepts, one by one."""

from collections import Counter
from itertools import product

import numpy as np

from rerank_plugins.kit.trees.head_rules import english_heads


def expectations(observed, parameters):
    """ln p of the forest and expected counts (rules, flows, roots, posteriors) by the sum over all assignments."""
    forest, rule = observed.forest, observed.rewritings.rule
    relation = observed.relation[forest.label]
    p, transfer, root = parameters
    k = len(root)
    counts, flows, roots = np.zeros_like(p), np.zeros_like(transfer), np.zeros(k)
    posterior = np.zeros((len(rule), k))
    total = 0.0
    for tree, weight in enumerate(forest.weights):
        nodes = range(forest.offsets[tree], forest.offsets[tree + 1])
        top = nodes[-1]
        found = []
        for concepts in product(range(k), repeat=len(nodes)):
            concept = dict(zip(nodes, concepts, strict=True))
            value = root[concept[top]]
            for node in nodes:
                value *= p[rule[node], concept[node]]
                for child in (forest.left[node], forest.right[node]):
                    if child >= 0:
                        value *= transfer[relation[child], concept[node], concept[child]]
            found.append((value, concept))
        z = sum(value for value, _ in found)
        total += weight * np.log(z)
        for value, concept in found:
            share = value / z
            roots[concept[top]] += weight * share
            for node in nodes:
                posterior[node, concept[node]] += share
                counts[rule[node], concept[node]] += weight * share
                for child in (forest.left[node], forest.right[node]):
                    if child >= 0:
                        flows[relation[child], concept[node], concept[child]] += weight * share
    return total, counts, flows, roots, posterior


def head_word(tree):
    """The headword of a treebank's tree, from its top down."""
    while not tree.is_preterminal:
        tree = tree.subtrees[english_heads().head_child(tree)]
    return tree.word


def phrase_heads(tree):
    """Counter of (first word, last word, headword) over the phrases of more than one child, by places."""
    found = Counter()

    def walk(node, begin):
        end = begin + len(node.words())
        if len(node.subtrees) > 1:
            found[begin, end, head_word(node)] += 1
        for child in node.subtrees:
            walk(child, begin)
            begin += len(child.words())

    walk(tree, 0)
    return found
