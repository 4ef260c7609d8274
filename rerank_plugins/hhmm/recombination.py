"""A hash table of stores, in which the probabilities of equal stores are summed (recombination).

A store is a stack of elements a/b, and nodes of a tree that grows at the root (`Stacks`) represent the stacks of a
step: stacks that are equal are one node. So a store has one integer as its key, whatever its depth: the number of a
stack and the symbol or element above it. Open addressing with linear probing.

A step uses the same arrays as the step before. Slots hold row numbers to which a `base` is added that grows with every
step, so that nothing need be cleared between steps. Nor do tables grow: a step that lacks room is done again with
tables of twice the size (`Workspace`), since tables that may be replaced in inner loops cost most of their time.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import FloatArray, IntArray
from rerank_plugins.kit.bundles import bundled
from rerank_plugins.kit.kernels import part

FACTOR = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)


STACK = np.dtype([("key", np.int64), ("depth", np.int64)])
STORE = np.dtype(
    [
        ("key", np.int64), ("total", np.float64), ("likely", np.float64), ("spread", np.float64),
        ("before", np.int32), ("event", np.int32), ("kind", np.int32), ("unused", np.int32),
    ]
)  # fmt: skip
PART = np.dtype(
    [
        ("key", np.int64), ("value", np.float64), ("likely", np.float64), ("entropy", np.float64),
        ("event", np.int32), ("kind", np.int32),
    ]
)  # fmt: skip


class Table(NamedTuple):
    """Stores, or stacks, and where to find them.

    `slots` (2 rows) `base` plus the row that hashes there; less than `base` if there is none
    `rows`  records, of a table of stacks or of stores. A stack is

        key     number of the stack below the top element << 32 | the top element a << 16 | b
        depth   its number of elements

    and a store, whose values grow while contributions are added to it (`merge`)

        key     what is unique to it
        total   probability of all its derivations
        likely  Viterbi probability: that of its best derivation
        spread  Σ c_i (H_i - ln c_i) over its contributions c_i, from which the entropy of derivations is computed
        before, event, kind   the back-pointer of its best derivation
    """

    slots: Any
    rows: Any


@part
def lookup(slots: Any, rows: Any, base: int, key: int) -> Any:
    """Return the row of the key; if it is not there, -1 minus the slot that it would take.

    Multiplicative (Fibonacci) hashing.
    """
    mask = len(slots) - 1
    hashed = np.uint64(key) * FACTOR
    place = np.int64(hashed ^ (hashed >> HALF)) & mask
    while True:
        row = slots[place] - base
        if row < 0:
            return -1 - place
        if rows[row].key == key:
            return row
        place = (place + 1) & mask


@part
def find(slots: Any, rows: Any, base: int, count: int, key: int) -> Any:
    """Return the row of the key; a new key is written to row `count`, which is returned."""
    row = lookup(slots, rows, base, key)
    if row < 0:
        slots[-1 - row] = base + count
        rows[count].key = key
        row = count
    return row


@part
def merge(slots: Any, rows: Any, base: int, count: int, parts: Any, size: int, before: int, entropies: bool) -> int:
    """Add the first `size` contributions, which come from the store `before`; return the number of stores.

    It is -1 if the table may lack room for them. A contribution has a key, the probability `value` of all its
    derivations, that of the best one, `likely`, their entropy in nats, and the rest of the back-pointer.
    """
    if count + size > len(rows):
        return -1
    for i in range(size):
        part = parts[i]
        row = find(slots, rows, base, count, part.key)
        store = rows[row]
        if row == count:
            count += 1
            store.total = 0.0
            store.likely = -1.0
            store.spread = 0.0
        store.total += part.value
        if entropies:
            store.spread += part.value * (part.entropy - math.log(part.value))
        if part.likely > store.likely:
            store.likely = part.likely
            store.before = before
            store.event = part.event
            store.kind = part.kind
    return count


@part
def nth_highest(values: Any, count: int, n: int) -> float:
    """Return the n-th highest of the first `count` values (n from 1), which are moved: Hoare's selection (1961)."""
    low, high, target = 0, count - 1, count - n
    while low < high:
        pivot = values[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i, j = i + 1, j - 1
        if target <= j:
            high = j
        elif target >= i:
            low = i
        else:
            break
    return float(values[target])


@part
def nth_total(table: Any, count: int, n: int, values: Any) -> float:
    """Return the n-th highest probability of the first `count` stores; `values` (count or more) is overwritten."""
    for row in range(count):
        values[row] = table[row].total
    return nth_highest(values, count, n)


@part
def sort_rows(table: Any, rows: Any, size: int, spare: Any) -> None:
    """Sort the first `size` rows by their probabilities, the highest first; of equals, the one that stood first.

    A merge sort; `spare` (size or more) is overwritten.
    """
    width = 1
    while width < size:
        for start in range(0, size, 2 * width):
            i, middle, end = start, min(start + width, size), min(start + 2 * width, size)
            j = middle
            for place in range(start, end):
                if i < middle and (j >= end or table[rows[i]].total >= table[rows[j]].total):
                    spare[place] = rows[i]
                    i += 1
                else:
                    spare[place] = rows[j]
                    j += 1
        for place in range(size):
            rows[place] = spare[place]
        width *= 2


@part
def best_rows(table: Any, count: int, most: int, rows: Any, spare: Any, values: Any) -> int:
    """Write to `rows` those of the `most` most probable stores (0: of all) in descending order; return their number.

    Of equals, the earlier row comes first. Linear time, but for the sort of the rows that are kept; `spare` and
    `values` are overwritten.
    """
    bound, ties = -math.inf, count
    if 0 < most < count:
        bound = nth_total(table, count, most, values)
        ties = most
        for row in range(count):
            ties -= table[row].total > bound
    size = 0
    for row in range(count):
        p = table[row].total
        if p > bound or (p == bound and ties > 0):
            ties -= p == bound
            rows[size] = row
            size += 1
    sort_rows(table, rows, size, spare)
    return size


ROWS = 1 << 12  # stores of a table at first


class Stores(NamedTuple):
    """Stores after a word, with their values and back-pointers, as in `Beam` (model.py)."""

    stores: IntArray
    values: FloatArray
    likely: FloatArray
    entropy: FloatArray
    back: IntArray


class Workspace(NamedTuple):
    """Tables of the parts of a step (transitions.py), all of the same size, and the contributions of one store.

    In `last_use` (rules), transitions.py notes which rules were counted; `order`, `spare` and `values` (rows) serve the
    sorting of stores. `clock` (1) is the base of the slots in the next step (recombination.py). `after` is the result.
    """

    stacks: Table
    promoted: Table
    awaiting: Table
    emitted: Table
    parts: Any
    last_use: Any
    order: Any
    spare: Any
    values: Any
    clock: Any
    after: Stores


def new_workspace(most: int, rules: int, depth: int, rows: int = ROWS) -> Workspace:
    """Return empty tables of `rows` stores, a power of two, for stores of up to `most` contributions each, bundled."""
    stacks, promoted, awaiting, emitted = (
        Table(np.zeros(2 * rows, np.int64), np.empty(rows, kind)) for kind in (STACK, STORE, STORE, STORE)
    )
    order, spare = np.empty((2, rows), np.int64)
    last_use = np.full(rules, -1, np.int64)
    parts, values, clock = np.empty(most, PART), np.empty(rows), np.ones(1, np.int64)
    sums, likely, entropy = np.empty((3, rows))
    after = Stores(np.empty((rows, depth + 1), np.int32), sums, likely, entropy, np.empty((rows, 5), np.int32))
    return bundled(Workspace(stacks, promoted, awaiting, emitted, parts, last_use, order, spare, values, clock, after))
