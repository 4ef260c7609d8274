"""Prepares the trees of a treebank for grammars: no traces and function tags, roots named alike.

Each step is a function that returns a new tree; `clean` applies them in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache

from rerank_plugins.core.constituency_tree import ROOT, Tree

EMPTY = "-NONE-"  # the tag of traces and other elements without words
ROOTS = frozenset({ROOT, "TOP", "S1", "VROOT"})  # the names of the root in treebanks and parser outputs
CRAFT_LABELS = {"NML": "NP", "TITLE": "", "HEADING": "", "CAPTION": "", "CIT": ""}
_LABEL = re.compile(r"(-[^-]*-|[^-=^][^-=^]*|.[^-=^]*)(.*)", re.DOTALL)


@cache
def split_label(label: str) -> tuple[str, str]:
    """The category, and the rest of the label: function tags, indices and annotations, with their separators.

    >>> split_label("NP-SBJ-1"), split_label("VP-VBD^S"), split_label("-LRB-"), split_label("PRP$")
    (('NP', '-SBJ-1'), ('VP', '-VBD^S'), ('-LRB-', ''), ('PRP$', ''))
    """
    parts = _LABEL.match(label)
    return (parts[1], parts[2]) if parts else (label, "")


def category(label: str) -> str:
    """The label without function tags, indices and annotations: NP of NP-SBJ-1, NP=2 and NP-NN^S."""
    return split_label(label)[0]


def remove_empty(tree: Tree) -> Tree | None:
    """The tree without empty elements (-NONE-) and phrases that have no other words; None if nothing is left."""

    def phrase(node: Tree, children: list[Tree | None]) -> Tree | None:
        remaining = tuple(child for child in children if child is not None)
        return Tree(node.label, remaining) if remaining else None

    return tree.fold(lambda tag: None if tag.label == EMPTY else tag, phrase)


def strip_functions(tree: Tree, keep: Collection[str] = ()) -> Tree:
    """The tree without indices and function tags, except tags in `keep`: NP-TMP-1 becomes NP, or NP-TMP if TMP is kept.

    FEATS of words (Number:Plur) are kept for the features that are made from them (marked_labels.py).

    >>> str(strip_functions(Tree("NP-SBJ=2", (Tree("PRP", ("it",)),))))
    '(NP (PRP it))'
    """

    def stripped(label: str) -> str:
        name, functions = split_label(label)
        return "-".join([name, *(tag for tag in re.split("[-=]", functions) if tag in keep or ":" in tag)])

    return relabel(tree, stripped)


def relabel(tree: Tree, name: Callable[[str], str]) -> Tree:
    """The tree in which every label, also of a preterminal, is replaced by `name(label)`."""
    return tree.fold(
        lambda tag: Tree(name(tag.label), tag.children), lambda node, children: Tree(name(node.label), tuple(children))
    )


def rename(tree: Tree, labels: Mapping[str, str]) -> Tree:
    """The tree with some labels replaced; a phrase renamed to "" is replaced by its only child, or becomes a FRAG."""

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        label = labels.get(node.label, node.label)
        return children[0] if not label and len(children) == 1 else Tree(label or "FRAG", tuple(children))

    return tree.fold(lambda tag: Tree(labels.get(tag.label) or tag.label, tag.children), phrase)


def collapse_repeats(tree: Tree) -> Tree:
    """The tree without phrases whose only child has the same label, which the removal of traces leaves behind."""

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        return children[0] if [child.label for child in children] == [node.label] else Tree(node.label, tuple(children))

    return tree.fold(lambda tag: tag, phrase)


def rooted(tree: Tree) -> Tree:
    """The tree under ROOT, which replaces another name of the root (TOP, S1, VROOT) or is added above the tree."""
    if tree.label in ROOTS and not tree.is_preterminal:
        return Tree(ROOT, tree.children)
    return Tree(ROOT, (tree,))


def clean(tree: Tree, labels: Mapping[str, str] | None = None, keep: Collection[str] = ()) -> Tree | None:
    """The tree from which grammars are trained; None if it has no words.

    `labels` renames categories (`CRAFT_LABELS` maps those of CRAFT to those of the Penn Treebank); function tags in
    `keep` are kept.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> str(clean(*read_trees(["( (S (NP-SBJ (NP (PRP We)) (SBAR (-NONE- *T*))) (VP (VBD slept))))"])))
    '(ROOT (S (NP (PRP We)) (VP (VBD slept))))'
    """
    if not labels and _is_clean(tree):
        return tree
    nonempty = remove_empty(tree)
    return nonempty and rooted(collapse_repeats(rename(strip_functions(nonempty, keep), labels or {})))


def _is_clean(tree: Tree) -> bool:
    """Whether `clean` would return an equal tree, as for most trees of a parser; one pass instead of its five."""
    return (
        tree.label == ROOT
        and not tree.is_preterminal
        and not any(
            node.label in ("", EMPTY)
            or split_label(node.label)[1]
            or [child.label for child in node.subtrees] == [node.label]
            for node in tree.nodes()
        )
    )
