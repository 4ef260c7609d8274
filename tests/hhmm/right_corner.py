"""The right-corner transform, by which right-branching becomes left-branching (Schuler et al. 2010).

A chain of right children A1 -> x1 A2, A2 -> x2 A3, … that ends in the preterminal An is built from left to right by way
of incomplete constituents. A/B is an A that still lacks a B at its right end.

    A1/A2 -> x1            begin: x1 is complete
    A1/A3 -> A1/A2 x2      continue: the awaited A2 is expanded into x2 and an awaited A3
    A1    -> A1/An An      end: the awaited preterminal is read

A parser has to remember only the incomplete constituents between words; they are its store. If x2 (or x3, …) is a
phrase, it is built one level deeper in the store, because A1/A2 has to be kept meanwhile. x1 is built at the level of
its chain, where there is no incomplete constituent yet.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from rerank_plugins.core.constituency_tree import Tree

LACKING = "/"


def right_corner(tree: Tree) -> Tree:
    """The right-corner form of a tree in which every phrase has two children (see `binarisation` and `join_unaries`).

    Raises ValueError for a phrase with any other number of children, and for a label that contains /.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> tree, = read_trees(["(S (NP (DT the) (NN dog)) (VP (VBZ eats) (NP (NN meat))))"])
    >>> from rerank_plugins.kit.trees.binarisation import join_unaries
    >>> print(right_corner(join_unaries(tree)))  # doctest: +NORMALIZE_WHITESPACE
    (S (S/NP+NN (S/VP (NP (NP/NN (DT the)) (NN dog))) (VBZ eats)) (NP+NN meat))
    """

    def tag(node: Tree) -> list[Tree]:
        _checked(node.label)
        return [node]

    def phrase(node: Tree, below: list[list[Tree]]) -> list[Tree]:
        """The chain of right children that starts here: this node over its transformed left child, then the others."""
        _checked(node.label)
        if len(below) != 2:
            raise ValueError(f"{node.label} has {len(below)} children; the right-corner transform needs two")
        left, right = below
        return [Tree(node.label, (_from_left(left),)), *right]

    return _from_left(tree.fold(tag, phrase))


def _checked(label: str) -> None:
    if LACKING in label:
        raise ValueError(f"label {label!r} has {LACKING} in it")


def _from_left(chain: list[Tree]) -> Tree:
    """The complete constituent of a chain of right children: each over its left child, a preterminal at the end."""
    top, *others = chain
    if not others:
        return top
    incomplete: Tree | None = None
    for node, awaited in zip(chain, others, strict=False):
        so_far = () if incomplete is None else (incomplete,)
        incomplete = Tree(top.label + LACKING + awaited.label, (*so_far, *node.children))
    assert incomplete is not None
    return Tree(top.label, (incomplete, others[-1]))


def undo_right_corner(tree: Tree) -> Tree:
    """The inverse of `right_corner`: the binary tree."""

    def phrase(node: Tree, below: list[list[Tree]]) -> list[Tree]:
        """The original trees below a node.

        For an incomplete constituent A1/A3, they are A1 over x1, A2 over x2, …; for a complete one, its tree alone.
        """
        top, _, awaited = node.label.partition(LACKING)
        if not awaited:  # A1 -> A1/An An
            pieces, (right,) = below
            for piece in reversed(pieces):
                right = Tree(piece.label, (*piece.children, right))
            return [right]
        if len(below) == 1:  # A1/A2 -> x1
            return [Tree(top, tuple(below[0]))]
        return [*below[0], Tree(node.subtrees[0].label.partition(LACKING)[2], tuple(below[1]))]

    return tree.fold(lambda tag: [tag], phrase)[0]


def store_depth(tree: Tree) -> int:
    """The largest number of incomplete constituents in the store between two words, for a tree before the transform.

    It is 0 for a single word and 1 for a tree that only branches to the right or only to the left. A phrase that is the
    left child of a right child adds 1.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> store_depth(*read_trees(["(S (NP (DT the) (NN dog)) (VP (VBZ eats) (NP (NN meat) (NN pie))))"]))
    1
    >>> store_depth(*read_trees(["(S (NNS dogs) (VP (VP (VB eat) (NN meat)) (RB now)))"]))
    2
    """
    deepest = 0
    todo = [(tree, 1, False)]  # node, its level, whether it is awaited there
    while todo:
        node, level, awaited = todo.pop()
        if node.is_preterminal:
            continue
        if len(node.children) == 1:
            todo.append((node.subtrees[0], level, awaited))
            continue
        deepest = max(deepest, level)
        left, right = node.subtrees
        todo.append((left, level + awaited, False))
        todo.append((right, level, True))
    return deepest


def stores(tree: Tree) -> list[tuple[tuple[str, str], ...]]:
    """The store after each word: its incomplete constituents (A, B), outermost first; for a tree before the transform.

    The store is empty after the last word. Every phrase of the tree must have two children.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> stores(*read_trees(["(S (NP (DT the) (NN dog)) (VP (VB eats) (NP (NN meat) (NN pie))))"]))
    [(('NP', 'NN'),), (('S', 'VP'),), (('S', 'NP'),), (('S', 'NN'),), ()]
    """
    ends = count(len(tree.words()), -1)  # a fold visits nodes from right to left
    root = tree.fold(lambda tag: _Span(tag.label, (end := next(ends)) - 1, end), _Span.over)
    return [_store(root, read) for read in range(1, root.end)] + [()]


class _Span(NamedTuple):
    """A node over the words first … end - 1; `below` holds the two children of a phrase."""

    label: str
    first: int
    end: int
    below: tuple[_Span, ...] = ()

    @staticmethod
    def over(node: Tree, below: list[_Span]) -> _Span:
        """The span of a phrase, from those of its children."""
        return _Span(node.label, below[0].first, below[-1].end, tuple(below))


def _store(root: _Span, read: int) -> tuple[tuple[str, str], ...]:
    """The store after `read` words. O(depth of the tree)."""
    store = []
    top = root
    while True:
        awaited = top
        while awaited.below and awaited.below[0].end <= read:  # the left child is complete
            awaited = awaited.below[1]
        if awaited is not top:
            store.append((top.label, awaited.label))
        if awaited.first >= read:
            return tuple(store)
        top = awaited.below[0]  # this left child has been read in part
