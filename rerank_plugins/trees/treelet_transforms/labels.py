"""Head annotation: every node is marked with its head word if that is of a closed class, else with its head tag.

A preterminal of an open class stays as it is: its head tag is its label. A bracket is marked alike in every spelling.
"""

from __future__ import annotations

from rerank_plugins.trees.cleaning import category, relabel
from rerank_plugins.trees.constituency import ROOT, Tree
from rerank_plugins.trees.heads import PUNCTUATION, HeadRules, english_heads
from rerank_plugins.trees.penn import normal_form
from rerank_plugins.trees.treelet_transforms.tags import PLAIN

# the paper's footnote 3: any punctuation; all inflections of do, be and have; and words with these tags
TAGS = "IN WDT PDT WP WP$ TO WRB RP DT SYM EX POS PRP AUX CC"
VERBS = "VB VBD VBG VBN VBP VBZ"
DO_BE_HAVE = "do does did done doing be am is are was were been being 'm 're 's ai have has had having 've 'd"
_CLOSED_TAGS = PUNCTUATION.union(TAGS.split())
_CLOSED = frozenset((tag, word) for tag in VERBS.split() for word in DO_BE_HAVE.split())


def is_closed(tag: str, word: str) -> bool:
    """Whether a word is of a closed class (`word` in small letters)."""
    return tag in _CLOSED_TAGS or (tag, word) in _CLOSED


def annotate_heads(
    tree: Tree, rules: HeadRules | None = None, known: dict[int, tuple[Tree, str]] | None = None
) -> Tree:
    """The tree with its heads in the labels of all nodes but the root; rules for English unless others are given.

    >>> from rerank_plugins.trees.constituency import read_trees
    >>> print(annotate_heads(*read_trees(["(PP (IN By) (NP (NNS traders)))"])))
    (PP-by (IN-by By) (NP-NNS (NNS traders)))
    """
    found = rules or english_heads()

    def tag(node: Tree) -> tuple[Tree, str]:
        word = normal_form(node.word).lower()
        if not is_closed(node.label, word):
            return node, node.label
        head = word.replace("(", "-LRB-").replace(")", "-RRB-").replace(" ", "_")
        return Tree(f"{node.label}-{head}", node.children), head

    def phrase(node: Tree, below: list[tuple[Tree, str]]) -> tuple[Tree, str]:
        labels = [PLAIN.get(child.label, child.label) for child in node.subtrees]
        head = below[found.head(node.label, labels)][1]
        label = node.label if node.label == ROOT else f"{node.label}-{head}"
        return Tree(label, tuple(child for child, _ in below)), head

    return tree.fold(tag, phrase, known)[0]


def remove_heads(tree: Tree) -> Tree:
    """The tree before `annotate_heads`."""
    return relabel(tree, category)
