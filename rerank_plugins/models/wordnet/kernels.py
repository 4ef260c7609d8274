"""Kernels over the hierarchy: ancestors of each synset, and similarities over the senses of words.

A subsumer of two synsets is an ancestor of both (each is one of its own). The ancestors of a synset are sorted by
number, so that those of two are found by merging.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numba import njit

MEASURES = 6  # path, wup, lch, lin, jcn, resnik


@njit(cache=True)
def ancestors(starts: Any, hypernyms: Any) -> tuple[Any, Any, Any]:
    """(S + 1) starts, and of each synset its ancestors with the length of the shortest way up, itself with 0."""
    size = len(starts) - 1
    seen = np.full(size, -1, np.int64)
    queue, steps = np.empty(size, np.int64), np.empty(size, np.int64)
    places = np.zeros(size + 1, np.int64)
    for synset in range(size):
        places[synset + 1] = places[synset] + _climb(synset, synset, starts, hypernyms, seen, queue, steps)
    found, distances = np.empty(places[size], np.int32), np.empty(places[size], np.int32)
    for synset in range(size):
        count = _climb(synset, size + synset, starts, hypernyms, seen, queue, steps)
        order = np.argsort(queue[:count])
        found[places[synset] : places[synset + 1]] = queue[:count][order]
        distances[places[synset] : places[synset + 1]] = steps[:count][order]
    return places, found, distances


@njit(cache=True)
def _climb(synset: int, mark: int, starts: Any, hypernyms: Any, seen: Any, queue: Any, steps: Any) -> int:
    """Breadth first, so that the first way to an ancestor is a shortest; cycles, which WordNet has, end."""
    queue[0], steps[0], seen[synset] = synset, 0, mark
    count, at = 1, 0
    while at < count:
        for i in range(starts[queue[at]], starts[queue[at] + 1]):
            above = hypernyms[i]
            if seen[above] != mark:
                seen[above] = mark
                queue[count], steps[count] = above, steps[at] + 1
                count += 1
        at += 1
    return count


@njit(cache=True)
def spread(masses: Any, places: Any, found: Any) -> Any:
    """(S) the mass of each synset and of all below it, each once."""
    total = np.zeros(len(masses))
    for synset in range(len(masses)):
        for i in range(places[synset], places[synset + 1]):
            total[found[i]] += masses[synset]
    return total


@njit(cache=True)
def similarities(
    left_starts: Any, left: Any, right_starts: Any, right: Any,
    places: Any, found: Any, distances: Any, depth: Any, deepest: Any, information: Any, highest: Any,
) -> Any:  # fmt: skip
    """(MEASURES, n, m): of each pair of words the most similar of their senses, by each measure (model.py)."""
    n, m = len(left_starts) - 1, len(right_starts) - 1
    values = np.zeros((MEASURES, n, m))
    own = np.zeros(MEASURES)
    for i in range(n):
        for j in range(m):
            for a in left[left_starts[i] : left_starts[i + 1]]:
                for b in right[right_starts[j] : right_starts[j + 1]]:
                    _of_senses(a, b, places, found, distances, depth, deepest, information, highest, own)
                    for k in range(MEASURES):
                        values[k, i, j] = max(values[k, i, j], own[k])
    return values


@njit(cache=True)
def _of_senses(
    a: int, b: int, places: Any, found: Any, distances: Any, depth: Any, deepest: Any, information: Any, highest: Any,
    values: Any,
) -> None:  # fmt: skip
    values[:] = 1.0
    if a == b:
        if highest[a] > 0:
            values[5] = information[a] / highest[a]
        return
    shortest, wup, most = -1, 0.0, 0.0
    i, j = places[a], places[b]
    while i < places[a + 1] and j < places[b + 1]:
        if found[i] < found[j]:
            i += 1
        elif found[i] > found[j]:
            j += 1
        else:
            length = distances[i] + distances[j]
            if shortest < 0 or length < shortest:
                shortest = length
            wup = max(wup, 2 * depth[found[i]] / (length + 2 * depth[found[i]]))
            most = max(most, information[found[i]])
            i += 1
            j += 1
    if shortest < 0:
        values[:] = 0.0
        return
    scale = log(2.0 * deepest[a])
    values[0] = 1 / (1 + shortest)
    values[1] = wup
    values[2] = max(0.0, scale - log(1.0 + shortest)) / scale
    both = information[a] + information[b]
    values[3] = min(1.0, 2 * most / both) if both > 0 else 0.0
    values[4] = 1 / (1 + max(0.0, both - 2 * most))
    values[5] = most / highest[a] if highest[a] > 0 else 0.0
