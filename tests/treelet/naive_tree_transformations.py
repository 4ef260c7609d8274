"""The transformations of the treelet model one after the other, on trees as objects: the slow twin of transformations.py.

Annotations have inverses; flattening and deletion have none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import count

from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.core.constituency_tree import ROOT, Tree
from rerank_plugins.kit.trees.head_rules import CONJUNCTIONS, HeadRules, english_heads
from rerank_plugins.kit.trees.treebank_cleaning import category, relabel, remove_empty
from rerank_plugins.treelet.label_marks import MARKED, PLAIN, TEMPORAL, is_closed, number_class

CLASSES = frozenset({"CD-YR", "CD-NM", "CD-DC", "CD-MX", "CD-AL"})
MARK = "-GAP"


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


def mark_temporal(tree: Tree, nouns: Collection[str] = TEMPORAL) -> Tree:
    """The tree with temporal nouns marked. `nouns` are in lower case; the case of words in the tree does not matter.

    >>> str(mark_temporal(Tree("NP", (Tree("JJ", ("last",)), Tree("NN", ("Year",))))))
    '(NP (JJ last) (NNT Year))'
    """

    def tag(node: Tree) -> Tree:
        if node.label in MARKED and node.word.lower() in nouns:
            return Tree(MARKED[node.label], node.children)
        return node

    return tree.fold(tag, lambda node, children: Tree(node.label, tuple(children)))


def unmark_temporal(tree: Tree) -> Tree:
    """The inverse of `mark_temporal`."""
    return relabel(tree, lambda label: PLAIN.get(label, label))


def nouns_of(trees: Iterable[Tree], minimum: int = 1, rules: HeadRules | None = None) -> frozenset[str]:
    """The nouns, in lower case, that head at least `minimum` NP-TMPs of a treebank with function tags."""
    counts: Counter[str] = Counter()
    for tree in trees:
        nonempty = remove_empty(tree)
        todo = [lexicalise(nonempty, rules)] if nonempty else []
        while todo:
            node = todo.pop()
            todo.extend(node.children)
            functions = node.label.split("-")[1:]
            if category(node.label) == "NP" and "TMP" in functions and node.head_tag in MARKED:
                counts[node.head_word.lower()] += 1
    return frozenset(word for word, count in counts.items() if count >= minimum)


def mark_numbers(tree: Tree) -> Tree:
    """The tree in which the tag of each number names its class."""

    def tag(node: Tree) -> Tree:
        return Tree(f"CD-{number_class(node.word)}", node.children) if node.label == "CD" else node

    return tree.fold(tag, lambda node, children: Tree(node.label, tuple(children)))


def unmark_numbers(tree: Tree) -> Tree:
    """The inverse of `mark_numbers`."""
    return relabel(tree, lambda label: "CD" if label in CLASSES else label)


def annotate_heads(tree: Tree) -> Tree:
    """The tree with heads in the labels of all nodes but the root.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> print(annotate_heads(*read_trees(["(PP (IN By) (NP (NNS traders)))"])))
    (PP-by (IN-by By) (NP-NNS (NNS traders)))
    """
    head_rules = english_heads()

    def tag(node: Tree) -> tuple[Tree, str]:
        word = normal_form(node.word).lower()
        if not is_closed(node.label, word):
            return node, node.label
        head = word.replace("(", "-LRB-").replace(")", "-RRB-").replace(" ", "_")
        return Tree(f"{node.label}-{head}", node.children), head

    def phrase(node: Tree, below: list[tuple[Tree, str]]) -> tuple[Tree, str]:
        labels = [PLAIN.get(child.label, child.label) for child in node.subtrees]
        head = below[head_rules.head(node.label, labels)][1]
        label = node.label if node.label == ROOT else f"{node.label}-{head}"
        return Tree(label, tuple(child for child, _ in below)), head

    return tree.fold(tag, phrase)[0]


def remove_heads(tree: Tree) -> Tree:
    """The inverse of `annotate_heads`."""
    return relabel(tree, category)


def mark_gaps(tree: Tree) -> Tree:
    """The tree in which each S and SBAR with a gap is marked.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> print(mark_gaps(*read_trees(["(S-to (VP-to (TO to) (VP-VB (VB win))))"])))
    (S-to-GAP (VP-to (TO to) (VP-VB (VB win))))
    """

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        below = [category(child.label) for child in children]
        first = next((name for name in below if name in ("NP", "VP")), "")
        gapped = category(node.label) in ("S", "SBAR") and first == "VP"
        return Tree(node.label + MARK if gapped else node.label, tuple(children))

    return tree.fold(lambda tag: tag, phrase)


def unmark_gaps(tree: Tree) -> Tree:
    """The inverse of `mark_gaps`."""
    return relabel(tree, lambda label: label.removesuffix(MARK) if category(label) in ("S", "SBAR") else label)


def annotate_parents(tree: Tree) -> Tree:
    """The tree in which VPs and the children of the root are marked with the category of their parent.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> print(annotate_parents(*read_trees(["(ROOT (S-VB (VP-VB (VB Go))))"])))
    (ROOT (S-VB^ROOT (VP-VB^S (VB Go))))
    """
    return _renamed(tree, lambda label, mark: label + mark)


def remove_parents(tree: Tree) -> Tree:
    """The inverse of `annotate_parents`."""
    return _renamed(tree, str.removesuffix)


def _renamed(tree: Tree, rename: Callable[[str, str], str]) -> Tree:
    """The tree in which each VP and child of the root has the label `rename(label, "^" + category of the parent)`."""

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        parent = category(node.label)
        relabelled = [
            Tree(rename(child.label, "^" + parent), child.children)
            if parent == ROOT or category(child.label) == "VP"
            else child
            for child in children
        ]
        return Tree(node.label, tuple(relabelled))

    return tree.fold(lambda tag: tag, phrase)


def flatten_nps(tree: Tree) -> Tree:
    """The tree in which an NP under an NP is replaced by its children, unless it is coordinated or in apposition.

    In (NP (NP (NN stock) (NNS sales)) (PP by traders)) the production NNS -> sales can then condition on the PP. An NP
    counts as coordinated or in apposition if it has a conjunction or another NP as a sibling.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> print(flatten_nps(*read_trees(["(NP (NP (NN stock) (NNS sales)) (PP (IN by) (NP (NNS traders))))"])))
    (NP (NN stock) (NNS sales) (PP (IN by) (NP (NNS traders))))
    """

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        below = [category(child.label) for child in children]
        if category(node.label) == "NP" and below.count("NP") == 1 and not CONJUNCTIONS.intersection(below):
            position = below.index("NP")
            children[position : position + 1] = children[position].subtrees
        return Tree(node.label, tuple(children))

    return tree.fold(lambda tag: tag, phrase)


def flatten_sbars(tree: Tree) -> Tree:
    """The tree in which an S directly under an SBAR is replaced by its children, since such an S differs from others.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> print(flatten_sbars(*read_trees(["(SBAR (IN that) (S (NP (PRP it)) (VP (VBZ rains))))"])))
    (SBAR (IN that) (NP (PRP it)) (VP (VBZ rains)))
    """

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        if category(node.label) != "SBAR":
            return Tree(node.label, tuple(children))
        flat: list[Tree] = []
        for child in children:
            flat.extend(child.subtrees if category(child.label) == "S" else [child])
        return Tree(node.label, tuple(flat))

    return tree.fold(lambda tag: tag, phrase)


def flatten_vps(tree: Tree) -> Tree:
    """The tree with one VP for each chain of verbs (will be going); the treebank has a VP for each verb.

    A VP directly over a VP is removed, unless the lower one is conjoined with another VP. The lowest VP keeps its label
    and gets the other children of the upper ones, before and after its own. The main verb and its arguments can then
    condition on the whole chain, as in the paper.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> print(flatten_vps(*read_trees(["(VP-will (MD will) (VP-be (VB be) (VP-VBG (VBG going) (NP-NN (NN home)))))"])))
    (VP-VBG (MD will) (VB be) (VBG going) (NP-NN (NN home)))
    """

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        below = [category(child.label) for child in children]
        if category(node.label) != "VP" or below.count("VP") != 1 or CONJUNCTIONS.intersection(below):
            return Tree(node.label, tuple(children))
        position = below.index("VP")
        lower = children[position]
        return Tree(lower.label, (*children[:position], *lower.subtrees, *children[position + 1 :]))

    return tree.fold(lambda tag: tag, phrase)


def delete_unaries(tree: Tree) -> Tree:
    """The tree in which every phrase but the root has two or more children.

    A chain of unary productions is reduced to its lowest symbol; the root and preterminals are always kept.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> print(delete_unaries(*read_trees(["(ROOT (S (VP (VB Go) (NP (RB home)))))"])))
    (ROOT (VP (VB Go) (RB home)))
    """

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        return children[0] if len(children) == 1 and node.label != ROOT else Tree(node.label, tuple(children))

    return tree.fold(lambda tag: tag, phrase)


def transform(tree):
    """The tree after all transformations, in the paper's order."""
    for change in (mark_temporal, annotate_heads, flatten_nps, mark_numbers, flatten_sbars, flatten_vps, mark_gaps,
                   annotate_parents, delete_unaries):  # fmt: skip
        tree = change(tree)
    return tree


def remove_annotations(tree):
    """The transformed tree with the labels of the treebank; flattened and deleted nodes are not restored."""
    return unmark_temporal(relabel(tree, category))
