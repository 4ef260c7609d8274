"""Finds the phrases between a filler and its gap, in trees without traces: which of them lack something.

In *the book that they think she wrote in May*, *that* fills the place of the object of *wrote*. The clause under SBAR,
the complement of *think* and the verb phrase of *wrote* all lack it, as the slash categories of GPSG say (S/NP, VP/NP,
Gazdar et al. 1985). A treebank without traces has no mark where the gap is, so that it is looked for, from the filler
downwards:

1. The clause beside a filler (a noun phrase with a wh-word) or of a relative without one has a gap if it has a subject;
   otherwise the subject is what lacks, which the clause shows.
2. A verb phrase hands the gap down to the verb phrase within it, to a stranded preposition, to a clausal complement, or
   to a noun phrase that ends in a stranded preposition. If it has none of these and no object, the gap is its object.
3. If no place is found (the filler is an adverbial, or the tree is wrong), nothing is marked.
"""

from __future__ import annotations

from collections.abc import Iterator

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.trees.treebank_cleaning import category

WH = frozenset({"WDT", "WP", "WP$"})
NOMINAL = frozenset({"NP", "WHNP", "NX", "NML"})
CLAUSES = frozenset({"S", "SQ", "SINV"})
PREPOSITIONS = frozenset({"IN", "TO", "RB", "RP"})


def gapped(tree: Tree) -> frozenset[int]:
    """The identities (`id`) of the phrases of a tree that lack a noun phrase which precedes them.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> (tree,) = read_trees(["(NP (NP (NNS cats)) (SBAR (WHNP (WDT that)) (S (NP (PRP I)) (VP (VBD saw)))))"])
    >>> lacking = gapped(tree)
    >>> [node.label for node in tree.nodes() if id(node) in lacking]
    ['S', 'VP']
    """
    lacking: set[int] = set()
    todo: list[tuple[Tree, Tree | None]] = [(tree, None)]
    while todo:
        node, above = todo.pop()
        if node.is_preterminal:
            continue
        if category(node.label) in ("SBAR", "SBARQ") and id(node) not in lacking:
            lacking.update(_below_filler(node, above))
        todo += [(child, node) for child in node.subtrees]
    return frozenset(lacking)


def _below_filler(node: Tree, above: Tree | None) -> Iterator[int]:
    """Yield the phrases that lack the filler of a clause with a complementiser or wh-word."""
    children = node.subtrees
    filler = next((i for i, child in enumerate(children) if _is_filler(child)), -1)
    bare = len(children) == 1 and above is not None and category(above.label) in NOMINAL
    if filler < 0 and not bare:
        return
    clause = next((child for child in children[filler + 1 :] if category(child.label) in CLAUSES), None)
    if clause is None or not _has_subject(clause):
        return
    path = _path_in_clause(clause)
    if path:
        yield from map(id, path)
        if filler < 0:
            yield id(node)


def _is_filler(node: Tree) -> bool:
    return (
        not node.is_preterminal and category(node.label) in NOMINAL and any(category(tag) in WH for tag in node.tags())
    )


def _has_subject(clause: Tree) -> bool:
    return any(category(child.label) in NOMINAL for child in clause.subtrees)


def _path_in_clause(clause: Tree) -> list[Tree]:
    """The phrases from a clause down to its gap; none if there is no place for one."""
    verb_phrase = _first(clause, "VP")
    if verb_phrase is None:  # a question with the copula: what was it
        return [clause] if category(clause.label) == "SQ" else []
    below = _path_in_verb_phrase(verb_phrase)
    return [clause, *below] if below else []


def _path_in_verb_phrase(phrase: Tree) -> list[Tree]:
    path = [phrase]
    if (inner := _first(phrase, "VP")) is not None:
        below = _path_in_verb_phrase(inner)
        return path + below if below else []
    stranded = next((child for child in phrase.subtrees if _is_stranded(child)), None)
    if stranded is not None:
        return [*path, stranded]
    objects = [child for child in phrase.subtrees if category(child.label) in NOMINAL]
    for complement in reversed(phrase.subtrees):
        below = _path_in_complement(complement, bool(objects))
        if below:
            return path + below
    if objects:
        return path + _path_in_noun_phrase(objects[-1]) if _path_in_noun_phrase(objects[-1]) else []
    return path


def _path_in_complement(node: Tree, beside_object: bool) -> list[Tree]:
    """The path in a clause that is a complement; beside an object, only an infinitive is one."""
    label = category(node.label)
    if label == "S" and (not beside_object or not _has_subject(node)):
        return _path_in_clause(node)
    if label == "SBAR" and not beside_object and not any(map(_is_filler, node.subtrees)):
        clause = _first(node, "S")
        adverbial = category(node.subtrees[0].label) in ("IN", "WHADVP", "RB") and node.words()[0].lower() != "that"
        below = _path_in_clause(clause) if clause is not None and not adverbial and _has_subject(clause) else []
        return [node, *below] if below else []
    return []


def _path_in_noun_phrase(node: Tree) -> list[Tree]:
    last = node.subtrees[-1] if not node.is_preterminal else node
    if _is_stranded(last):
        return [node, last]
    return []


def _is_stranded(node: Tree) -> bool:
    """Whether a prepositional phrase has nothing but prepositions."""
    return category(node.label) == "PP" and all(
        child.is_preterminal and category(child.label) in PREPOSITIONS for child in node.subtrees
    )


def _first(node: Tree, label: str) -> Tree | None:
    return next((child for child in node.subtrees if category(child.label) == label), None)
