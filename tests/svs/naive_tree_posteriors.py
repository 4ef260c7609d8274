"""Slow, obvious twin of posteriors on given trees: the sum over every assignment of concepts to the nodes."""

from itertools import product

import numpy as np


def posteriors(trees, p, transfer, root):
    """(N, K) the posteriors of all nodes, and ln p of each tree."""
    k = len(root)
    found, logs = np.zeros((len(trees.parent), k)), []
    for begin, end in zip(trees.offsets[:-1], trees.offsets[1:], strict=True):
        total = 0.0
        for concepts in product(range(k), repeat=end - begin):
            value = 1.0
            for node in range(begin, end):
                here = concepts[node - begin]
                value *= p[trees.rule[node], here] if trees.rule[node] >= 0 else 1.0
                if trees.parent[node] < 0:
                    value *= root[here]
                    continue
                above = concepts[trees.parent[node] - begin]
                if trees.relation[node] >= 0:
                    value *= transfer[trees.relation[node], above, here]
                else:
                    value *= float(above == here)
            total += value
            for node in range(begin, end):
                found[node, concepts[node - begin]] += value
        found[begin:end] = found[begin:end] / total if total else root
        logs.append(np.log(total) if total else -np.inf)
    return found, np.array(logs)
