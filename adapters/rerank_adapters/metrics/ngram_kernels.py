"""N-gram matches, counted exactly in a trie of the references' n-grams.

A node is an n-gram; its child by token t is the n-gram lengthened by t. The children are kept in one open-addressing
table keyed by (node, token), so equal keys are equal n-grams: nothing is hashed away. A hypothesis follows the trie
from each of its positions and stops where its n-gram is not in the references: then no longer one is either.
Time is O(order × length) per text, memory O(order × reference length).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

EMPTY = -1
MULTIPLIER = 0x1E3779B97F4A7C15  # odd, near 2**61 / golden ratio: consecutive keys spread over the high bits


@njit(cache=True, nogil=True)
def _slot(keys: Any, key: int, mask: int) -> int:
    """Where `key` is in the table, or the empty slot where it would go."""
    slot = ((key * MULTIPLIER) >> 32) & mask
    while keys[slot] != key and keys[slot] != EMPTY:
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def _table_size(ngrams: int) -> int:
    size = 16
    while size < 2 * ngrams:
        size *= 2
    return size


@njit(cache=True, nogil=True)
def _insert(
    tokens: Any, start: int, end: int, order: int, keys: Any, child: Any, mask: int, nodes: int, seen: Any
) -> int:
    """Add a text's n-grams to the trie of `nodes` nodes, counting each in `seen`; the new number of nodes."""
    for i in range(start, end):
        node = 0
        for j in range(i, min(i + order, end)):
            key = (node << 32) | tokens[j]
            slot = _slot(keys, key, mask)
            if keys[slot] == EMPTY:
                keys[slot] = key
                child[slot] = nodes
                nodes += 1
            node = child[slot]
            seen[node] += 1
    return nodes


@njit(cache=True, nogil=True)
def match_ngrams(tokens: Any, starts: Any, jobs: Any, order: int, matches: Any) -> None:
    """`matches[h, n - 1]` = Σ over n-grams of min(count in h, highest count in a reference), for each job.

    A job is (first hypothesis, end, first reference, end), numbers of sequences.
    """
    largest = 0
    for job in range(len(jobs)):
        largest = max(largest, starts[jobs[job, 3]] - starts[jobs[job, 2]])
    size = _table_size(order * largest)
    keys = np.empty(size, np.int64)
    child = np.empty(size, np.int32)
    seen = np.zeros(order * largest + 1, np.int32)
    limit = np.zeros(order * largest + 1, np.int32)
    for job in range(len(jobs)):
        first_reference, end_reference = jobs[job, 2], jobs[job, 3]
        ngrams = order * (starts[end_reference] - starts[first_reference])
        mask = _table_size(ngrams) - 1
        keys[: mask + 1] = EMPTY
        limit[: ngrams + 1] = 0
        nodes = 1  # the root
        for r in range(first_reference, end_reference):
            nodes = _insert(tokens, starts[r], starts[r + 1], order, keys, child, mask, nodes, seen)
            for node in range(nodes):
                limit[node] = max(limit[node], seen[node])
                seen[node] = 0
        for h in range(jobs[job, 0], jobs[job, 1]):
            seen[:nodes] = 0
            end = starts[h + 1]
            for i in range(starts[h], end):
                node = 0
                for n in range(min(order, end - i)):
                    slot = _slot(keys, (node << 32) | tokens[i + n], mask)
                    if keys[slot] == EMPTY:
                        break
                    node = child[slot]
                    seen[node] += 1
                    if seen[node] <= limit[node]:
                        matches[h, n] += 1
        seen[:nodes] = 0


@njit(cache=True, nogil=True)
def overlap_ngrams(tokens: Any, starts: Any, order: int, matches: Any) -> None:
    """`matches[i, j, n - 1]` = Σ over n-grams of min(count in i, count in j), for all pairs of sequences.

    Every text's distinct n-grams are listed once, with counts; each text in turn then spreads its counts over a
    dense array that the others look into: O(pairs × distinct n-grams of a text).
    """
    texts = len(starts) - 1
    most = order * (starts[texts] - starts[0])
    size = _table_size(most)
    keys = np.empty(size, np.int64)
    keys[:] = EMPTY
    child = np.empty(size, np.int32)
    seen = np.zeros(most + 1, np.int32)
    level = np.zeros(most + 1, np.int8)
    listed = np.empty(most, np.int32)
    counts = np.empty(most, np.int32)
    bounds = np.zeros(texts + 1, np.int64)
    nodes = 1
    for t in range(texts):
        start, end = starts[t], starts[t + 1]
        nodes = _insert(tokens, start, end, order, keys, child, size - 1, nodes, seen)
        top = bounds[t]
        for i in range(start, end):
            node = 0
            for n in range(min(order, end - i)):
                node = child[_slot(keys, (node << 32) | tokens[i + n], size - 1)]
                if seen[node] > 0:
                    listed[top] = node
                    counts[top] = seen[node]
                    level[node] = n
                    seen[node] = 0
                    top += 1
        bounds[t + 1] = top
    for j in range(texts):
        for k in range(bounds[j], bounds[j + 1]):
            seen[listed[k]] = counts[k]
        for i in range(j + 1):
            for k in range(bounds[i], bounds[i + 1]):
                node = listed[k]
                matches[i, j, level[node]] += min(counts[k], seen[node])
            matches[j, i] = matches[i, j]
        for k in range(bounds[j], bounds[j + 1]):
            seen[listed[k]] = 0
