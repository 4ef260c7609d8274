"""The transformations that remove nodes: NPs under NPs, S under SBAR, chains of VPs, and unary productions.

They have no inverses.
"""

from __future__ import annotations

from rerank_plugins.core.constituency_tree import ROOT, Known, Tree
from rerank_plugins.kit.trees.head_rules import CONJUNCTIONS
from rerank_plugins.kit.trees.treebank_cleaning import category


def flatten_nps(tree: Tree, known: Known | None = None) -> Tree:
    """The tree in which an NP under an NP is replaced by its children, unless it is coordinated or in apposition.

    In (NP (NP (NN stock) (NNS sales)) (PP by traders)) the production NNS -> sales can then condition on the PP. An NP
    counts as coordinated or in apposition if it has a conjunction or another NP as a sibling.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> print(flatten_nps(*read_trees(["(NP (NP (NN stock) (NNS sales)) (PP (IN by) (NP (NNS traders))))"])))
    (NP (NN stock) (NNS sales) (PP (IN by) (NP (NNS traders))))
    """

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        below = [category(child.label) for child in children]
        if category(node.label) == "NP" and below.count("NP") == 1 and not CONJUNCTIONS.intersection(below):
            position = below.index("NP")
            children[position : position + 1] = children[position].subtrees
        return Tree(node.label, tuple(children))

    return tree.fold(lambda tag: tag, phrase, known)


def flatten_sbars(tree: Tree, known: Known | None = None) -> Tree:
    """The tree in which an S directly under an SBAR is replaced by its children, since such an S differs from others.

    >>> from rerank_plugins.core.constituency_tree import read_trees
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


def flatten_vps(tree: Tree, known: Known | None = None) -> Tree:
    """The tree with one VP for each chain of verbs (will be going); the treebank has a VP for each verb.

    A VP directly over a VP is removed, unless the lower one is conjoined with another VP. The lowest VP keeps its label
    and gets the other children of the upper ones, before and after its own. The main verb and its arguments can then
    condition on the whole chain, as in the paper.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> print(flatten_vps(*read_trees(["(VP-will (MD will) (VP-be (VB be) (VP-VBG (VBG going) (NP-NN (NN home)))))"])))
    (VP-VBG (MD will) (VB be) (VBG going) (NP-NN (NN home)))
    """

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        below = [category(child.label) for child in children]
        if category(node.label) != "VP" or below.count("VP") != 1 or CONJUNCTIONS.intersection(below):
            return Tree(node.label, tuple(children))
        position = below.index("VP")
        lower = children[position]
        return Tree(lower.label, (*children[:position], *lower.subtrees, *children[position + 1 :]))

    return tree.fold(lambda tag: tag, phrase, known)


def delete_unaries(tree: Tree, known: Known | None = None) -> Tree:
    """The tree in which every phrase but the root has two or more children.

    A chain of unary productions is reduced to its lowest symbol; the root and preterminals are always kept.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> print(delete_unaries(*read_trees(["(ROOT (S (VP (VB Go) (NP (RB home)))))"])))
    (ROOT (VP (VB Go) (RB home)))
    """

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        return children[0] if len(children) == 1 and node.label != ROOT else Tree(node.label, tuple(children))

    return tree.fold(lambda tag: tag, phrase, known)
