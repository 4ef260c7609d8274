"""Sums of n-gram posteriors over the hypotheses of n-best lists, one pass per order (numba).

An n-gram is known by the id of its first n - 1 words and its last word: the pair is one int64 key of an exact hash
table (open addressing), so that each order costs O(tokens) whatever its length.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def consensus(words: Any, rows: Any, lists: Any, weights: Any, orders: int, clipped: bool, log: bool) -> Any:
    """(hypotheses, orders): for each n-gram of a hypothesis its posterior in the list (or ln of it), summed.

    `words` (tokens) int64 ids from 0; `rows` (hypotheses + 1) offsets into `words`, `lists` (lists + 1) into `rows`;
    `weights` (hypotheses) posteriors, summing to 1 in each list. `clipped`: the k-th occurrence of an n-gram in a
    sentence is an event of its own, with the mass of the hypotheses that have the n-gram k times or more.
    """
    sums = np.zeros((len(rows) - 1, orders))
    base = words.max() + 1 if len(words) else 1
    for s in range(len(lists) - 1):
        first, last = lists[s], lists[s + 1]
        start, size = rows[first], rows[last] - rows[first]
        slots = 16
        while slots < 2 * size:
            slots *= 2
        gram = np.zeros(size, np.int64)  # id of the n-gram that begins here
        event = np.empty(size, np.int64)
        for n in range(orders):
            keys = np.full(slots, -1, np.int64)
            ids = np.empty(slots, np.int64)
            mass = np.zeros(size)
            seen_in = np.full(size, -1, np.int64)  # the last hypothesis that had the n-gram, and how often
            times = np.zeros(size, np.int64)
            repeat = np.full(size, -1, np.int64)  # from an event to that of one occurrence more
            known = 0
            for h in range(first, last):
                for i in range(rows[h] - start, rows[h + 1] - start - n):
                    key = gram[i] * base + words[start + i + n]
                    slot = ((key * 0x9E3779B97F4A7C1) >> 20) & (slots - 1)
                    while keys[slot] != key and keys[slot] != -1:
                        slot = (slot + 1) & (slots - 1)
                    if keys[slot] == -1:
                        keys[slot], ids[slot] = key, known
                        known += 1
                    e = ids[slot]
                    gram[i] = e
                    times[e] = times[e] + 1 if seen_in[e] == h else 1
                    new, seen_in[e] = seen_in[e] != h, h
                    if clipped:
                        for _ in range(times[e] - 1):
                            if repeat[e] == -1:
                                repeat[e] = known
                                known += 1
                            e = repeat[e]
                    if clipped or new:
                        mass[e] += weights[h]
                    event[i] = e
            for h in range(first, last):
                for i in range(rows[h] - start, rows[h + 1] - start - n):
                    value = mass[event[i]]
                    sums[h, n] += np.log(max(value, 1e-300)) if log else value
    return sums
