"""Subcategorisation of verbs by their arguments (Wu & Schuler 2011, §4): annotations beside those of Klein & Manning.

The paper splits its states "as thoroughly as possible into subcategorization classes" and names one, VBD-argNP, but not
the others. Here they are the categories of the phrases that follow the verb within its VP.
"""

from __future__ import annotations

from collections.abc import Sequence

from rerank_plugins.constituency import annotation
from rerank_plugins.constituency.annotation import VERBS, Annotation
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.trees.treebank_cleaning import category, split_label

ARGUMENTS = frozenset({"NP", "S", "SBAR", "VP", "ADJP", "PP", "PRT"})


def transitive(node: Tree, above: Sequence[Tree]) -> str:
    """Marks a verb that a noun phrase of its VP follows, unless it is a temporal one: VBD-argNP."""
    return "-argNP" if "NP" in _after_verb(node, above) else ""


def frame(node: Tree, above: Sequence[Tree]) -> str:
    """Marks a verb with the first two arguments that follow it: VBD-argNP-PP, VBZ-argVP, VB."""
    arguments = _after_verb(node, above)[:2]
    return "-arg" + "-".join(arguments) if arguments else ""


def _after_verb(node: Tree, above: Sequence[Tree]) -> list[str]:
    if not node.is_preterminal or category(node.label) not in VERBS or not above or category(above[0].label) != "VP":
        return []
    children = above[0].subtrees
    place = next(i for i, child in enumerate(children) if child is node)
    labels = [split_label(child.label) for child in children[place + 1 :]]
    return [name for name, functions in labels if name in ARGUMENTS and "TMP" not in functions.split("-")]


SUBCATEGORISATION: dict[str, Annotation] = {"transitive": transitive, "frame": frame}


def named(names: Sequence[str]) -> list[Annotation]:
    """The annotations of these names: those of Klein & Manning (constituency/annotation.py) and of this module.

    The mark of phrases with a single child is left out, because symbols have it in any case. Raises ConfigError for an
    unknown name.
    """
    known = {**annotation.ANNOTATIONS, **SUBCATEGORISATION}
    chosen: list[Annotation] = []
    for name in names:
        if name == "klein-manning":
            chosen += annotation.ANNOTATIONS.values()
        elif name in known:
            chosen.append(known[name])
        else:
            raise annotation.unknown(name, known)
    return [mark for mark in chosen if mark is not annotation.unary_internal]
