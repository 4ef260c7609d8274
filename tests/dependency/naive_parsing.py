"""Obvious twins of the biaffine parser: one sentence, one word, one unit at a time; all trees, one by one."""

import itertools

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(inputs, w, u, b):
    """States of one direction over the inputs of one sentence; gates i, f, o, g."""
    size = len(u)
    h, c = np.zeros(size), np.zeros(size)
    states = []
    for x in inputs:
        z = x @ w + h @ u + b
        i, f, o = (sigmoid(z[k * size : (k + 1) * size]) for k in range(3))
        c = f * c + i * np.tanh(z[3 * size :])
        h = o * np.tanh(c)
        states.append(h)
    return np.array(states)


def bilstm(inputs, params, layer):
    forward = lstm(inputs, *(params[f"{layer}.forward.{part}"] for part in "wub"))
    backward = lstm(inputs[::-1], *(params[f"{layer}.backward.{part}"] for part in "wub"))[::-1]
    return np.hstack([forward, backward])


def scores(inputs, params):
    """Tag scores (n, tags), arc scores (n, 1 + n) and label scores (n, 1 + n, relations) of one sentence."""
    lower = bilstm(inputs, params, "lstm1")
    upper = bilstm(lower, params, "lstm2")
    every = np.maximum(upper @ params["roles.w"] + params["roles.b"], 0)
    arc, label = len(params["root.arc"]), len(params["root.label"])
    dependent, head = every[:, :arc], every[:, arc : 2 * arc]
    q, p = every[:, 2 * arc : 2 * arc + label], every[:, 2 * arc + label :]
    heads = [params["root.arc"], *head]
    governors = [params["root.label"], *p]
    arcs = np.array([[d @ params["arc.w"] @ a + params["arc.b"] @ a for a in heads] for d in dependent])
    w = params["label.w"].reshape(label + 1, -1, label + 1)
    labels = np.array([[np.einsum("l,lrm,m->r", np.append(d, 1), w, np.append(a, 1)) for a in governors] for d in q])
    return lower @ params["tag.w"] + params["tag.b"], arcs, labels


def is_tree(heads):
    """Whether heads (from 1; 0 for the root symbol) are a tree with one root."""
    if heads.count(0) != 1:
        return False
    for word in range(1, len(heads) + 1):
        seen = set()
        while word and word not in seen:
            seen.add(word)
            word = heads[word - 1]
        if word:
            return False
    return True


def best_tree_value(scores):
    """The value of the best tree with one root, by looking at every assignment of heads."""
    n = len(scores)
    every = itertools.product(range(n + 1), repeat=n)
    return max(sum(scores[i][h] for i, h in enumerate(heads)) for heads in every if is_tree(list(heads)))
