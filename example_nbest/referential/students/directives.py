"""Directives of users: what they want done to whom, said by the shortest path from what was mentioned last.

A directive is drawn as a task (a student, and perhaps a position) and not from the language model: the first path names
every step from the campus, and the second leaves out what the two have in common, as in `set Crookston campus homeroom
two Clark to band brass tuba`.
"""

from __future__ import annotations

import random

from .ontology import Arc

SEED, NUMBER = 7, 144
ONE_PATH, TWO_PATHS = ("remove", "show"), ("set", "add")
TWO = 0.39  # the share of directives with two paths, by which sentences have 7.2 words on the average


def directives(arcs: list[Arc]) -> list[str]:
    """The test directives over the small world, all different."""
    rng = random.Random(SEED)
    paths = _paths(arcs)
    students = [path for path in paths if len(path) == 3 and path[1].startswith("homeroom")]
    positions = [path for path in paths if len(path) > 1 and not path[1].startswith("homeroom")]
    drawn: dict[str, None] = {}
    while len(drawn) < NUMBER:
        first = rng.choice(rng.choice((students, students, positions)))
        words = " ".join(first)
        if rng.random() < TWO:
            second = rng.choice(positions if first in students else students)
            if second[0] != first[0] and rng.random() < 0.8:  # mostly on the same campus
                continue
            words = f"{rng.choice(TWO_PATHS)} {words} to {' '.join(second if second[0] != first[0] else second[1:])}"
        else:
            words = f"{rng.choice(ONE_PATH)} {words}"
        drawn[words] = None
    return list(drawn)


def _paths(arcs: list[Arc]) -> list[tuple[str, ...]]:
    """The labels on the way to every entity, by its first parent."""
    paths: dict[str, tuple[str, ...]] = {"": ()}
    for parent, label, child in arcs:
        paths.setdefault(child, (*paths[parent], label))
    return [path for path in paths.values() if path]


def concepts(text: str, labels: frozenset[str]) -> str:
    """The relation labels of a directive, separated by spaces, those of several words joined: the unit of the error
    rate.

    The function words of the grammar are left out; words that make no label stand for themselves.
    """
    words, joined, at = text.split(), [], 0
    while at < len(words):
        length = next((n for n in (2, 1) if " ".join(words[at : at + n]) in labels), 1)
        label = "_".join(words[at : at + length])
        if words[at : at + length] not in ([word] for word in (*ONE_PATH, *TWO_PATHS, "to")):
            joined.append(label)
        at += length
    return " ".join(joined)
