"""The transformations that refine the tags of words: temporal nouns and classes of numbers.

Nouns that head NP-TMP constituents get tags of their own: NN -> NNT, NNS -> NNTS, NNP -> NNTP. The paper marks every
noun that heads an NP-TMP at least once in the treebank. Few treebanks have that label, so this module has a list of
calendar words; `nouns_of` extracts a list from a treebank with the label. Numbers (CD) fall into five classes:
CD-YR, CD-NM, CD-DC, CD-MX and CD-AL.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import count

from rerank_plugins.core.constituency_tree import Known, Tree
from rerank_plugins.kit.trees.head_rules import HeadRules, english_heads
from rerank_plugins.kit.trees.treebank_cleaning import category, relabel, remove_empty


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


CALENDAR = """
second seconds minute minutes hour hours day days week weeks weekend weekends fortnight month months quarter quarters
year years decade decades century centuries moment moments time times season seasons today tonight tomorrow yesterday
morning mornings noon afternoon afternoons evening evenings night nights midnight a.m. p.m. am pm spring summer autumn
fall winter monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays
saturdays sundays mon tue tues wed thu thur thurs fri sat sun january february march april may june july august
september october november december jan jan. feb feb. mar mar. apr apr. jun jun. jul jul. aug aug. sep sep. sept sept.
oct oct. nov nov. dec dec. christmas easter thanksgiving halloween
"""
TEMPORAL = frozenset(CALENDAR.split())
MARKED = {"NN": "NNT", "NNS": "NNTS", "NNP": "NNTP", "NNPS": "NNTPS"}
PLAIN = {marked: plain for plain, marked in MARKED.items()}


def mark_temporal(tree: Tree, nouns: Collection[str] = TEMPORAL, known: Known | None = None) -> Tree:
    """The tree with temporal nouns marked. `nouns` are in lower case; the case of words in the tree does not matter.

    >>> str(mark_temporal(Tree("NP", (Tree("JJ", ("last",)), Tree("NN", ("Year",))))))
    '(NP (JJ last) (NNT Year))'
    """

    def tag(node: Tree) -> Tree:
        if node.label in MARKED and node.word.lower() in nouns:
            return Tree(MARKED[node.label], node.children)
        return node

    return tree.fold(tag, lambda node, children: Tree(node.label, tuple(children)), known)


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


CLASSES = frozenset({"CD-YR", "CD-NM", "CD-DC", "CD-MX", "CD-AL"})


def number_class(word: str) -> str:
    """YR: four digits (mostly years); NM: digits; DC: with a decimal point; MX: letters and digits; AL: no digit.

    Characters other than letters, digits and the point are ignored: 1,000 and 2/3 are NM, twenty-five is AL.

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
    """The tree in which the tag of each number names its class."""

    def tag(node: Tree) -> Tree:
        return Tree(f"CD-{number_class(node.word)}", node.children) if node.label == "CD" else node

    return tree.fold(tag, lambda node, children: Tree(node.label, tuple(children)), known)


def unmark_numbers(tree: Tree) -> Tree:
    """The inverse of `mark_numbers`."""
    return relabel(tree, lambda label: "CD" if label in CLASSES else label)
