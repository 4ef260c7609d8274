"""Slow twin of EM on latent states: every assignment of states to the nodes of a tree is written out."""

from __future__ import annotations

from itertools import product
from math import log

import numpy as np

from rerank_plugins.constituency.expected_counts import Trees
from rerank_plugins.constituency.latent_grammar import LatentGrammar
from rerank_plugins.constituency.treebank_grammar import EncodedTrees


def assignments(forest: EncodedTrees, grammar: LatentGrammar, tree: int):
    """Each assignment of states to the nodes of a tree: {node: state}, p, and the place in grammar.p of each rewriting."""
    rule = Trees(forest, grammar.productions).rule
    nodes = range(forest.offsets[tree], forest.offsets[tree + 1])
    tensors = grammar.tensors()
    for states in product(*(range(grammar.states[forest.label[node]]) for node in nodes)):
        state = dict(zip(nodes, states, strict=True))
        p, used = 1.0, []
        for node in nodes:
            left = state[forest.left[node]] if forest.left[node] >= 0 else 0
            right = state[forest.right[node]] if forest.right[node] >= 0 else 0
            index = (state[node], left, right)
            tensor = tensors[rule[node]]
            p *= tensor[index]
            used.append(grammar.places[rule[node]] + np.ravel_multi_index(index, tensor.shape))
        yield state, p, used


def expected(forest: EncodedTrees, grammar: LatentGrammar) -> tuple[float, np.ndarray]:
    """What `Trees.expected` gives."""
    counts, total = np.zeros_like(grammar.p), 0.0
    for tree, weight in enumerate(forest.weights):
        found = list(assignments(forest, grammar, tree))
        sum_p = sum(p for _, p, _ in found)
        total += weight * log(sum_p)
        for _, p, used in found:
            for place in used:
                counts[place] += weight * p / sum_p
    return total, counts


def merge_losses(forest: EncodedTrees, grammar: LatentGrammar, shares: np.ndarray) -> np.ndarray:
    """What `Trees.merge_losses` gives: at each node in turn the two states are one, the rest of the tree as it is."""
    losses = np.zeros(grammar.firsts[-1])
    for tree, weight in enumerate(forest.weights):
        found = list(assignments(forest, grammar, tree))
        whole = sum(p for _, p, _ in found)
        for node in range(forest.offsets[tree], forest.offsets[tree + 1]):
            label = forest.label[node]
            for a in range(0, grammar.states[label] - 1, 2):
                first = grammar.firsts[label] + a
                others = sum(p for state, p, _ in found if state[node] not in (a, a + 1))
                outside, inside = _merged(forest, grammar, found, node, a, shares[first : first + 2])
                losses[first] -= weight * log((others + outside * inside) / whole)
    return losses


def _merged(forest, grammar, found, node, a, shares):
    """Outside and inside probability of the merged state, from all assignments to the nodes above, and below."""
    below = range(_first_below(forest, node), node + 1)
    inside, outside = [0.0, 0.0], [0.0, 0.0]
    rule = Trees(forest, grammar.productions).rule
    tensors = grammar.tensors()

    def p_of(nodes, state):
        p = 1.0
        for each in nodes:
            left = state[forest.left[each]] if forest.left[each] >= 0 else 0
            right = state[forest.right[each]] if forest.right[each] >= 0 else 0
            p *= tensors[rule[each]][state[each], left, right]
        return p

    seen_below, seen_above = set(), set()
    for state, _, _ in found:
        side = state[node] - a
        if side not in (0, 1):
            continue
        under = (side, *(state[each] for each in below))
        over = (side, *(s for each, s in state.items() if each not in below))
        if under not in seen_below:
            seen_below.add(under)
            inside[side] += p_of(below, state)
        if over not in seen_above:
            seen_above.add(over)
            outside[side] += p_of([each for each in state if each not in below], state)
    return outside[0] + outside[1], shares[0] * inside[0] + shares[1] * inside[1]


def _first_below(forest, node):
    while forest.left[node] >= 0:
        node = forest.left[node]
    return node
