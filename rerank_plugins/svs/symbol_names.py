"""Names of symbols lc, made of category and relation, and the less annotated names that replace rare ones.

The category of a phrase or tag is `VP-U-FIN`: its name in the treebank, then marks. The mark -U of a phrase with a
single child is never removed, because such phrases alone have unary rules. A node that binarisation adds is
`@VP-FIN:VBD-BE|PP`: the phrase, its head, and the category of the sibling that was attached last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

from rerank_plugins.core.constituency_tree import ROOT
from rerank_plugins.kit.trees.binarisation import INTERMEDIATE
from rerank_plugins.kit.trees.treebank_cleaning import split_label

HEAD = "ID"  # the relation of a head to its constituent
MODIFIER = "MOD"
UNARY = "-U"
TAG = "-T"  # marks a tag that has the same name as a phrase


def symbol(name: str, relation: str) -> str:
    """The name of a symbol; ROOT has no relation.

    >>> symbol("NP-BASE", "MOD:S<")
    'NP-BASE/MOD:S<'
    """
    return name if name == ROOT else f"{name}/{relation}"


def category_and_relation(name: str) -> tuple[str, str]:
    """The category and the relation in a symbol's name; ROOT has the relation ID, which means nothing there."""
    head, slash, relation = name.rpartition("/")
    return (head, relation) if slash else (name, HEAD)


def intermediate(phrase: str, head: str, sibling: str) -> str:
    """The name of a node that binarisation adds.

    >>> intermediate("VP-FIN", "VBD-BE", "PP")
    '@VP-FIN:VBD-BE|PP'
    """
    return f"{INTERMEDIATE}{phrase}:{head}|{sibling}"


def coarser(name: str) -> str | None:
    """The name with one annotation less; None for a name without annotations.

    An intermediate node loses first the marks of the head, then those of the phrase, then the sibling, then the head.

    >>> coarser("VP-FIN-v"), coarser("VP-U"), coarser("@VP-FIN:VBD|PP"), coarser("@VP:VBD|PP")
    ('VP-FIN', None, '@VP:VBD|PP', '@VP:VBD|')
    """
    if not name.startswith(INTERMEDIATE):
        return _less_marked(name)
    phrase, _, rest = name[1:].partition(":")
    head, _, sibling = rest.rpartition("|")
    if less := _less_marked(head):
        return intermediate(phrase, less, sibling)
    if less := _less_marked(phrase):
        return intermediate(less, head, sibling)
    if sibling:
        return intermediate(phrase, head, "")
    return intermediate(phrase, "", "") if head else None


def _less_marked(name: str) -> str | None:
    plain, marks = split_label(name)
    kept = next((mark for mark in (UNARY, TAG) if f"{marks}-".startswith(f"{mark}-")), "")
    return plain + marks[: marks.rfind("-")] if len(marks) > len(kept) else None


def gathered(counts: Mapping[str, float], less: Callable[[str], str | None], rare: float) -> dict[str, str]:
    """The replacement of each name: a name with a count below `rare` becomes `less(name)`, repeatedly."""
    names = {name: name for name in counts}
    while True:
        totals: dict[str, float] = defaultdict(float)
        for name, count in counts.items():
            totals[names[name]] += count
        steps = {name: next_ for name, total in totals.items() if total < rare and (next_ := less(name)) is not None}
        if not steps:
            return names
        names = {name: steps.get(now, now) for name, now in names.items()}
