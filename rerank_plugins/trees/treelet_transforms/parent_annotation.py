"""Parent annotation: VPs, and the children of the root, are marked with the category of their parent: VP-VBD^S."""

from __future__ import annotations

from collections.abc import Callable

from rerank_plugins.trees.cleaning import category
from rerank_plugins.trees.constituency import ROOT, Known, Tree


def annotate_parents(tree: Tree, known: Known | None = None) -> Tree:
    """The tree with those nodes marked.

    >>> from rerank_plugins.trees.constituency import read_trees
    >>> print(annotate_parents(*read_trees(["(ROOT (S-VB (VP-VB (VB Go))))"])))
    (ROOT (S-VB^ROOT (VP-VB^S (VB Go))))
    """
    return _renamed(tree, lambda label, mark: label + mark, known)


def remove_parents(tree: Tree) -> Tree:
    """The tree before `annotate_parents`."""
    return _renamed(tree, str.removesuffix)


def _renamed(tree: Tree, rename: Callable[[str, str], str], known: Known | None = None) -> Tree:
    """The tree where `rename(label, ^ and the parent's category)` is the label of each VP and child of the root."""

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        above = category(node.label)
        named = [
            Tree(rename(child.label, "^" + above), child.children)
            if above == ROOT or category(child.label) == "VP"
            else child
            for child in children
        ]
        return Tree(node.label, tuple(named))

    return tree.fold(lambda tag: tag, phrase, known)
