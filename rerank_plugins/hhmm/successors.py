"""Caches the lists of rules that may follow in a step, for all stores, hypotheses and n-best lists.

There are two kinds of lists, of which only some thousands occur in a text, however many stores need them:

    fillers    the rules q' -> p c for a left child p, and each node q' that an awaited b can become; they depend on the
               grammar alone
    openers    the rules q' -> p c for a left child p, by falling P(q' -> p c) times the probability that c, awaited in
               a new element at depth d, begins with the word; they depend on the word

The lists are kept one after the other in arrays of fixed size, and found by a key in a hash table. When either is full,
everything is forgotten: memory is bounded, and values do not depend on what is remembered.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins.hhmm.recombination import find
from rerank_plugins.kit.bundles import bundled
from rerank_plugins.kit.kernels import first_not_below, part

LISTS, ENTRIES = 1 << 14, 1 << 20  # 16 MB, of which only what is used is touched
EXPONENTS, HIGHEST = 128, 4  # buckets of binary exponents that rules are sorted into; the exponent of the first bucket
BASE, COUNT, USED = 0, 1, 2  # places of `state`
LIST = np.dtype([("key", np.int64), ("start", np.int32), ("end", np.int32)])
ENTRY = np.dtype([("rule", np.int32), ("element", np.int32), ("weight", np.float64)])


class Remembered(NamedTuple):
    """The lists that have been computed so far.

    `slots`   (2 LISTS) the slots of a hash table (recombination.py)
    `lists`   records of its rows: the `key` of a list; its entries are `start` to `end`
    `entries` records: the number of a `rule` q' -> p c, the `element` q' << 16 | c, and the `weight`
    `weights` (longest list) and `places` (longest list + EXPONENTS + 1) are overwritten by each new list
    `state`   (3) the base of the slots, the number of lists, the number of entries
    """

    slots: Any
    lists: Any
    entries: Any
    weights: Any
    places: Any
    state: Any


def nothing_remembered(longest: int) -> Remembered:
    """Return an empty memory with room for lists of up to `longest` rules, bundled."""
    entries = max(ENTRIES, longest)
    return bundled(
        Remembered(
            np.zeros(2 * LISTS, np.int64), np.empty(LISTS, LIST), np.empty(entries, ENTRY),
            np.empty(longest), np.empty(longest + EXPONENTS + 1, np.int64), np.array([1, 0, 0], np.int64),
        )
    )  # fmt: skip


@part
def new_list(memory: Remembered, key: int, longest: int) -> tuple[int, int]:
    """Return the number of a new list, which has room for up to `longest` rules, and the place of its first entry."""
    state = memory.state
    if state[COUNT] == len(memory.lists) or state[USED] + longest > len(memory.entries):
        state[BASE] += len(memory.lists)
        state[COUNT] = state[USED] = 0
    number = find(memory.slots, memory.lists, state[BASE], state[COUNT], key)
    memory.lists[number].start = state[USED]
    return number, state[USED]


@part
def end_list(memory: Remembered, number: int, size: int) -> int:
    """End the new list, which has `size` entries; returns its number."""
    memory.state[COUNT] += 1
    memory.state[USED] += size
    memory.lists[number].end = memory.state[USED]
    return number


@part
def write_fillers(memory: Remembered, rules: Any, key: int, b: int, p: int) -> int:
    """Write the list of rules q' -> p c of each node q' that b becomes, with U*[b, q'] P(q' -> p c).

    Returns the number of the list.
    """
    first, after = rules.starts[p], rules.starts[p + 1]
    parents, rights, chances, entries = rules.parent, rules.right, rules.p, memory.entries
    number, used = new_list(memory, key, after - first)
    size = 0
    nodes, filling = rules.nodes, rules.filling
    for i in range(rules.filled[b], rules.filled[b + 1]):
        node = nodes[i]
        rule = first_not_below(parents, first, after, node)  # the rules of p are sorted by parent
        while rule < after and parents[rule] == node:
            entry = entries[used + size]
            entry.rule = rule
            entry.element = node << 16 | rights[rule]
            entry.weight = filling[i] * chances[rule]
            size += 1
            rule += 1
    return end_list(memory, number, size)


@part
def write_openers(memory: Remembered, rules: Any, word: Any, key: int, d: int, p: int) -> int:
    """Write the list of rules of p that open an element at depth d with the word, by falling weight; return its number.

    The weight of a rule q -> p c is its probability times the probability that c, awaited in a new element q/c, fits in
    the store and begins with the word. Rules of weight zero are left out. The others are sorted by binary exponent (a
    counting sort), so a rule's weight is less than twice that of any rule before it.
    """
    first, after = rules.starts[p], rules.starts[p + 1]
    number, used = new_list(memory, key, after - first)
    parents, rights, chances, entries = rules.parent, rules.right, rules.p, memory.entries
    opens, all_opened, ahead = rules.counted.opens, word.opened, word.ahead
    # Weights and exponents, and the number of weights of each exponent; the last bucket is that of weights of zero.
    weights, counts = memory.weights, memory.places
    for place in range(EXPONENTS + 1):
        counts[place] = 0
    for i in range(after - first):
        r = first + i
        opened = opens[d, r]
        weights[i] = chances[r] * (ahead[d, rights[r]] if opened < 0 else all_opened[opened])
        exponent = EXPONENTS - 1
        if weights[i] > 0.0:
            exponent = min(EXPONENTS - 2, max(0, HIGHEST - math.frexp(weights[i])[1]))
        counts[EXPONENTS + 1 + i] = exponent
        counts[exponent + 1] += 1
    for exponent in range(EXPONENTS):
        counts[exponent + 1] += counts[exponent]
    size = counts[EXPONENTS - 1]
    for i in range(after - first):
        exponent = counts[EXPONENTS + 1 + i]
        if exponent < EXPONENTS - 1:
            entry = entries[used + counts[exponent]]
            counts[exponent] += 1
            entry.rule = first + i
            entry.element = parents[first + i] << 16 | rights[first + i]
            entry.weight = weights[i]
    return end_list(memory, number, size)
