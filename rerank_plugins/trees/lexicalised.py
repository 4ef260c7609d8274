"""Trees where every node knows its head word, by head rules."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from rerank_plugins.trees.constituency import Tree
from rerank_plugins.trees.heads import HeadRules, english_heads


@dataclass(frozen=True, slots=True)
class LexicalisedTree:
    """A node with its head: `head` is the word's index in the sentence (from 0), `head_child` the child's that has it.

    Preterminals have no children here (their word is the head word).
    """

    label: str
    head: int
    head_word: str
    head_tag: str
    head_child: int
    children: tuple[LexicalisedTree, ...]


def lexicalise(tree: Tree, rules: HeadRules | None = None) -> LexicalisedTree:
    """The tree with the head word and head tag of every node; rules for English unless others are given.

    >>> from rerank_plugins.trees.constituency import read_trees
    >>> tree = lexicalise(*read_trees(["(S (NP (DT The) (NN dog)) (VP (VBZ barks)))"]))
    >>> tree.head_word, tree.head_tag, tree.head, tree.head_child, tree.children[0].head_word
    ('barks', 'VBZ', 2, 1, 'dog')
    """
    rules = rules or english_heads()
    positions = count(len(tree.words()) - 1, -1)  # a fold goes from right to left

    def tag(node: Tree) -> LexicalisedTree:
        return LexicalisedTree(node.label, next(positions), node.word, node.label, 0, ())

    def phrase(node: Tree, children: list[LexicalisedTree]) -> LexicalisedTree:
        chosen = rules.head_child(node)
        head = children[chosen]
        return LexicalisedTree(node.label, head.head, head.head_word, head.head_tag, chosen, tuple(children))

    return tree.fold(tag, phrase)
