"""SBAR flattening: an S directly under an SBAR gives way to its children; such sentences differ from others."""

from __future__ import annotations

from rerank_plugins.trees.cleaning import category
from rerank_plugins.trees.constituency import Known, Tree


def flatten_sbars(tree: Tree, known: Known | None = None) -> Tree:
    """The tree without S nodes under SBAR.

    >>> from rerank_plugins.trees.constituency import read_trees
    >>> print(flatten_sbars(*read_trees(["(SBAR (IN that) (S (NP (PRP it)) (VP (VBZ rains))))"])))
    (SBAR (IN that) (NP (PRP it)) (VP (VBZ rains)))
    """

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        if category(node.label) != "SBAR":
            return Tree(node.label, tuple(children))
        flat: list[Tree] = []
        for child in children:
            flat.extend(child.subtrees if category(child.label) == "S" else [child])
        return Tree(node.label, tuple(flat))

    return tree.fold(lambda tag: tag, phrase, known)
