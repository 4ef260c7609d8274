"""Kernels that count n-gram matches exactly, in a trie of the references' n-grams.

A node of the trie is an n-gram; its child by token t is that n-gram extended by t. The children are stored in one
open-addressing table with the keys (node, token), so equal keys mean equal n-grams and no collision changes a count.
A hypothesis is looked up in the trie from each of its positions as far as its n-grams are in the references; if one is
not, no longer one is either. Time is O(order × length) per text, memory O(order × reference length).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.kit.kernels import part

EMPTY = -1
MULTIPLIER = 0x1E3779B97F4A7C15  # odd, near 2**61 / golden ratio, so that consecutive keys differ in the high bits


@part
def _slot(keys: Any, key: int, mask: int) -> int:
    """The slot of `key` in the table, or the empty slot where it would be inserted (linear probing)."""
    slot = ((key * MULTIPLIER) >> 32) & mask
    while keys[slot] != key and keys[slot] != EMPTY:
        slot = (slot + 1) & mask
    return slot


@part
def _table_size(ngrams: int) -> int:
    """The smallest power of two from 16 on that is at least twice the number of n-grams."""
    size = 16
    while size < 2 * ngrams:
        size *= 2
    return size


@part
def _insert(
    tokens: Any, start: int, end: int, order: int, keys: Any, child: Any, mask: int, nodes: int, seen: Any
) -> int:
    """Add the n-grams of a text to a trie of `nodes` nodes and count them in `seen`; return the new number of nodes."""
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
    """Compute `matches[h, n - 1]` = Σ over n-grams g of min(count of g in h, highest count of g in one reference).

    A job is (first hypothesis, end, first reference, end) as numbers of sequences; its hypotheses are matched with
    its references. `matches` must hold zeros.
    """
    # Allocate the trie once, for the job with the most reference tokens.
    largest = 0
    for job in range(len(jobs)):
        largest = max(largest, starts[jobs[job, 3]] - starts[jobs[job, 2]])
    size = _table_size(order * largest)
    keys = np.empty(size, np.int64)
    child = np.empty(size, np.int32)
    seen = np.zeros(order * largest + 1, np.int32)
    limit = np.zeros(order * largest + 1, np.int32)
    for job in range(len(jobs)):
        # Empty the part of the table that this job needs.
        first_reference, end_reference = jobs[job, 2], jobs[job, 3]
        ngrams = order * (starts[end_reference] - starts[first_reference])
        mask = _table_size(ngrams) - 1
        keys[: mask + 1] = EMPTY
        limit[: ngrams + 1] = 0
        # Insert the references one by one; limit[g] = highest count of g in one of them.
        nodes = 1  # the root
        for r in range(first_reference, end_reference):
            nodes = _insert(tokens, starts[r], starts[r + 1], order, keys, child, mask, nodes, seen)
            for node in range(nodes):
                limit[node] = max(limit[node], seen[node])
                seen[node] = 0
        # Follow each hypothesis through the trie from every position i; an occurrence of an n-gram matches as long as
        # no more of its occurrences have been seen in the hypothesis than `limit` allows (clipping).
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
    """Compute `matches[i, j, n - 1]` = Σ over n-grams g of min(count of g in i, count of g in j) for all texts i, j.

    The distinct n-grams of every text are listed once, with their counts; then the counts of each text in turn are
    written to a dense array in which the n-grams of the other texts are looked up: O(pairs × distinct n-grams of a
    text). `matches` must hold zeros.
    """
    # Allocate one trie for the n-grams of all texts.
    texts = len(starts) - 1
    most = order * (starts[texts] - starts[0])
    size = _table_size(most)
    keys = np.empty(size, np.int64)
    keys[:] = EMPTY
    child = np.empty(size, np.int32)
    seen = np.zeros(most + 1, np.int32)
    level = np.zeros(most + 1, np.int8)
    # The distinct n-grams of text t are nodes listed[bounds[t]:bounds[t + 1]], with their counts.
    listed = np.empty(most, np.int32)
    counts = np.empty(most, np.int32)
    bounds = np.zeros(texts + 1, np.int64)
    nodes = 1
    for t in range(texts):
        # Count the n-grams of text t in `seen`, then list each at its first occurrence and set its count back to 0.
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
        # Write the counts of text j to `seen`, add up the minima with those of texts 0 … j, and clear `seen` again.
        for k in range(bounds[j], bounds[j + 1]):
            seen[listed[k]] = counts[k]
        for i in range(j + 1):
            for k in range(bounds[i], bounds[i + 1]):
                node = listed[k]
                matches[i, j, level[node]] += min(counts[k], seen[node])
            matches[j, i] = matches[i, j]
        for k in range(bounds[j], bounds[j + 1]):
            seen[listed[k]] = 0
