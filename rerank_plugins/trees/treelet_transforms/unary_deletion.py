"""Unary deletion: of a chain of unary productions only the lowest symbol stays, those of root and words apart."""

from __future__ import annotations

from rerank_plugins.trees.constituency import ROOT, Known, Tree


def delete_unaries(tree: Tree, known: Known | None = None) -> Tree:
    """The tree where every phrase but the root has two or more children.

    >>> from rerank_plugins.trees.constituency import read_trees
    >>> print(delete_unaries(*read_trees(["(ROOT (S (VP (VB Go) (NP (RB home)))))"])))
    (ROOT (VP (VB Go) (RB home)))
    """

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        return children[0] if len(children) == 1 and node.label != ROOT else Tree(node.label, tuple(children))

    return tree.fold(lambda tag: tag, phrase, known)
