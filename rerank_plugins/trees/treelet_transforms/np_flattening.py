"""NP flattening: an NP under an NP gives way to its children, unless it is in coordination or apposition.

So that in (NP (NP (NN stock) (NNS sales)) (PP by traders)) the production NNS -> sales can condition on the PP. Our
reading of coordination and apposition: the NP has a conjunction or another NP beside it.
"""

from __future__ import annotations

from rerank_plugins.trees.cleaning import category
from rerank_plugins.trees.constituency import Known, Tree
from rerank_plugins.trees.heads import CONJUNCTIONS


def flatten_nps(tree: Tree, known: Known | None = None) -> Tree:
    """The tree without NPs that are dominated by NPs.

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
