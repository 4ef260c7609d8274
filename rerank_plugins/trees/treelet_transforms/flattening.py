"""VP flattening: a VP directly over a VP is removed, unless the lower one is conjoined with another VP.

Chains of verbs (will be going) have a VP for each verb. The lowest VP keeps its label and takes in what the upper ones
had before and after it, so that the main verb and its arguments condition on the whole chain, as the paper wants.
"""

from __future__ import annotations

from rerank_plugins.trees.cleaning import category
from rerank_plugins.trees.constituency import Known, Tree
from rerank_plugins.trees.heads import CONJUNCTIONS


def flatten_vps(tree: Tree, known: Known | None = None) -> Tree:
    """The tree with one VP for each chain of verbs.

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
