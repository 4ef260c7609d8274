"""Sums of n-gram posteriors over the hypotheses of n-best lists, one pass per order (numba).

An n-gram is identified by the id of its first n - 1 words and by its last word. The pair is one int64 key of an exact
hash table (open addressing), so each order costs O(tokens), whatever its length.
"""

from __future__ import annotations

import numpy as np

from rerank_plugins import FloatArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel


def consensus(words: LongArray, rows: LongArray, lists: LongArray, weights: FloatArray, orders: int) -> FloatArray:
    """(hypotheses, orders) sums, over the n-grams of a hypothesis, of their posteriors in the list.

    `words` (tokens) int64 ids from 0; `rows` (hypotheses + 1) offsets into `words`; `lists` (lists + 1) offsets into
    `rows`; `weights` (hypotheses) posteriors, which sum to 1 in each list. The k-th occurrence of an n-gram in a
    sentence is an event of its own, whose mass is that of the hypotheses that have the n-gram k times or more.
    """
    sums = np.zeros((len(rows) - 1, orders))
    size = int(np.diff(rows[lists]).max(initial=0))
    table, events = np.empty((2, table_size(size)), np.int64), np.empty((5, size), np.int64)
    base = int(words.max(initial=0)) + 1
    add_posteriors(words, rows, lists, weights, base, table, events, np.empty(size), sums)
    return sums


def table_size(tokens: int) -> int:
    """Return the number of slots for so many n-grams, at most half of which are taken."""
    return 1 << max(4, (2 * tokens - 1).bit_length())


@filling_kernel
def add_posteriors(
    words: LongArray, rows: LongArray, lists: LongArray, weights: FloatArray, base: int,
    table: LongArray, events: LongArray, mass: FloatArray, sums: FloatArray,
) -> None:  # fmt: skip
    """Add the values of `consensus` to `sums`; `base` is above all words.

    `table` (2, slots), `events` (5, n) and `mass` (n) are overwritten; n is the number of tokens of the longest list.

    It is long, with many arguments, because the orders of n-grams go through one table of events, for which the caller
    has the room.
    """
    keys, ids = table[0], table[1]
    # By position: the id of the n-gram (of the latest order) that begins there, and the event that it stands for.
    gram, event = events[0], events[1]
    # By event: the last hypothesis that had the n-gram, how often it has occurred there so far, and the event of its
    # next occurrence.
    seen_in, times, repeat = events[2], events[3], events[4]
    for s in range(len(lists) - 1):
        # The hypotheses first..last-1 of this list, and where its tokens lie in `words`.
        first, last = lists[s], lists[s + 1]
        start, size = rows[first], rows[last] - rows[first]
        # The size of the hash table: a power of two, at least twice the number of tokens.
        slots = 16
        while slots < 2 * size:
            slots *= 2
        for i in range(size):
            gram[i] = 0
        for n in range(sums.shape[1]):
            # An empty table for this order.
            for slot in range(slots):
                keys[slot] = -1
            for e in range(size):
                mass[e] = 0.0
                seen_in[e] = repeat[e] = -1
                times[e] = 0
            known = 0  # events so far
            # First pass: the mass of each event, the sum of P(e') over the hypotheses e' that have it.
            for h in range(first, last):
                for i in range(rows[h] - start, rows[h + 1] - start - n):
                    # Look the n-gram up by its first n - 1 words and its last one; a new one gets the next id.
                    key = gram[i] * base + words[start + i + n]
                    slot = ((key * 0x9E3779B97F4A7C1) >> 20) & (slots - 1)
                    while keys[slot] != key and keys[slot] != -1:
                        slot = (slot + 1) & (slots - 1)
                    if keys[slot] == -1:
                        keys[slot], ids[slot] = key, known
                        known += 1
                    e = ids[slot]
                    gram[i] = e
                    # Count its occurrences in this hypothesis.
                    times[e] = times[e] + 1 if seen_in[e] == h else 1
                    seen_in[e] = h
                    # Go on to the event of the k-th occurrence, whose mass is P(#_w >= k), and add P(e') to it.
                    for _ in range(times[e] - 1):
                        if repeat[e] == -1:
                            repeat[e] = known
                            known += 1
                        e = repeat[e]
                    mass[e] += weights[h]
                    event[i] = e
            # Second pass: h_n(e), the sum of the masses of the events of e.
            for h in range(first, last):
                for i in range(rows[h] - start, rows[h + 1] - start - n):
                    sums[h, n] += mass[event[i]]
