"""Gapped sentences: an S or SBAR with a VP before any NP has an empty subject, most likely, and is marked -GAP."""

from __future__ import annotations

from rerank_plugins.trees.cleaning import category, relabel
from rerank_plugins.trees.constituency import Known, Tree

MARK = "-GAP"


def mark_gaps(tree: Tree, known: Known | None = None) -> Tree:
    """The tree with gapped sentences marked.

    >>> from rerank_plugins.trees.constituency import read_trees
    >>> print(mark_gaps(*read_trees(["(S-to (VP-to (TO to) (VP-VB (VB win))))"])))
    (S-to-GAP (VP-to (TO to) (VP-VB (VB win))))
    """

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        below = [category(child.label) for child in children]
        first = next((name for name in below if name in ("NP", "VP")), "")
        gapped = category(node.label) in ("S", "SBAR") and first == "VP"
        return Tree(node.label + MARK if gapped else node.label, tuple(children))

    return tree.fold(lambda tag: tag, phrase, known)


def unmark_gaps(tree: Tree) -> Tree:
    """The tree before `mark_gaps`."""
    return relabel(tree, lambda label: label.removesuffix(MARK) if category(label) in ("S", "SBAR") else label)
