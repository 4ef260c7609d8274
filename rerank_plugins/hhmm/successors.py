"""Caches the lists of rules that may follow in a step, for all stores, hypotheses and n-best lists.

There are two kinds of lists, of which only some thousands occur in a text, however many stores need them:

    fillers    the rules q' -> p c of a left child p, for each node q' that an awaited b can become
    openers    the rules q' -> p c of a left child p, by falling P(q' -> p c) times the probability that c, awaited in a
               new element at depth d, begins with the word

The lists are kept one after the other in arrays of fixed size, and found by a key in a hash table. When either is full,
everything is forgotten: memory is bounded, and values do not depend on what is remembered.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rerank_plugins.hhmm.recombination import find
from rerank_plugins.kit.kernels import part

if TYPE_CHECKING:
    from rerank_plugins.hhmm.search_tables import Emission, Rules

LISTS, ENTRIES = 1 << 14, 1 << 20  # 16 MB, of which only what is used is touched
EXPONENTS, HIGHEST = 128, 4  # buckets of binary exponents that rules are sorted into; the exponent of the first bucket
BASE, COUNT, USED = 0, 1, 2  # places of `state`
ENTRY = np.dtype([("rule", np.int32), ("element", np.int32), ("weight", np.float64)])


class Remembered(NamedTuple):
    """The lists that have been computed so far.

    `slots` (2 LISTS), `keys` (LISTS)   a hash table of the lists (recombination.py)
    `bounds`  (LISTS, 2) the entries of each list are bounds[list, 0] to bounds[list, 1]
    `entries` records: the number of a `rule` q' -> p c, the `element` q' << 16 | c, and the `weight`
    `weights` (longest list) and `places` (longest list + EXPONENTS + 1) are overwritten by each new list
    `state`   (3) the base of the slots, the number of lists, the number of entries
    """

    slots: Any
    keys: Any
    bounds: Any
    entries: Any
    weights: Any
    places: Any
    state: Any


def empty_memo(longest: int) -> Remembered:
    """Return an empty memory with room for lists of up to `longest` rules."""
    entries = max(ENTRIES, longest)
    return Remembered(
            np.zeros(2 * LISTS, np.int64), np.empty(LISTS, np.int64), np.empty((LISTS, 2), np.int64),
            np.empty(entries, ENTRY), np.empty(longest), np.empty(longest + EXPONENTS + 1, np.int64),
            np.array([1, 0, 0], np.int64),
        )  # fmt: skip


@part
def number_of(memory: Remembered, key: int, longest: int) -> tuple[int, bool]:
    """Return the number of the list with this key, and whether it is known; else there is room for `longest` rules."""
    state = memory.state
    if state[COUNT] == len(memory.bounds) or state[USED] + longest > len(memory.entries):
        state[BASE] += len(memory.bounds)
        state[COUNT] = state[USED] = 0
    number = find(memory.slots, memory.keys, state[BASE], state[COUNT], key)
    return number, number < state[COUNT]


@part
def end_list(memory: Remembered, number: int, size: int) -> None:
    """End a new list, whose rules are in the first places that were not used."""
    memory.bounds[number, 0] = memory.state[USED]
    memory.state[COUNT] += 1
    memory.state[USED] += size
    memory.bounds[number, 1] = memory.state[USED]


@part
def fillers(memory: Remembered, rules: Rules, b: int, p: int) -> tuple[int, int]:
    """Return where the list of rules of p whose parent can fill an awaited b begins and ends in `entries`.

    The weight of a rule q' -> p c is its probability times U*[b, q'].
    """
    starts, entries, size = rules.starts, memory.entries, rules.expected.shape[1]
    number, known = number_of(memory, -1 - (b * size + p), starts[(p + 1) * size] - starts[p * size])
    if not known:
        place = memory.state[USED]
        for f in range(rules.filled[b], rules.filled[b + 1]):
            pair = p * size + rules.nodes[f]
            for r in range(starts[pair], starts[pair + 1]):
                entry = entries[place]
                entry["rule"], entry["element"] = r, rules.parent[r] << 16 | rules.right[r]
                entry["weight"] = rules.filling[f] * rules.p[r]
                place += 1
        end_list(memory, number, place - memory.state[USED])
    return memory.bounds[number, 0], memory.bounds[number, 1]


@part
def openers(memory: Remembered, rules: Rules, word: Emission, d: int, p: int) -> tuple[int, int]:
    """Return where the list of rules of p that open an element at depth d with the word begins and ends in `entries`.

    The weight of a rule q -> p c is its probability times the probability that c, awaited in a new element q/c, fits in
    the store and begins with the word. Rules of weight zero are left out. The others are sorted by binary exponent (a
    counting sort), so a rule's weight is less than twice that of any rule before it.
    """
    size = rules.expected.shape[1]
    first, after = rules.starts[p * size], rules.starts[(p + 1) * size]
    number, known = number_of(memory, (word.number * len(word.ahead) + d) * size + p, after - first)
    if known:
        return memory.bounds[number, 0], memory.bounds[number, 1]
    rights, chances, entries = rules.right, rules.p, memory.entries
    # Weights and exponents, and the number of weights of each exponent; the last bucket is that of weights of zero.
    weights, counts = memory.weights, memory.places
    for place in range(EXPONENTS + 1):
        counts[place] = 0
    for r in range(first, after):
        row = rules.counted.opens[d, r]
        weight = chances[r] * (word.ahead[d, rights[r]] if row < 0 else word.opened[row])
        exponent = EXPONENTS - 1
        if weight > 0.0:
            exponent = HIGHEST - math.frexp(weight)[1]
            exponent = 0 if exponent < 0 else exponent
            exponent = EXPONENTS - 2 if exponent > EXPONENTS - 2 else exponent
        weights[r - first], counts[EXPONENTS + 1 + r - first] = weight, exponent
        counts[exponent + 1] += 1
    for exponent in range(EXPONENTS):
        counts[exponent + 1] += counts[exponent]
    start = memory.state[USED]
    end_list(memory, number, counts[EXPONENTS - 1])
    for r in range(first, after):
        exponent = counts[EXPONENTS + 1 + r - first]
        if exponent < EXPONENTS - 1:
            entry = entries[start + counts[exponent]]
            counts[exponent] += 1
            entry["rule"] = r
            entry["element"] = rules.parent[r] << 16 | rights[r]
            entry["weight"] = weights[r - first]
    return memory.bounds[number, 0], memory.bounds[number, 1]
