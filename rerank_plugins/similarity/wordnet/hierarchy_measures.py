"""Kernels over the hierarchy: the ancestors of each synset, and similarities over the senses of words.

A subsumer of two synsets is an ancestor of both; each synset is an ancestor of itself. The ancestors of a synset are
sorted by number, so that merging two lists yields the subsumers.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.kit.kernels import part

MEASURES = 6  # path, wup, lch, lin, jcn, resnik


@njit(cache=True)
def ancestors(starts: Any, hypernyms: Any) -> tuple[Any, Any, Any]:
    """The (S + 1) `places` of the ancestors of each synset, the ancestors, and their distances (0 for itself)."""
    size = len(starts) - 1
    seen = np.full(size, -1, np.int64)
    queue, steps = np.empty(size, np.int64), np.empty(size, np.int64)
    places = np.zeros(size + 1, np.int64)
    for synset in range(size):
        places[synset + 1] = places[synset] + _climb(synset, synset, starts, hypernyms, seen, queue, steps)
    above, distances = np.empty(places[size], np.int32), np.empty(places[size], np.int32)
    for synset in range(size):
        count = _climb(synset, size + synset, starts, hypernyms, seen, queue, steps)
        order = np.argsort(queue[:count])
        for i in range(count):
            above[places[synset] + i] = queue[order[i]]
            distances[places[synset] + i] = steps[order[i]]
    return places, above, distances


@part
def _climb(synset: int, mark: int, starts: Any, hypernyms: Any, seen: Any, queue: Any, steps: Any) -> int:
    """Collect the ancestors in `queue` with their distances in `steps`, and return their number.

    The search is breadth first, so that the first path to an ancestor is a shortest one; marks in `seen` end cycles,
    which WordNet contains.
    """
    queue[0], steps[0], seen[synset] = synset, 0, mark
    count, at = 1, 0
    while at < count:
        for i in range(starts[queue[at]], starts[queue[at] + 1]):
            hypernym = hypernyms[i]
            if seen[hypernym] != mark:
                seen[hypernym] = mark
                queue[count], steps[count] = hypernym, steps[at] + 1
                count += 1
        at += 1
    return count


@njit(cache=True)
def spread(masses: Any, places: Any, above: Any) -> Any:
    """The (S) sums of the masses of each synset and of all synsets below it, each counted once."""
    total = np.zeros(len(masses))
    for synset in range(len(masses)):
        for i in range(places[synset], places[synset + 1]):
            total[above[i]] += masses[synset]
    return total


@njit(cache=True)
def similarities(
    left_starts: Any, left: Any, right_starts: Any, right: Any,
    places: Any, above: Any, distances: Any, depth: Any, deepest: Any, information: Any, highest: Any,
) -> Any:  # fmt: skip
    """The (MEASURES, n, m) similarities of words: by each measure (model.py), that of their most similar senses."""
    n, m = len(left_starts) - 1, len(right_starts) - 1
    values = np.zeros((MEASURES, n, m))
    own = np.zeros(MEASURES)
    for i in range(n):
        for j in range(m):
            for a in left[left_starts[i] : left_starts[i + 1]]:
                for b in right[right_starts[j] : right_starts[j + 1]]:
                    _of_senses(a, b, places, above, distances, depth, deepest, information, highest, own)
                    for k in range(MEASURES):
                        values[k, i, j] = max(values[k, i, j], own[k])
    return values


@part
def _of_senses(
    a: int, b: int, places: Any, above: Any, distances: Any, depth: Any, deepest: Any, information: Any, highest: Any,
    values: Any,
) -> None:  # fmt: skip
    """Set `values` (MEASURES) to the similarities of synsets a and b, by the equations in model.py."""
    values[:] = 1.0
    # Equal synsets: 1, but the normalised information content for `resnik`.
    if a == b:
        if highest[a] > 0:
            values[5] = information[a] / highest[a]
        return
    # Merge the sorted ancestors: the shortest path, the greatest `wup` and the greatest IC over all subsumers.
    shortest, wup, most = -1, 0.0, 0.0
    i, j = places[a], places[b]
    while i < places[a + 1] and j < places[b + 1]:
        if above[i] < above[j]:
            i += 1
        elif above[i] > above[j]:
            j += 1
        else:
            length = distances[i] + distances[j]
            if shortest < 0 or length < shortest:
                shortest = length
            wup = max(wup, 2 * depth[above[i]] / (length + 2 * depth[above[i]]))
            most = max(most, information[above[i]])
            i += 1
            j += 1
    # Synsets without a subsumer (of different parts of speech, or of one without a hierarchy) are not similar.
    if shortest < 0:
        values[:] = 0.0
        return
    # The other measures in the order of MEASURES in model.py.
    scale = log(2.0 * deepest[a])
    values[0] = 1 / (1 + shortest)
    values[1] = wup
    values[2] = max(0.0, scale - log(1.0 + shortest)) / scale
    both = information[a] + information[b]
    values[3] = min(1.0, 2 * most / both) if both > 0 else 0.0
    values[4] = 1 / (1 + max(0.0, both - 2 * most))
    values[5] = most / highest[a] if highest[a] > 0 else 0.0
