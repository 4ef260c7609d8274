"""Slow, obvious twin of words in context: each word of a part of speech in its place, over every concept of all."""

import numpy as np

from tests.svs import naive_tree_posteriors


def emissions(model, least_count, least_ratio):
    """(V, K) P_H(h | c, i), and (V) P(h | c): one headword after the other."""
    parts = [name.rpartition("/")[2] for name in model.heads]
    joint, alone = np.zeros(model.emission.shape), np.zeros(len(parts))
    for part in set(parts):
        mine = [number for number, other in enumerate(parts) if other == part]
        total = sum(max(model.used[number], least_count) for number in mine)
        for number in mine:
            alone[number] = max(model.used[number], least_count) / total
        for concept in range(model.concepts):
            products = {
                number: alone[number] * max(float(model.emission[number, concept]), least_ratio) for number in mine
            }
            for number, product in products.items():
                joint[number, concept] = product / sum(products.values())
    return joint, alone


def transfers(model, least):
    """(R, K, K) P_L with rows that sum to 1."""
    rows = np.maximum(model.transfer.astype(float), least)
    return np.array([[row / row.sum() for row in matrix] for matrix in rows])


def in_context(model, given, p, transfer):
    """(nodes) P(h | rest of the tree) of the content words: P(tree with h) over the sum for all words of its part."""
    parts = [name.rpartition("/")[2] for name in model.heads]
    found = []
    for node in range(len(given.rule)):
        tree = int(np.searchsorted(given.offsets, node, side="right")) - 1
        of_word = {}
        for number, part in enumerate(parts):
            if part == parts[given.rule[node]]:
                rules = given.rule.copy()
                rules[node] = number
                _, logs = naive_tree_posteriors.posteriors(given._replace(rule=rules), p, transfer, model.root)
                of_word[number] = np.exp(logs[tree])
        found.append(of_word[given.rule[node]] / sum(of_word.values()))
    return np.array(found)
