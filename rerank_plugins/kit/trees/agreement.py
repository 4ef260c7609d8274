"""Finds subjects that disagree with their verbs, in English trees of Penn labels, by the feature `number`.

Two uses. In the trees that a parser made of edited text, most disagreements are errors of the parser, so that training
data are better without them. In hypotheses, they are errors of grammar, as far as the parser is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.trees.features import english_features
from rerank_plugins.kit.trees.marked_labels import signed_marks
from rerank_plugins.kit.trees.treebank_cleaning import category

NUMBERS = {"sg", "pl", "1"}
BARE = "base"
CLAUSES = {"S", "SINV"}


class Disagreement(NamedTuple):
    """The words of a subject and of the verb phrase beside it."""

    subject: tuple[str, ...]
    predicate: tuple[str, ...]


def disagreements(tree: Tree) -> Iterator[Disagreement]:
    """Yield the subjects of a tree under ROOT that disagree with their verbs: *the dogs barks*, and *the dog bark* too.

    The first person goes with the singular of the past, *I was*, and the singular with *were*, which may be a
    subjunctive. A bare verb is an error in the highest clause only; *let it rain* is none.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> (tree,) = read_trees(["(ROOT (S (NP (DT the) (NNS dogs)) (VP (VBZ barks))))"])
    >>> list(disagreements(tree))
    [Disagreement(subject=('the', 'dogs'), predicate=('barks',))]
    """
    whole = english_features().chosen(("number", "form")).mark(tree)
    for node in whole.nodes():
        if node.is_preterminal or category(node.label) not in CLAUSES:
            continue
        children = node.subtrees
        names = [category(child.label) for child in children]
        if "VP" not in names:
            continue
        verb = names.index("VP")
        if "NP" not in names[:verb]:
            continue
        subject = children[verb - 1 - names[:verb][::-1].index("NP")]
        past = any(child.is_preterminal and category(child.label) == "VBD" for child in children[verb].subtrees)
        number, other = ({mark for _, mark in signed_marks(child.label)} for child in (subject, children[verb]))
        bare = BARE in other and node in whole.subtrees
        if (number & NUMBERS and bare) or _differ(number & NUMBERS, other & NUMBERS, past):
            yield Disagreement(tuple(subject.words()), tuple(children[verb].words()))


def _differ(subject: set[str], verb: set[str], past: bool) -> bool:
    if not subject or not verb or subject == verb:
        return False
    if "1" in subject:  # I laugh, I was; not: I laughs
        return "sg" in verb and not past
    return not (past and "sg" in subject)  # it were
