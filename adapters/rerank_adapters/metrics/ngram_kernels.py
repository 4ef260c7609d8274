"""Kernels that count n-gram matches exactly, in a trie of the references' n-grams.

A node of the trie is an n-gram; its child by token t is that n-gram extended by t. The children are stored in one
open-addressing table with the keys (node, token), so equal keys mean equal n-grams and no collision changes a count.
A hypothesis is looked up in the trie from each of its positions as far as its n-grams are in the references; if one is
not, no longer one is either. Time is O(order × length) per text, memory O(order × reference length).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel, part

EMPTY = -1
MULTIPLIER = 0x1E3779B97F4A7C15  # odd, near 2**61 / golden ratio, so that consecutive keys differ in the high bits


@part
def _child(keys: Any, children: Any, mask: int, node: int, token: int, new: int) -> int:
    """Return the child of a node of the trie; if there is none, it is `new`, and added unless that is 0, the root."""
    key = np.int64(node) << 32 | token
    slot = ((key * MULTIPLIER) >> 32) & mask
    while keys[slot] != key and keys[slot] != EMPTY:  # linear probing
        slot = (slot + 1) & mask
    if keys[slot] == key:
        new = children[slot]
    elif new:
        keys[slot], children[slot] = key, new
    return new


@part
def _table_size(ngrams: int) -> int:
    """The smallest power of two from 16 on that is at least twice the number of n-grams."""
    size = 16
    while size < 2 * ngrams:
        size *= 2
    return size


class Matching(NamedTuple):
    """What `match_ngrams` is called with, and room for the job with the most reference tokens."""

    tokens: IntArray
    starts: LongArray
    jobs: LongArray
    matches: LongArray
    # The table of the trie's children, and for each node its occurrences in the present text, and the highest number
    # of them in one reference.
    keys: LongArray
    children: IntArray
    seen: IntArray
    limit: IntArray


def match_ngrams(tokens: IntArray, starts: LongArray, jobs: LongArray, order: int, matches: LongArray) -> None:
    """Compute `matches[h, n - 1]` = Σ over n-grams g of min(count of g in h, highest count of g in one reference).

    A job is (first hypothesis, end, first reference, end) as numbers of sequences; its hypotheses are matched with
    its references. `matches` must hold zeros.
    """
    most = order * int((starts[jobs[:, 3]] - starts[jobs[:, 2]]).max(initial=0))
    keys, children = _table(most)
    seen, limit = np.zeros((2, most + 1), np.int32)
    add_matches(Matching(tokens, starts, jobs, matches, keys, children, seen, limit), order)


@filling_kernel
def add_matches(work: Matching, order: int) -> None:
    """Compute `matches`, see `match_ngrams`."""
    tokens, starts, jobs, keys, children = work.tokens, work.starts, work.jobs, work.keys, work.children
    seen, limit = work.seen, work.limit
    for job in range(len(jobs)):
        # Empty the part of the table that this job needs.
        first_reference, end_reference = jobs[job, 2], jobs[job, 3]
        mask = _table_size(order * (starts[end_reference] - starts[first_reference])) - 1
        for slot in range(mask + 1):
            keys[slot] = EMPTY
        # Insert the n-grams of the references one by one; limit[g] = highest count of g in one of them.
        nodes = 1  # the root
        for r in range(first_reference, end_reference):
            end = starts[r + 1]
            for i in range(starts[r], end):
                node = 0
                for j in range(i, i + order if i + order < end else end):
                    node = _child(keys, children, mask, node, tokens[j], nodes)
                    if node == nodes:
                        limit[node], nodes = 0, nodes + 1
                    seen[node] += 1
            for node in range(nodes):
                limit[node] = seen[node] if seen[node] > limit[node] else limit[node]
                seen[node] = 0
        # Follow each hypothesis through the trie from every position i; an occurrence of an n-gram matches as long as
        # no more of its occurrences have been seen in the hypothesis than `limit` allows (clipping).
        for h in range(jobs[job, 0], jobs[job, 1]):
            end = starts[h + 1]
            for i in range(starts[h], end):
                node = 0
                for j in range(i, i + order if i + order < end else end):
                    node = _child(keys, children, mask, node, tokens[j], 0)
                    if node == 0:
                        break
                    seen[node] += 1
                    if seen[node] <= limit[node]:
                        work.matches[h, j - i] += 1
            for node in range(nodes):
                seen[node] = 0


class Overlaps(NamedTuple):
    """What `overlap_ngrams` is called with, and room for the n-grams of all texts."""

    tokens: IntArray
    starts: LongArray
    matches: IntArray
    # The table of the trie's children, and for each node its occurrences in the present text, and the length of the
    # n-gram less one.
    keys: LongArray
    children: IntArray
    seen: IntArray
    level: IntArray
    # The distinct n-grams of text t are nodes listed[bounds[t]:bounds[t + 1]], with their counts.
    bounds: LongArray
    listed: IntArray
    counts: IntArray


def overlap_ngrams(tokens: IntArray, starts: LongArray, order: int, matches: IntArray) -> None:
    """Compute `matches[i, j, n - 1]` = Σ over n-grams g of min(count of g in i, count of g in j) for all texts i, j.

    The distinct n-grams of every text are listed once, with their counts; then the counts of each text in turn are
    written to a dense array in which the n-grams of the other texts are looked up: O(pairs × distinct n-grams of a
    text). `matches` must hold zeros.
    """
    most = order * int(starts[-1] - starts[0])
    keys, children = _table(most)
    seen, level, listed, counts = np.zeros((4, most + 1), np.int32)
    bounds = np.zeros(len(starts), np.int64)
    work = Overlaps(tokens, starts, matches, keys, children, seen, level, bounds, listed, counts)
    add_overlaps(work, order)


def _table(ngrams: int) -> tuple[LongArray, IntArray]:
    """The keys and children of a trie with room for so many n-grams and no children."""
    size = _table_size(ngrams)
    return np.full(size, EMPTY, np.int64), np.empty(size, np.int32)


@filling_kernel
def add_overlaps(work: Overlaps, order: int) -> None:
    """Compute `matches`, see `overlap_ngrams`."""
    tokens, starts, matches, keys, children = work.tokens, work.starts, work.matches, work.keys, work.children
    seen, level, bounds, listed, counts = work.seen, work.level, work.bounds, work.listed, work.counts
    texts, mask, nodes = len(starts) - 1, len(keys) - 1, 1
    for t in range(texts):
        # Count the n-grams of text t in `seen`, list each at its first occurrence, and set its count back to 0.
        top, end = bounds[t], starts[t + 1]
        for i in range(starts[t], end):
            node = 0
            for j in range(i, i + order if i + order < end else end):
                node = _child(keys, children, mask, node, tokens[j], nodes)
                if node == nodes:
                    nodes += 1
                if seen[node] == 0:
                    listed[top], level[node] = node, j - i
                    top += 1
                seen[node] += 1
        for k in range(bounds[t], top):
            counts[k], seen[listed[k]] = seen[listed[k]], 0
        bounds[t + 1] = top
    for j in range(texts):
        # Write the counts of text j to `seen`, add up the minima with those of texts 0 … j, and clear `seen` again.
        for k in range(bounds[j], bounds[j + 1]):
            seen[listed[k]] = counts[k]
        for i in range(j + 1):
            for k in range(bounds[i], bounds[i + 1]):
                node = listed[k]
                matches[i, j, level[node]] += counts[k] if counts[k] < seen[node] else seen[node]
            for n in range(order):
                matches[j, i, n] = matches[i, j, n]
        for k in range(bounds[j], bounds[j + 1]):
            seen[listed[k]] = 0
