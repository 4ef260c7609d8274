"""The right-corner transform (Schuler, AbdelRahman, Miller & Schwartz 2010): right-branching becomes left-branching.

A chain of right children A1 -> x1 A2, A2 -> x2 A3, …, ending in the preterminal An is built from the left by incomplete
constituents A/B, an A that lacks a B at its right:

    A1/A2 -> x1            begins: x1 is complete
    A1/A3 -> A1/A2 x2      goes on: the awaited A2 turns into x2 and an awaited A3
    A1    -> A1/An An      ends: the awaited preterminal is read

Incomplete constituents are what has to be remembered between words. Each x2, x3, … that is a phrase is built while its
A1/A2 waits, one level deeper in the store; x1 is not, since nothing waits for it at its own level.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from rerank_plugins.trees.constituency import Tree

LACKING = "/"


def right_corner(tree: Tree) -> Tree:
    """The right-corner form of a tree whose phrases have two children each (see `binarisation` and `join_unaries`).

    Raises ValueError for a phrase with another number of children, and for a label with / in it.

    >>> from rerank_plugins.trees.constituency import read_trees
    >>> tree, = read_trees(["(S (NP (DT the) (NN dog)) (VP (VBZ eats) (NP (NN meat))))"])
    >>> from rerank_plugins.trees.unaries import join_unaries
    >>> print(right_corner(join_unaries(tree)))  # doctest: +NORMALIZE_WHITESPACE
    (S (S/NP+NN (S/VP (NP (NP/NN (DT the)) (NN dog))) (VBZ eats)) (NP+NN meat))
    """

    def tag(node: Tree) -> list[Tree]:
        _checked(node.label)
        return [node]

    def phrase(node: Tree, below: list[list[Tree]]) -> list[Tree]:
        """The chain of right children from here: this node over its left child in right-corner form, then the rest."""
        _checked(node.label)
        if len(below) != 2:
            raise ValueError(f"{node.label} has {len(below)} children: the right-corner transform wants two")
        left, right = below
        return [Tree(node.label, (_from_left(left),)), *right]

    return _from_left(tree.fold(tag, phrase))


def _checked(label: str) -> None:
    if LACKING in label:
        raise ValueError(f"label {label!r} has {LACKING} in it")


def _from_left(chain: list[Tree]) -> Tree:
    """The complete constituent that a chain of right children (each over its left child; a preterminal last) makes."""
    top, *others = chain
    if not others:
        return top
    incomplete: Tree | None = None
    for node, awaited in zip(chain, others, strict=False):
        begun = () if incomplete is None else (incomplete,)
        incomplete = Tree(top.label + LACKING + awaited.label, (*begun, *node.children))
    assert incomplete is not None
    return Tree(top.label, (incomplete, others[-1]))


def undo_right_corner(tree: Tree) -> Tree:
    """The binary tree that a right-corner form was made of."""

    def phrase(node: Tree, below: list[list[Tree]]) -> list[Tree]:
        """Of an incomplete constituent: the complete x1, x2, …, and before each the label that it is the left child of.

        Of a complete one: its tree alone.
        """
        top, _, awaited = node.label.partition(LACKING)
        if not awaited:  # ends
            pieces, (right,) = below
            for piece in reversed(pieces):
                right = Tree(piece.label, (*piece.children, right))
            return [right]
        if len(below) == 1:  # begins
            return [Tree(top, tuple(below[0]))]
        return [*below[0], Tree(node.subtrees[0].label.partition(LACKING)[2], tuple(below[1]))]

    return tree.fold(lambda tag: [tag], phrase)[0]


def store_depth(tree: Tree) -> int:
    """Incomplete constituents that are in store at once between two words, at most; of a tree before the transform.

    Branching to the right only takes 1; a right child's left child that is a phrase takes one more. Single words: 0.

    >>> from rerank_plugins.trees.constituency import read_trees
    >>> store_depth(*read_trees(["(S (NP (DT the) (NN dog)) (VP (VBZ eats) (NP (NN meat) (NN pie))))"]))
    1
    >>> store_depth(*read_trees(["(S (NNS dogs) (VP (VP (VB eat) (NN meat)) (RB now)))"]))
    2
    """
    deepest = 0
    todo = [(tree, 1, False)]  # node, level at which it is built, whether something waits for it at that level
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
    """The incomplete constituents (A, B) in store after each word, outermost first; of a tree before the transform.

    After the last word the store is empty. The tree has two children at every phrase.

    >>> from rerank_plugins.trees.constituency import read_trees
    >>> stores(*read_trees(["(S (NP (DT the) (NN dog)) (VP (VB eats) (NP (NN meat) (NN pie))))"]))
    [(('NP', 'NN'),), (('S', 'VP'),), (('S', 'NP'),), (('S', 'NN'),), ()]
    """
    places = count(len(tree.words()), -1)  # a fold goes from right to left
    root = tree.fold(lambda tag: _Span(tag.label, (end := next(places)) - 1, end), _Span.over)
    return [_store(root, read) for read in range(1, root.end)] + [()]


class _Span(NamedTuple):
    """A node over words first … end - 1; a phrase has its left and its right child."""

    label: str
    first: int
    end: int
    below: tuple[_Span, ...] = ()

    @staticmethod
    def over(node: Tree, below: list[_Span]) -> _Span:
        """A phrase over its children."""
        return _Span(node.label, below[0].first, below[-1].end, tuple(below))


def _store(root: _Span, read: int) -> tuple[tuple[str, str], ...]:
    """The store after this number of words."""
    found = []
    top = root
    while True:
        awaited = top
        while awaited.below and awaited.below[0].end <= read:  # its left child is complete
            awaited = awaited.below[1]
        if awaited is not top:
            found.append((top.label, awaited.label))
        if awaited.first >= read:
            return tuple(found)
        top = awaited.below[0]  # is being read
