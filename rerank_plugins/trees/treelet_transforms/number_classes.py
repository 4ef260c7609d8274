"""Number annotation: numbers (CD) in five classes: CD-YR, CD-NM, CD-DC, CD-MX, CD-AL."""

from __future__ import annotations

import re

from rerank_plugins.trees.cleaning import relabel
from rerank_plugins.trees.constituency import Known, Tree

CLASSES = frozenset({"CD-YR", "CD-NM", "CD-DC", "CD-MX", "CD-AL"})


def number_class(word: str) -> str:
    """YR: four digits (years, mostly); NM: digits; DC: with a decimal point; MX: letters and digits; AL: no digit.

    Signs other than the point do not matter: 1,000 and 2/3 are NM, twenty-five is AL.

    >>> [number_class(word) for word in ("1984", "25", "109.85", "1980s", "million")]
    ['YR', 'NM', 'DC', 'MX', 'AL']
    """
    if re.fullmatch(r"[0-9]{4}", word):
        return "YR"
    if not re.search(r"\d", word):
        return "AL"
    if re.search(r"[^\W\d_]", word):
        return "MX"
    return "DC" if "." in word else "NM"


def mark_numbers(tree: Tree, known: Known | None = None) -> Tree:
    """The tree with the class of each number in its tag."""

    def tag(node: Tree) -> Tree:
        return Tree(f"CD-{number_class(node.word)}", node.children) if node.label == "CD" else node

    return tree.fold(tag, lambda node, children: Tree(node.label, tuple(children)), known)


def unmark_numbers(tree: Tree) -> Tree:
    """The tree before `mark_numbers`."""
    return relabel(tree, lambda label: "CD" if label in CLASSES else label)
