"""Combinations of marks by definition, rule after rule, in dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import product

from rerank_plugins.constituency.marked_states import LEAST_COUNT, Marks

Rule = tuple[str, ...]  # the labels of the parent and of one or two children


def lacking(counts: Mapping[Rule, float], labels: Iterable[str], marks: Marks) -> dict[Rule, float]:
    """What the count of each combination of head and foot marks lacks if they are independent in each plain rule."""
    head, foot, plain = Counter[Rule](), Counter[Rule](), Counter[Rule]()
    for rule, count in counts.items():
        for sums, name in ((head, marks.head), (foot, marks.foot), (plain, marks.plain)):
            sums[tuple(map(name, rule))] += count  # type: ignore[assignment]
    named = {(marks.head(label), marks.foot(label)): label for label in labels}
    found = {}
    for n, o in product(head, foot):
        r = tuple(map(marks.plain, n))
        if r != tuple(map(marks.plain, o)):
            continue
        expected = head[n] * foot[o] / plain[r]
        rule = tuple(named.get(pair, "") for pair in zip(n, o, strict=True))
        if expected >= LEAST_COUNT and all(rule):
            found[rule] = max(expected - counts.get(rule, 0.0), 0.0)
    return found
