"""Slow, obvious twin of the recursion over spans: every binary tree over the words, with the product of its spans."""

from collections.abc import Iterator
from math import prod


def binary_trees(i: int, j: int) -> Iterator[list[tuple[int, int]]]:
    """The spans of each binary tree over words i … j-1."""
    if j == i + 1:
        yield [(i, j)]
    for k in range(i + 1, j):
        for left in binary_trees(i, k):
            for right in binary_trees(k, j):
                yield [(i, j), *left, *right]


def values(weights: list[list[float]], n: int) -> list[tuple[float, list[tuple[int, int]]]]:
    """The product of the weights of each tree's spans, with the tree."""
    return [(prod(weights[i][j] for i, j in tree), tree) for tree in binary_trees(0, n)]
