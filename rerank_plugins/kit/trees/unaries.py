"""Joins unary chains into one symbol (S over VP becomes S+VP), so that phrases of a binary tree have two children."""

from __future__ import annotations

from rerank_plugins.core.constituency_tree import Tree

LINK = "+"
JOINED = "joined"  # the name in a grammar's settings for training on such trees


def join_unaries(tree: Tree) -> Tree:
    """The tree in which every phrase with a single child is merged with it; the child may be a preterminal.

    Raises ValueError for a label that contains +, since the inverse would split it.

    >>> str(join_unaries(Tree("S", (Tree("VP", (Tree("VB", ("go",)),)),))))
    '(S+VP+VB go)'
    """

    def tag(node: Tree) -> Tree:
        if LINK in node.label:
            raise ValueError(f"label {node.label!r} has {LINK} in it")
        return node

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        tag(node)
        if len(children) == 1:
            return Tree(node.label + LINK + children[0].label, children[0].children)
        return Tree(node.label, tuple(children))

    return tree.fold(tag, phrase)


def split_unaries(tree: Tree) -> Tree:
    """The inverse of `join_unaries`."""

    def split(node: Tree, children: tuple[Tree | str, ...]) -> Tree:
        *above, lowest = node.label.split(LINK)
        tree = Tree(lowest, children)
        for label in reversed(above):
            tree = Tree(label, (tree,))
        return tree

    return tree.fold(lambda tag: split(tag, tag.children), lambda node, children: split(node, tuple(children)))
