"""PARSEVAL: labelled brackets of a tree against those of the gold tree, by EVALB's conventions (COLLINS.prm).

- Words whose gold tag is one of , : `` '' . do not count, and brackets are counted over the words that are left.
- The root (ROOT, TOP, …) is no bracket, nor are preterminals; empty elements and function tags are passed over.
- ADVP and PRT are the same label.
- Equal brackets count as often as they occur (unary chains of one label).
- Brackets without any word that counts are left out.

Left out: EVALB's skipping of sentences whose lengths differ (here words must be the same), bracket crossings.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

from rerank_plugins.trees.cleaning import ROOTS, category, remove_empty
from rerank_plugins.trees.constituency import Tree

PUNCTUATION = frozenset({",", ":", "``", "''", "."})
SAME = {"PRT": "ADVP"}

Bracket = tuple[str, int, int]  # label, first word, word after the last


def brackets(tree: Tree, counted: list[bool]) -> Counter[Bracket]:
    """Labelled brackets over the words that are counted; `counted` has one value per word of the tree.

    >>> from rerank_plugins.trees.constituency import read_trees
    >>> sorted(brackets(*read_trees(["(ROOT (S (NP-SBJ (PRP It)) (VP (VBZ is)) (. .)))"]), [True, True, False]))
    [('NP', 0, 1), ('S', 0, 2), ('VP', 1, 2)]
    """
    found: Counter[Bracket] = Counter()
    before = [0, *accumulate(map(int, counted))]  # words that count before each word
    spans = ((i, i + 1) for i in range(len(counted) - 1, -1, -1))  # a fold goes from right to left

    def phrase(node: Tree, below: list[tuple[int, int]]) -> tuple[int, int]:
        first, last = below[0][0], below[-1][1]
        label = category(node.label)
        if label not in ROOTS and before[first] < before[last]:
            found[SAME.get(label, label), before[first], before[last]] += 1
        return first, last

    tree.fold(lambda tag: next(spans), phrase)
    return found


@dataclass
class Parseval:
    """Brackets of trees against gold ones, summed over sentences; `exact` are sentences with the gold brackets."""

    sentences: int = 0
    parsed: int = 0
    exact: int = 0
    gold: int = 0
    found: int = 0
    matched: int = 0
    words: int = 0
    tags: int = 0

    def add(self, gold: Tree, found: Tree | None) -> None:
        """Count a sentence; one without a parse has no bracket right. Raises ValueError for other words than gold's."""
        self.sentences += 1
        wanted = remove_empty(gold)
        if wanted is None:
            return
        tags = wanted.tags()
        counted = [category(tag) not in PUNCTUATION for tag in tags]
        right = brackets(wanted, counted)
        self.gold += right.total()
        self.words += sum(counted)
        given = found and remove_empty(found)
        if given is None:
            return
        if given.words() != wanted.words():
            raise ValueError(f"the tree's words {' '.join(given.words())!r} are not {' '.join(wanted.words())!r}")
        made = brackets(given, counted)
        self.parsed += 1
        self.exact += made == right
        self.found += made.total()
        self.matched += (made & right).total()
        self.tags += sum(a == b for a, b, count in zip(tags, given.tags(), counted, strict=True) if count)

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
