"""Taxonomies of student activities: campuses, their homerooms with students, and their activities (the paper's §5.3).

The small world is outline.txt with 82 students in its homerooms. Larger ones contain it, and have more campuses,
schools with homerooms and activities on each of them, and more students in every homeroom. Some students are
cross-listed in an activity, and no label occurs twice in one place.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

from .pronunciation import made_names, students

SEED = 2009
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
SCHOOLS = ("north", "south", "east", "west", "central", "lakeside", "hillside", "riverside")
CROSS_LISTED = 8  # students of the small world


class Arc(NamedTuple):
    """A child of a concept; the parent of a campus is empty."""

    parent: str
    label: str
    child: str


class Size(NamedTuple):
    """Concepts and students in all; new campuses, schools on each, homerooms of each school; campuses of a district.

    Without districts, campuses are at the top. What concepts are left become activities of the schools.
    """

    concepts: int
    students: int
    campuses: int = 0
    schools: int = 1
    homerooms: int = 1
    district: int = 0


SMALL = Size(158, 82)
LARGE = Size(717, 3458, campuses=11, schools=4, homerooms=5)
HUGE = Size(14_000, 86_000, campuses=90, schools=8, homerooms=10, district=10)


def small_world() -> list[Arc]:
    """The 240 entities of the small world."""
    arcs: list[Arc] = []
    path: list[str] = []
    homerooms: list[str] = []
    for line in (Path(__file__).parent / "outline.txt").read_text(encoding="utf-8").splitlines():
        level = (len(line) - len(line.lstrip())) // 2
        label = line.strip()
        del path[level:]
        parent = path[-1] if path else ""
        name = f"{parent}/{label.removesuffix(' campus')}".strip("/").replace(" ", "-")
        arcs.append(Arc(parent, label, name))
        path.append(name)
        if label.startswith("homeroom"):
            homerooms.append(name)
    rng = random.Random(SEED)
    names = list(students())
    rng.shuffle(names)
    placed = [Arc(homerooms[i % len(homerooms)], name, name) for i, name in enumerate(sorted(names))]
    groups = [arc.child for arc in arcs if arc.child.count("/") == 2 and "homeroom" not in arc.child]
    listed = []
    for student in rng.sample(placed, CROSS_LISTED):
        campus = student.parent.partition("/")[0]
        group = rng.choice([group for group in groups if group.startswith(campus)])
        listed.append(Arc(group, student.label, student.child))
    return [*arcs, *placed, *listed]


def world(size: Size) -> list[Arc]:
    """The arcs of a world of this size; the small world's come first."""
    arcs = small_world()
    rng = random.Random(SEED + size.concepts)
    activities = _activities(arcs)
    surnames = [name for name, *_ in made_names()]
    rng.shuffle(surnames)
    places = iter([*surnames[::-1], *surnames])
    homerooms = [arc.child for arc in arcs if "homeroom" in arc.label]
    concepts, used = SMALL.concepts, {arc.label for arc in arcs}
    units: list[str] = []
    district = ""
    for number in range(size.campuses):
        if size.district and number % size.district == 0:
            district = next(name for name in places if name not in used)
            used.add(district)
            arcs.append(Arc("", f"{district} district", f"{district}-district"))
            district += "-district"
            concepts += 1
        place = next(name for name in places if f"{name} campus" not in used)
        used.add(f"{place} campus")
        arcs.append(Arc(district, f"{place} campus", place))
        concepts += 1
        for school in SCHOOLS[: size.schools]:
            unit = f"{place}/{school}"
            arcs.append(Arc(place, f"{school} school", unit))
            units.append(unit)
            concepts += 1
            for room in NUMBERS[: size.homerooms]:
                arcs.append(Arc(unit, f"homeroom {room}", f"{unit}/homeroom-{room}"))
                homerooms.append(arcs[-1].child)
                concepts += 1
    turn, known = 0, {arc.child for arc in arcs}
    while concepts < size.concepts:  # an activity with its positions, for one school after another
        unit, group = units[turn % len(units)], activities[(turn // len(units) + turn) % len(activities)]
        turn += 1
        for level, label in group[: size.concepts - concepts]:
            parent = unit if level == 0 else f"{unit}/{'/'.join(x for _, x in _ancestors(group, (level, label)))}"
            child = f"{parent}/{label}".replace(" ", "-")
            if child not in known:
                known.add(child)
                arcs.append(Arc(parent.replace(" ", "-"), label, child))
                concepts += 1
    there: dict[str, set[str]] = {}
    for arc in arcs:
        there.setdefault(arc.parent, set()).add(arc.label)
    for number in range(size.students - SMALL.students):
        homeroom = homerooms[number % len(homerooms)]
        name = surnames[number % len(surnames)]
        while name in there.setdefault(homeroom, set()):
            name = rng.choice(surnames)
        there[homeroom].add(name)
        arcs.append(Arc(homeroom, name, f"{name}-{number + 1}"))
    return arcs


def _activities(arcs: list[Arc]) -> list[list[tuple[int, str]]]:
    """The groups of the small world's campuses, each with all below it as (level, label)."""
    groups: list[list[tuple[int, str]]] = []
    for arc in arcs:
        level = arc.child.count("/") - 2
        if not arc.parent or "homeroom" in arc.child or "/" not in arc.child or level < -1:
            continue
        if level == -1:
            groups.append([])
        elif groups:
            groups[-1].append((level, arc.label))
    split: list[list[tuple[int, str]]] = []
    for group in groups:
        for level, label in group:
            if level == 0:
                split.append([])
            split[-1].append((level, label))
    return split


def _ancestors(group: list[tuple[int, str]], item: tuple[int, str]) -> list[tuple[int, str]]:
    """The labels above an item of a group, from the top."""
    above: list[tuple[int, str]] = []
    for level, label in group[: group.index(item)]:
        del above[level:]
        above.append((level, label))
    return above[: item[0]]


def write_csv(arcs: list[Arc], path: Path) -> None:
    """Write a world as a table, which the referential model reads."""
    rows = ["parent,label,child", *(",".join(arc) for arc in arcs)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
