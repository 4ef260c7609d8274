"""The conversion of constituency trees to labelled dependencies by head rules: a check of `lexicalise`.

In each phrase the head word of the head child governs the head words of the other children; the relation names the
child, the phrase, and the side of the head that the child is on: NP|S:left is a subject, NP|VP:right an object.
"""

from __future__ import annotations

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.kit.trees.head_rules import HeadRules
from rerank_plugins.kit.trees.treebank_cleaning import category
from tests.treelet.naive_tree_transformations import lexicalise


def to_dependencies(tree: Tree, rules: HeadRules | None = None) -> DependencyTree:
    """The dependency tree over the same words, by rules for English unless others are given; tags are preterminals."""
    words = tree.words()
    heads, relations = [-1] * len(words), ["root"] * len(words)
    todo = [lexicalise(tree, rules)]
    while todo:
        node = todo.pop()
        todo.extend(node.children)
        for i, child in enumerate(node.children):
            if i != node.head_child:
                heads[child.head] = node.head
                side = "left" if i < node.head_child else "right"
                relations[child.head] = f"{category(child.label)}|{category(node.label)}:{side}"
    return DependencyTree(words, tuple(heads), tuple(relations), tree.tags())
