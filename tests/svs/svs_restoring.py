"""Trees of a model's symbols, restored to the form of the treebank: what tests compare parses with."""

from __future__ import annotations

from rerank_plugins.constituency.annotation import plain
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.trees.binarisation import LINK
from rerank_plugins.svs.model import SvsModel


def treebank_tree(tree: Tree, model: SvsModel) -> Tree:
    """The tree without relations, annotations and intermediate nodes; its labels are symbols of the model.

    Phrases that a unary rule of the model passes over are restored. Raises KeyError for a label that is no symbol.
    """
    category = {name: model.categories[number] for name, number in zip(model.symbols, model.category, strict=True)}
    chains = {
        (model.symbols[parent], model.symbols[child]): chain.split(LINK)
        for (parent, child), chain in zip(model.unary, model.between, strict=True)
        if chain
    }

    def phrase(node: Tree, children: list[tuple[str, Tree]]) -> tuple[str, Tree]:
        below = tuple(child for _, child in children)
        if len(children) == 1:
            for name in reversed(chains.get((node.label, children[0][0]), [])):
                below = (Tree(name, below),)
        return node.label, Tree(category[node.label], below)

    return plain(tree.fold(lambda tag: (tag.label, Tree(category[tag.label], tag.children)), phrase)[1])
