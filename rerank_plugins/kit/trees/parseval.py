"""Scores of trees against gold trees: PARSEVAL brackets by EVALB's conventions, and dependency attachment.

Words whose gold tag is one of , : `` '' . (or PUNCT, of Universal Dependencies) are ignored, and so are brackets that
contain no others; the root, preterminals, empty elements and function tags are no part of brackets; ADVP and PRT are
the same label; equal brackets count as often as they occur. Unlike in EVALB, the words must be the same, and crossing
brackets are not counted. Attachment scores are over all words, as in the CoNLL 2018 task.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.kit.trees.treebank_cleaning import ROOTS, category, remove_empty

PUNCTUATION = frozenset({",", ":", "``", "''", ".", "PUNCT"})
SAME = {"PRT": "ADVP"}
Bracket = tuple[str, int, int]  # label, first word, word after the last


@dataclass
class Attachment:
    """Counts of words, punctuation included: all words, and those whose tag, head, or head and relation are correct."""

    words: int = 0
    tags: int = 0
    heads: int = 0
    labelled: int = 0

    def add(self, gold: DependencyTree, predicted: DependencyTree | None) -> None:
        """Count a sentence; without a parse, every word counts as wrong."""
        self.words += len(gold.words)
        if predicted is None:
            return
        tags = predicted.tags or ("_",) * len(predicted.words)
        self.tags += sum(a == b for a, b in zip(gold.tags, tags, strict=True))
        heads = [a == b for a, b in zip(gold.heads, predicted.heads, strict=True)]
        self.heads += sum(heads)
        relations = (a == b for a, b in zip(gold.relations, predicted.relations, strict=True))
        self.labelled += sum(head and relation for head, relation in zip(heads, relations, strict=True))

    def percent(self) -> dict[str, float]:
        """UPOS accuracy, unlabelled and labelled attachment score, each in per cent of the words."""
        counts = {"UPOS": self.tags, "UAS": self.heads, "LAS": self.labelled}
        return {name: 100 * count / max(1, self.words) for name, count in counts.items()}


def brackets(tree: Tree, counted: list[bool]) -> Counter[Bracket]:
    """The labelled brackets of a tree; `counted` is whether positions count each word.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> sorted(brackets(*read_trees(["(ROOT (S (NP-SBJ (PRP It)) (VP (VBZ is)) (. .)))"]), [True, True, False]))
    [('NP', 0, 1), ('S', 0, 2), ('VP', 1, 2)]
    """
    counts: Counter[Bracket] = Counter()
    before = [0, *accumulate(map(int, counted))]  # how many counted words precede each word
    spans = ((i, i + 1) for i in range(len(counted) - 1, -1, -1))  # a fold visits nodes from right to left

    def phrase(node: Tree, below: list[tuple[int, int]]) -> tuple[int, int]:
        first, last = below[0][0], below[-1][1]
        label = category(node.label)
        if label not in ROOTS and before[first] < before[last]:
            counts[SAME.get(label, label), before[first], before[last]] += 1
        return first, last

    tree.fold(lambda tag: next(spans), phrase)
    return counts


@dataclass
class Parseval:
    """Counts summed over sentences."""

    sentences: int = 0  # gold trees
    parsed: int = 0  # sentences that have a tree
    exact: int = 0  # sentences whose brackets equal the gold ones
    gold: int = 0  # brackets of the gold trees
    found: int = 0  # brackets of the trees that are evaluated
    matched: int = 0  # brackets that both have
    words: int = 0  # words that are not ignored
    tags: int = 0  # those of them whose tag is the gold one

    def add(self, gold: Tree, predicted: Tree | None) -> None:
        """Count a sentence; one without a parse has no correct bracket.

        Raises ValueError if the words differ from those of the gold tree.
        """
        self.sentences += 1
        reference = remove_empty(gold)
        if reference is None:
            return
        tags = reference.tags()
        counted = [category(tag) not in PUNCTUATION for tag in tags]
        gold_brackets = brackets(reference, counted)
        self.gold += gold_brackets.total()
        self.words += sum(counted)
        candidate = predicted and remove_empty(predicted)
        if candidate is None:
            return
        if candidate.words() != reference.words():
            words, gold_words = " ".join(candidate.words()), " ".join(reference.words())
            raise ValueError(f"the tree's words {words!r} are not {gold_words!r}")
        candidate_brackets = brackets(candidate, counted)
        self.parsed += 1
        self.exact += candidate_brackets == gold_brackets
        self.found += candidate_brackets.total()
        self.matched += (candidate_brackets & gold_brackets).total()
        self.tags += sum(a == b for a, b, count in zip(tags, candidate.tags(), counted, strict=True) if count)

    def percent(self) -> dict[str, float]:
        """Labelled precision, recall and F1, exact match, accuracy of tags and coverage (sentences with a tree)."""
        precision = 100 * self.matched / max(1, self.found)
        recall = 100 * self.matched / max(1, self.gold)
        return {
            "LP": precision,
            "LR": recall,
            "F1": 2 * precision * recall / max(1e-9, precision + recall),
            "exact": 100 * self.exact / max(1, self.sentences),
            "tags": 100 * self.tags / max(1, self.words),
            "coverage": 100 * self.parsed / max(1, self.sentences),
        }
