"""Slow, obvious twin of similarity by structured vectors: one pair of trees at a time."""

from __future__ import annotations

import math


def cosine(a, b):
    lengths = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths


def treebank_children(node):
    """Children, and those of children that binarisation added (they are no phrase of the treebank's tree)."""
    found = []
    for child in node.children:
        found += [child] if child.phrases or not child.children else treebank_children(child)
    return found


def topmost(tree):
    return tree.children[0] if len(tree.children) == 1 else tree


def two_phrases(tree):
    node = topmost(tree)
    while len(treebank_children(node)) == 1:
        node = treebank_children(node)[0]
    children = treebank_children(node)
    if not children:
        return node, node
    width = {id(child): child.span[1] - child.span[0] for child in children}
    largest = max(children, key=lambda child: width[id(child)])
    second = max((child for child in children if child is not largest), key=lambda child: width[id(child)])
    return (largest, second) if largest.span < second.span else (second, largest)


def similarities(one, other):
    """sim_top and sim_phr, equations 6 and 7; 0 without a tree."""
    if one is None or other is None:
        return 0.0, 0.0
    (a1, a2), (b1, b2) = two_phrases(one), two_phrases(other)

    def average(pairs):
        x, y = (cosine(a.vector, b.vector) for a, b in pairs)
        return 2 * x * y / (x + y) if x + y else 0.0

    top = cosine(topmost(one).vector, topmost(other).vector)
    return top, max(average([(a1, b1), (a2, b2)]), average([(a1, b2), (a2, b1)]))
