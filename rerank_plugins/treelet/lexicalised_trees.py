"""Trees in which every node has a head word, chosen by head rules."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.trees.head_rules import HeadRules, english_heads


@dataclass(frozen=True, slots=True)
class LexicalisedTree:
    """A node with its head.

    `head`        the index of the head word in the sentence (from 0)
    `head_child`  the index of the child that contains it
    `children`    empty for a preterminal, whose word is its head word
    """

    label: str
    head: int
    head_word: str
    head_tag: str
    head_child: int
    children: tuple[LexicalisedTree, ...]


def lexicalise(tree: Tree, rules: HeadRules | None = None) -> LexicalisedTree:
    """The tree with the head word and head tag of every node, by these rules (default: English).

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> tree = lexicalise(*read_trees(["(S (NP (DT The) (NN dog)) (VP (VBZ barks)))"]))
    >>> tree.head_word, tree.head_tag, tree.head, tree.head_child, tree.children[0].head_word
    ('barks', 'VBZ', 2, 1, 'dog')
    """
    rules = rules or english_heads()
    positions = count(len(tree.words()) - 1, -1)  # a fold visits nodes from right to left

    def tag(node: Tree) -> LexicalisedTree:
        return LexicalisedTree(node.label, next(positions), node.word, node.label, 0, ())

    def phrase(node: Tree, children: list[LexicalisedTree]) -> LexicalisedTree:
        head_child = rules.head_child(node)
        head = children[head_child]
        return LexicalisedTree(node.label, head.head, head.head_word, head.head_tag, head_child, tuple(children))

    return tree.fold(tag, phrase)
