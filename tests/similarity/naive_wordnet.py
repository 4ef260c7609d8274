"""Slow, obvious twin of the measures over WordNet's hierarchies, on dictionaries of names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log


def ways_up(synset: str, hypernyms: Mapping[str, Sequence[str]], seen: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every way from a synset upwards, of every length, none through a synset twice."""
    ways = [(*seen, synset)]
    for above in hypernyms[synset]:
        if above not in ways[0]:
            ways += ways_up(above, hypernyms, ways[0])
    return ways


def distances(synset: str, hypernyms: Mapping[str, Sequence[str]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for way in ways_up(synset, hypernyms):
        found[way[-1]] = min(found.get(way[-1], len(way)), len(way) - 1)
    return found


def measures(
    a: str, b: str, hypernyms: Mapping[str, Sequence[str]], masses: Mapping[str, float], root: str
) -> dict[str, float]:
    """By name; `masses` of the synsets alone, all of one hierarchy below `root`."""
    up = {synset: distances(synset, hypernyms) for synset in hypernyms}
    depth = {synset: up[synset][root] + 1 for synset in hypernyms}
    mass = {s: sum(masses[other] for other in hypernyms if s in up[other]) for s in hypernyms}
    ic = {s: -log(mass[s] / mass[root]) for s in hypernyms}
    common = up[a].keys() & up[b].keys()
    length = min(up[a][c] + up[b][c] for c in common)
    deepest = max(len(way) for synset in hypernyms for way in ways_up(synset, hypernyms))
    most = max(ic[c] for c in common)
    if a == b:
        return dict.fromkeys(("path", "wup", "lch", "lin", "jcn"), 1.0) | {"resnik": ic[a] / max(ic.values())}
    return {
        "path": 1 / (1 + length),
        "wup": max(2 * depth[c] / (up[a][c] + up[b][c] + 2 * depth[c]) for c in common),
        "lch": -log((1 + length) / (2 * deepest)) / log(2 * deepest),
        "lin": 2 * most / (ic[a] + ic[b]) if ic[a] + ic[b] else 0.0,
        "jcn": 1 / (1 + ic[a] + ic[b] - 2 * most),
        "resnik": most / max(ic.values()),
    }
