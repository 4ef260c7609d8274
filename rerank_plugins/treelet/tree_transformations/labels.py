"""The transformations that refine the labels of phrases: heads, gapped sentences and parents.

Head annotation adds the head word to the label of a node if the word is of a closed class, and the head tag otherwise.
A preterminal of an open class is unchanged, because its head tag is its label. All spellings of a bracket get the same
mark. Gap annotation marks an S or SBAR that has a VP before any NP, and hence most probably an empty subject. Parent
annotation adds the category of the parent to the labels of VPs and of the children of the root: VP-VBD^S.
"""

from __future__ import annotations

from collections.abc import Callable

from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.core.constituency_tree import ROOT, Known, Tree
from rerank_plugins.kit.trees.head_rules import PUNCTUATION, HeadRules, english_heads
from rerank_plugins.kit.trees.treebank_cleaning import category, relabel
from rerank_plugins.treelet.tree_transformations.tags import PLAIN

# Footnote 3 of the paper: any punctuation; all inflected forms of do, be and have; and words with these tags.
TAGS = "IN WDT PDT WP WP$ TO WRB RP DT SYM EX POS PRP AUX CC"
VERBS = "VB VBD VBG VBN VBP VBZ"
DO_BE_HAVE = "do does did done doing be am is are was were been being 'm 're 's ai have has had having 've 'd"
_CLOSED_TAGS = PUNCTUATION.union(TAGS.split())
_CLOSED = frozenset((tag, word) for tag in VERBS.split() for word in DO_BE_HAVE.split())


def is_closed(tag: str, word: str) -> bool:
    """Whether a word, in lower case, is of a closed class."""
    return tag in _CLOSED_TAGS or (tag, word) in _CLOSED


def annotate_heads(
    tree: Tree, rules: HeadRules | None = None, known: dict[int, tuple[Tree, str]] | None = None
) -> Tree:
    """The tree with heads in the labels of all nodes but the root; the default head rules are for English.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> print(annotate_heads(*read_trees(["(PP (IN By) (NP (NNS traders)))"])))
    (PP-by (IN-by By) (NP-NNS (NNS traders)))
    """
    head_rules = rules or english_heads()

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

    return tree.fold(tag, phrase, known)[0]


def remove_heads(tree: Tree) -> Tree:
    """The inverse of `annotate_heads`."""
    return relabel(tree, category)


MARK = "-GAP"


def mark_gaps(tree: Tree, known: Known | None = None) -> Tree:
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

    return tree.fold(lambda tag: tag, phrase, known)


def unmark_gaps(tree: Tree) -> Tree:
    """The inverse of `mark_gaps`."""
    return relabel(tree, lambda label: label.removesuffix(MARK) if category(label) in ("S", "SBAR") else label)


def annotate_parents(tree: Tree, known: Known | None = None) -> Tree:
    """The tree in which VPs and the children of the root are marked with the category of their parent.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> print(annotate_parents(*read_trees(["(ROOT (S-VB (VP-VB (VB Go))))"])))
    (ROOT (S-VB^ROOT (VP-VB^S (VB Go))))
    """
    return _renamed(tree, lambda label, mark: label + mark, known)


def remove_parents(tree: Tree) -> Tree:
    """The inverse of `annotate_parents`."""
    return _renamed(tree, str.removesuffix)


def _renamed(tree: Tree, rename: Callable[[str, str], str], known: Known | None = None) -> Tree:
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

    return tree.fold(lambda tag: tag, phrase, known)
