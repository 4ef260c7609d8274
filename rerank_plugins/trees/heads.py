"""Head rules: which child of a phrase is its head (Magerman 1995; Collins 1999, Appendix A), from a table.

A line of the table has a category, a direction and candidate labels, separated by blanks or tabs:

    left        the first candidate that is among the children, its leftmost occurrence
    right       … its rightmost occurrence
    left-any    the leftmost child that is any of the candidates
    right-any   … the rightmost
    last        the last child, if it is a candidate

Lines of a category are tried in turn; one without candidates takes the first child from that side, as does the last
line's direction where nothing was found. The category * is for all without lines of their own. Lines that begin with #
are comments. Two things go for all categories: punctuation is no head where there is anything else, and of the two
conjuncts in `X CC Y` the first is the head (Collins, p. 240).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import NamedTuple

from rerank_plugins.errors import FormatError
from rerank_plugins.trees.cleaning import category
from rerank_plugins.trees.constituency import Tree

DIRECTIONS = ("left", "right", "left-any", "right-any", "last")
PUNCTUATION = frozenset({",", ":", ".", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP"})
CONJUNCTIONS = frozenset({"CC", "CONJP"})
REMEMBERED = 50_000  # productions, some 200 bytes each


class HeadRule(NamedTuple):
    """A line of the table."""

    direction: str
    candidates: tuple[str, ...]

    def find(self, labels: Sequence[str]) -> int | None:
        """Index of the head among the labels; None where no candidate is among them."""
        order = range(len(labels)) if self.direction.startswith("left") else range(len(labels) - 1, -1, -1)
        if self.direction == "last":
            order = range(len(labels) - 1, len(labels))
        if not self.candidates:
            return order[0]
        if self.direction in ("left", "right"):
            found = (i for candidate in self.candidates for i in order if labels[i] == candidate)
        else:
            found = (i for i in order if labels[i] in self.candidates)
        return next(found, None)


@dataclass(frozen=True)
class HeadRules:
    """Head rules by category of the phrase."""

    rules: Mapping[str, tuple[HeadRule, ...]]

    def head(self, label: str, children: Sequence[str]) -> int:
        """Index of the head among the children's labels (function tags and annotations are passed over).

        >>> english_heads().head("NP", ["NP", "PP"]), english_heads().head("S-ADV", ["NP-SBJ", "VP", "."])
        (0, 1)
        """
        key = (label, *children)
        if (known := self._known.get(key)) is not None:
            return known
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        found = self._known[key] = self._head(category(label), [category(child) for child in children])
        return found

    @cached_property
    def _known(self) -> dict[tuple[str, ...], int]:
        """Heads of the productions that came so far: most come again."""
        return {}

    def _head(self, label: str, labels: Sequence[str]) -> int:
        able = [i for i, name in enumerate(labels) if name not in PUNCTUATION] or list(range(len(labels)))
        among = [labels[i] for i in able]
        rules = self.rules.get(label) or self.rules["*"]
        found = next((i for rule in rules if (i := rule.find(among)) is not None), None)
        if found is None:
            found = 0 if rules[-1].direction.startswith("left") else len(among) - 1
        if found >= 2 and among[found - 1] in CONJUNCTIONS:
            found -= 2
        return able[found]

    def head_child(self, node: Tree) -> int:
        """Index of the head among the children of a phrase; 0 for a preterminal."""
        return 0 if len(node.children) == 1 else self.head(node.label, [child.label for child in node.subtrees])


def read_head_rules(lines: Iterable[str], path: str = "<head rules>") -> HeadRules:
    """Head rules from a table. Raises FormatError (file and line) for a line that is none, and without rules for *."""
    rules: dict[str, tuple[HeadRule, ...]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        label, *rest = line.split()
        if not rest or rest[0] not in DIRECTIONS:
            found = f"direction {rest[0]!r}" if rest else "no direction"
            wanted = f"expected a direction ({', '.join(DIRECTIONS)}) after {label!r}, found {found}"
            raise FormatError(wanted, path=path, line=number)
        if rest[0] not in ("left", "right") and len(rest) == 1:
            raise FormatError(f"direction {rest[0]!r} of {label!r} wants candidates", path=path, line=number)
        rules[label] = (*rules.get(label, ()), HeadRule(rest[0], tuple(rest[1:])))
    if "*" not in rules:
        raise FormatError("the table has no line for *, the categories without lines of their own", path=path)
    return HeadRules(rules)


@cache
def english_heads() -> HeadRules:
    """The rules for English that come with this package."""
    file = files("rerank_plugins.trees") / "english_heads.tsv"
    return read_head_rules(file.read_text(encoding="utf-8").splitlines(), file.name)
