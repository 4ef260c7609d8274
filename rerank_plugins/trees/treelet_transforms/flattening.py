"""The transformations that remove nodes: NPs under NPs, S under SBAR, chains of VPs, and unary productions.

They have no inverses.
"""

from __future__ import annotations

from rerank_plugins.trees.cleaning import category
from rerank_plugins.trees.constituency import ROOT, Known, Tree
from rerank_plugins.trees.heads import CONJUNCTIONS


def flatten_nps(tree: Tree, known: Known | None = None) -> Tree:
    """The tree in which an NP under an NP gives way to its children, unless it is coordinated or in apposition.

    In (NP (NP (NN stock) (NNS sales)) (PP by traders)) the production NNS -> sales can then condition on the PP. We
    take an NP that has a conjunction or another NP beside it to be coordinated or in apposition.

    >>> from rerank_plugins.trees.constituency import read_trees
    >>> print(flatten_nps(*read_trees(["(NP (NP (NN stock) (NNS sales)) (PP (IN by) (NP (NNS traders))))"])))
    (NP (NN stock) (NNS sales) (PP (IN by) (NP (NNS traders))))
    """

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        below = [category(child.label) for child in children]
        if category(node.label) == "NP" and below.count("NP") == 1 and not CONJUNCTIONS.intersection(below):
            place = below.index("NP")
            children[place : place + 1] = children[place].subtrees
        return Tree(node.label, tuple(children))

    return tree.fold(lambda tag: tag, phrase, known)


def flatten_sbars(tree: Tree, known: Known | None = None) -> Tree:
    """The tree in which an S directly under an SBAR gives way to its children, for such sentences differ from others.

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


def flatten_vps(tree: Tree, known: Known | None = None) -> Tree:
    """The tree with one VP for each chain of verbs (will be going), which has a VP for each verb in the treebank.

    A VP directly over a VP is removed, unless the lower one is conjoined with another VP. The lowest VP keeps its label
    and takes in what the upper ones had before and after it, so that the main verb and its arguments condition on the
    whole chain, as the paper wants.

    >>> from rerank_plugins.trees.constituency import read_trees
    >>> print(flatten_vps(*read_trees(["(VP-will (MD will) (VP-be (VB be) (VP-VBG (VBG going) (NP-NN (NN home)))))"])))
    (VP-VBG (MD will) (VB be) (VBG going) (NP-NN (NN home)))
    """

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        below = [category(child.label) for child in children]
        if category(node.label) != "VP" or below.count("VP") != 1 or CONJUNCTIONS.intersection(below):
            return Tree(node.label, tuple(children))
        place = below.index("VP")
        lower = children[place]
        return Tree(lower.label, (*children[:place], *lower.subtrees, *children[place + 1 :]))

    return tree.fold(lambda tag: tag, phrase, known)


def delete_unaries(tree: Tree, known: Known | None = None) -> Tree:
    """The tree in which every phrase but the root has two or more children.

    Of a chain of unary productions only the lowest symbol stays; the root and the tags of words always stay.

    >>> from rerank_plugins.trees.constituency import read_trees
    >>> print(delete_unaries(*read_trees(["(ROOT (S (VP (VB Go) (NP (RB home)))))"])))
    (ROOT (VP (VB Go) (RB home)))
    """

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        return children[0] if len(children) == 1 and node.label != ROOT else Tree(node.label, tuple(children))

    return tree.fold(lambda tag: tag, phrase, known)
