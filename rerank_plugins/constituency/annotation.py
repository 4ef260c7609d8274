"""The state splits of Klein & Manning (2003): marks on phrases and tags of a treebank from which a grammar is read.

An annotation is a function of a node and its ancestors, nearest first, that returns a mark or "" (NP-BASE, NN-NP);
each sees the tree without marks. Where one differs from the paper, as traces and most function tags have been removed,
its docstring says so. Parent annotation of phrases (§2.2) is vertical markovisation of order 2
(kit/trees/binarisation.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from rerank_plugins import ConfigError, Tree
from rerank_plugins.kit.trees.binarisation import remove_intermediate
from rerank_plugins.kit.trees.head_rules import english_heads
from rerank_plugins.kit.trees.treebank_cleaning import category, relabel, split_label

Annotation = Callable[[Tree, Sequence[Tree]], str]

VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"})
FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})
NOMINAL = frozenset({"NP", "NX", "NML", "WHNP", "QP"})
BE = frozenset(["be", "am", "are", "is", "was", "were", "been", "being", "'s", "'re", "'m"])
HAVE = frozenset(["have", "has", "had", "having", "'ve", "'d"])


def unary_internal(node: Tree, above: Sequence[Tree]) -> str:
    """UNARY-INTERNAL (§2.3): marks a phrase with a single child, except for the root."""
    return "-U" if above and not node.is_preterminal and len(node.children) == 1 else ""


def unary_external(node: Tree, above: Sequence[Tree]) -> str:
    """UNARY-EXTERNAL, for tags DT and RB only (UNARY-DT, UNARY-RB, §2.3): marks the only child of a phrase."""
    alone = bool(above) and len(above[0].children) == 1
    return "-U" if alone and node.is_preterminal and category(node.label) in ("DT", "RB") else ""


def tag_parent(node: Tree, above: Sequence[Tree]) -> str:
    """TAG-PA (§2.4): marks a tag with the category of its parent."""
    return f"-{category(above[0].label)}" if node.is_preterminal and above else ""


def split_in(node: Tree, above: Sequence[Tree]) -> str:
    """SPLIT-IN (§2.4): marks prepositions by the attachment of their PP (noun, verb or clause, other) and conjunctions.

    The paper splits IN six ways without saying how; this split is by parent and grandparent, as its other tag splits.
    """
    if category(node.label) != "IN" or not above or not node.is_preterminal:
        return ""
    if category(above[0].label) != "PP" or len(above) < 2:
        return "-C" if category(above[0].label) == "SBAR" else "-O"
    grandparent = category(above[1].label)
    return "-N" if grandparent in NOMINAL else "-V" if grandparent in ("VP", "S", "SINV", "SQ") else "-P"


def split_aux(node: Tree, _: Sequence[Tree]) -> str:
    """SPLIT-AUX (§2.4): marks forms of be and of have among the verbs."""
    if not node.is_preterminal or category(node.label) not in VERBS:
        return ""
    word = node.word.lower()
    return "-BE" if word in BE else "-HAVE" if word in HAVE else ""


def split_cc(node: Tree, _: Sequence[Tree]) -> str:
    """SPLIT-CC (§2.4): marks `but` and `&` among the conjunctions."""
    if not node.is_preterminal or category(node.label) != "CC":
        return ""
    return {"but": "-BUT", "&": "-AMP"}.get(node.word.lower(), "")


def split_percent(node: Tree, _: Sequence[Tree]) -> str:
    """SPLIT-% (§2.4): marks the tag of the percent sign."""
    return "-PC" if node.is_preterminal and node.word == "%" else ""


def base_np(node: Tree, _: Sequence[Tree]) -> str:
    """BASE-NP (§2.6): marks a noun phrase that immediately dominates only words."""
    flat = all(child.is_preterminal for child in node.subtrees)
    return "-BASE" if not node.is_preterminal and category(node.label) == "NP" and flat else ""


def possessive_np(node: Tree, _: Sequence[Tree]) -> str:
    """POSS-NP (§2.5): marks a noun phrase that ends in 's or '."""
    ends = not node.is_preterminal and category(node.label) == "NP" and category(node.subtrees[-1].label) == "POS"
    return "-P" if ends else ""


def right_recursive_np(node: Tree, _: Sequence[Tree]) -> str:
    """RIGHT-REC-NP (§2.6): marks a noun phrase with another noun phrase on its right edge."""
    if node.is_preterminal or category(node.label) != "NP":
        return ""
    edge = node
    while not edge.is_preterminal:
        edge = edge.subtrees[-1]
        if not edge.is_preterminal and category(edge.label) == "NP":
            return "-R"
    return ""


def dominates_verb(node: Tree, _: Sequence[Tree]) -> str:
    """DOMINATES-V (§2.6): marks a phrase that dominates a verb."""
    return "" if node.is_preterminal or not any(tag in VERBS for tag in map(category, node.tags())) else "-v"


def gapped_s(node: Tree, _: Sequence[Tree]) -> str:
    """GAPPED-S (§2.5): marks a clause without a subject, here one without a noun phrase or clause left of its VP."""
    if node.is_preterminal or category(node.label) != "S":
        return ""
    labels = [category(child.label) for child in node.subtrees]
    before = labels[: labels.index("VP")] if "VP" in labels else ["NP"]
    return "" if NOMINAL.union(("S", "SBAR")).intersection(before) else "-G"


def split_vp(node: Tree, _: Sequence[Tree]) -> str:
    """SPLIT-VP (§2.5): marks verb phrases with the tag of their head, all finite tags alike."""
    if node.is_preterminal or category(node.label) != "VP":
        return ""
    head = node
    while not head.is_preterminal:
        head = head.subtrees[english_heads().head_child(head)]
    tag = category(head.label)
    return "-FIN" if tag in FINITE else f"-{tag}" if tag in VERBS or tag == "TO" else ""


def temporal_np(node: Tree, above: Sequence[Tree]) -> str:
    """TMP-NP (§2.5): marks temporal noun phrases, which keep their function tag, and the tag of their head."""
    if not node.is_preterminal:
        return "-TMP" if "TMP" in node.label.split("-")[1:] and category(node.label) == "NP" else ""
    below = node
    for phrase in above:
        heads = not phrase.is_preterminal and phrase.subtrees[english_heads().head_child(phrase)] is below
        if not heads or category(phrase.label) != "NP":
            return ""
        if "TMP" in phrase.label.split("-")[1:]:
            return "-TMP"
        below = phrase
    return ""


ANNOTATIONS: dict[str, Annotation] = {
    "unary-internal": unary_internal,
    "unary-external": unary_external,
    "tag-pa": tag_parent,
    "split-in": split_in,
    "split-aux": split_aux,
    "split-cc": split_cc,
    "split-percent": split_percent,
    "base-np": base_np,
    "poss-np": possessive_np,
    "right-rec-np": right_recursive_np,
    "dominates-v": dominates_verb,
    "gapped-s": gapped_s,
    "split-vp": split_vp,
    "tmp-np": temporal_np,
}


def named(names: Iterable[str], more: Mapping[str, Annotation] = MappingProxyType({})) -> list[Annotation]:
    """Return annotations by name, also those of `more`; "klein-manning" names all of this module.

    Raises ConfigError for an unknown name.
    """
    known = {**ANNOTATIONS, **more}
    chosen: list[Annotation] = []
    for name in names:
        if name != "klein-manning" and name not in known:
            raise ConfigError(f"unknown annotation {name!r}; there are {', '.join(known)}, and klein-manning")
        chosen += ANNOTATIONS.values() if name == "klein-manning" else [known[name]]
    return list(dict.fromkeys(chosen))


def annotate(tree: Tree, annotations: Sequence[Annotation]) -> Tree:
    """Return the tree without function tags, with the marks of all annotations on every label but the root's."""
    if not annotations:
        return relabel(tree, category) if any(split_label(node.label)[1] for node in tree.nodes()) else tree
    labels: list[str] = []  # in the order of nodes()
    todo: list[tuple[Tree, tuple[Tree, ...]]] = [(tree, ())]
    while todo:
        node, above = todo.pop()
        marks = (mark(node, above) for mark in annotations if above)
        labels.append(category(node.label) + "".join(marks))
        todo += [(child, (node, *above)) for child in reversed(node.subtrees)]
    last = iter(reversed(labels))
    return tree.fold(lambda tag: Tree(next(last), tag.children), lambda _, children: Tree(next(last), tuple(children)))


def plain(tree: Tree) -> Tree:
    """Return a grammar's tree in the treebank's form, without intermediate nodes and marks."""
    return relabel(remove_intermediate(tree), category)
