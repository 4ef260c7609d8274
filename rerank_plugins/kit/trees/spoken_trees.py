"""Converts trees of written sentences to those of recognised speech: in lower case, without punctuation.

Words without a letter or a digit are removed, and so is punctuation at the ends of other words, but not apostrophes:
clitics (`n't`, `'s`) stay. What depends on a removed word depends on its head instead; phrases that lose all words are
removed. Models of such trees read recognised words as they are.
"""

from __future__ import annotations

import re
from functools import cache

from rerank_plugins.core.brackets_and_quotes import BRACKETS
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.dependency_tree import DependencyTree

ENDS = re.compile(r"^[^\w']+|[^\w']+$")


@cache
def spoken_word(word: str) -> str:
    """The word in lower case without punctuation at its ends; "" if it has no letter and no digit.

    >>> spoken_word("Mr."), spoken_word("n't"), spoken_word("--"), spoken_word("-LRB-")
    ('mr', "n't", '', '')
    """
    if word.upper() in BRACKETS or not any(map(str.isalnum, word)):
        return ""
    return ENDS.sub("", word.lower())


def spoken_dependencies(tree: DependencyTree) -> DependencyTree | None:
    """The tree over the spoken words; None if there are none.

    If the root is removed, its first dependent that is not becomes the root, with the others below it.

    >>> spoken_dependencies(DependencyTree(("Dogs", "bark", "."), (1, -1, 1), ("nsubj", "root", "punct"))).words
    ('dogs', 'bark')
    """
    words = [spoken_word(word) for word in tree.words]
    kept = [i for i, word in enumerate(words) if word]
    if not kept:
        return None

    def head_of(word: int) -> int:
        """The closest ancestor that is kept."""
        head = tree.heads[word]
        while head >= 0 and not words[head]:
            head = tree.heads[head]
        return head

    heads = {word: head_of(word) for word in kept}
    root, *others = (word for word in kept if heads[word] == -1)
    heads |= dict.fromkeys(others, root)
    new = {word: place for place, word in enumerate(kept)} | {-1: -1}
    return DependencyTree(
        tuple(words[i] for i in kept),
        tuple(new[heads[i]] for i in kept),
        tuple("root" if i == root else tree.relations[i] for i in kept),
        tuple(tree.tags[i] for i in kept) if tree.tags else (),
    )


def spoken_tree(tree: Tree) -> Tree | None:
    """The tree over the spoken words; None if there are none.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> str(spoken_tree(*read_trees(["(S (NP (NNS Dogs)) (VP (VBP bark)) (PRN (-LRB- -LRB-)) (. .))"])))
    '(S (NP (NNS dogs)) (VP (VBP bark)))'
    """

    def leaf(node: Tree) -> Tree | None:
        word = spoken_word(node.word)
        return Tree(node.label, (word,)) if word else None

    def phrase(node: Tree, children: list[Tree | None]) -> Tree | None:
        remaining = tuple(child for child in children if child is not None)
        return Tree(node.label, remaining) if remaining else None

    return tree.fold(leaf, phrase)
