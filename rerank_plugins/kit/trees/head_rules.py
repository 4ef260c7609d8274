"""Finds the head child of a phrase by a table of head rules (Magerman 1995; Collins 1999, Appendix A).

A line of the table has a category, a direction and candidate labels, separated by spaces or tabs:

    left        the first candidate that is among the children, at its leftmost occurrence
    right       the first candidate that is among the children, at its rightmost occurrence
    left-any    the leftmost child that is a candidate
    right-any   the rightmost child that is a candidate
    last        the last child, if it is a candidate

The lines of a category are tried in turn. A line without candidates takes the first child from its side. If no line
matches, the head is the first child from the side of the last line. The category * stands for all categories without
lines of their own. Lines that begin with # are comments. Two rules hold for all categories: punctuation is a head only
if there is nothing else, and of the two conjuncts in `X CC Y` the first is the head (Collins, p. 240).

No table is asked for phrases that were made from dependencies (dependency_constituents.py): their head is a tag.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import NamedTuple

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.errors import FormatError
from rerank_plugins.kit.remembered import MEGABYTE, Remembered
from rerank_plugins.kit.trees.treebank_cleaning import category

DIRECTIONS = ("left", "right", "left-any", "right-any", "last")
PUNCTUATION = frozenset({",", ":", ".", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP"})
CONJUNCTIONS = frozenset({"CC", "CONJP"})
OPEN_CLASSES = frozenset({"ADJ", "ADV", "INTJ", "NOUN", "PROPN", "VERB"})  # of Universal Dependencies, as the others:
CLOSED_CLASSES = frozenset({"ADP", "AUX", "CCONJ", "DET", "NUM", "PART", "PRON", "SCONJ"})
PARTS_OF_SPEECH = OPEN_CLASSES | CLOSED_CLASSES | {"PUNCT", "SYM", "X"}
REMEMBERED = 10 * MEGABYTE  # of productions and their heads


def is_projection(label: str) -> bool:
    """Whether the label is that of a phrase made from dependencies, such as NOUN.nsubj."""
    part, point, relation = label.partition(".")
    return part in PARTS_OF_SPEECH and bool(point and relation)


class HeadRule(NamedTuple):
    """A line of the table."""

    direction: str
    candidates: tuple[str, ...]

    def find(self, labels: Sequence[str]) -> int | None:
        """The index of the head among the labels; None if none of them is a candidate."""
        order = range(len(labels)) if self.direction.startswith("left") else range(len(labels) - 1, -1, -1)
        if self.direction == "last":
            order = range(len(labels) - 1, len(labels))
        if not self.candidates:
            return order[0]
        if self.direction in ("left", "right"):
            matches = (i for candidate in self.candidates for i in order if labels[i] == candidate)
        else:
            matches = (i for i in order if labels[i] in self.candidates)
        return next(matches, None)


@dataclass(frozen=True)
class HeadRules:
    """Head rules, by the category of the phrase."""

    rules: Mapping[str, tuple[HeadRule, ...]]

    def head(self, label: str, children: Sequence[str]) -> int:
        """The index of the head among the children, given by their labels; function tags and annotations are ignored.

        >>> english_heads().head("NP", ["NP", "PP"]), english_heads().head("S-ADV", ["NP-SBJ", "VP", "."])
        (0, 1)
        """
        key = (label, *children)
        if (known := self._known.get(key)) is not None:
            return known
        self._known.make_room()
        return self._known.keep(key, self._head(category(label), [category(child) for child in children]))

    @cached_property
    def _known(self) -> Remembered[tuple[str, ...], int]:
        """A cache of the heads of productions, most of which occur many times."""
        return Remembered(REMEMBERED)

    def _head(self, label: str, labels: Sequence[str]) -> int:
        if is_projection(label):  # a parser may have made one with several tags, or none
            return next((i for i, name in enumerate(labels) if not is_projection(name)), 0)
        eligible = [i for i, name in enumerate(labels) if name not in PUNCTUATION] or list(range(len(labels)))
        names = [labels[i] for i in eligible]
        rules = self.rules.get(label) or self.rules["*"]
        head = next((i for rule in rules if (i := rule.find(names)) is not None), None)
        if head is None:
            head = 0 if rules[-1].direction.startswith("left") else len(names) - 1
        if head >= 2 and names[head - 1] in CONJUNCTIONS:
            head -= 2
        return eligible[head]

    def head_child(self, node: Tree) -> int:
        """The index of the head among the children of a phrase; 0 for a preterminal."""
        return 0 if len(node.children) == 1 else self.head(node.label, [child.label for child in node.subtrees])


def read_head_rules(lines: Iterable[str], path: str = "<head rules>") -> HeadRules:
    """The head rules in the lines of a table.

    Raises FormatError (with file and line) for a malformed line and for a table without a line for *.
    """
    rules: dict[str, tuple[HeadRule, ...]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        label, *fields = line.split()
        if not fields or fields[0] not in DIRECTIONS:
            actual = f"direction {fields[0]!r}" if fields else "no direction"
            message = f"expected a direction ({', '.join(DIRECTIONS)}) after {label!r}, found {actual}"
            raise FormatError(message, path=path, line=number)
        if fields[0] not in ("left", "right") and len(fields) == 1:
            raise FormatError(f"direction {fields[0]!r} of {label!r} needs candidates", path=path, line=number)
        rules[label] = (*rules.get(label, ()), HeadRule(fields[0], tuple(fields[1:])))
    if "*" not in rules:
        raise FormatError("the table has no line for *, the categories without lines of their own", path=path)
    return HeadRules(rules)


@cache
def english_heads() -> HeadRules:
    """The rules for English in this package."""
    file = files("rerank_plugins.kit.trees") / "english_heads.tsv"
    return read_head_rules(file.read_text(encoding="utf-8").splitlines(), file.name)
