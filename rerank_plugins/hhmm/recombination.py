"""A hash table of stores, in which the probabilities of equal stores are summed (recombination).

A store is a stack of elements a/b, and nodes of a tree that grows at the root (`Search.stacks`) represent the stacks of
a step: stacks that are equal are one node. So a store has one integer as its key, whatever its depth: the number of a
stack and the symbol or element above it. Open addressing with linear probing.

A step uses the same arrays as the step before. Slots hold row numbers to which a `base` is added that grows with every
step, so that nothing need be cleared between steps. Nor do tables grow: a step that lacks room is done again with
tables of twice the size (`new_search`), since tables that may be replaced in inner loops cost most of their time.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import LongArray
from rerank_plugins.kit.kernels import part, records

FACTOR = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)

STORE = np.dtype(
    [
        ("total", np.float64), ("viterbi", np.float64), ("spread", np.float64),
        ("before", np.int32), ("event", np.int32), ("kind", np.int32), ("unused", np.int32),
    ]
)  # fmt: skip
CONTRIBUTION = np.dtype(
    [
        ("key", np.int64), ("value", np.float64), ("viterbi", np.float64), ("entropy", np.float64),
        ("event", np.int32), ("kind", np.int32),
    ]
)  # fmt: skip


class Table(NamedTuple):
    """Stores, or stacks, and where to find them.

    `slots` (2 rows) `base` plus the row that hashes there; less than `base` if there is none
    `keys`  what is unique to a row. The key of a stack is the number of the stack below its top element << 32 | the top
            element a << 16 | b
    `rows`  the number of elements of a stack; of a store a record, whose values grow while contributions are added
            (`merge`)

        total   probability of all its derivations
        viterbi  Viterbi probability: that of its best derivation
        spread  Σ c_i (H_i - ln c_i) over its contributions c_i, from which the entropy of derivations is computed
        before, event, kind   the back-pointer of its best derivation
    """

    slots: Any
    keys: Any
    rows: Any


def new_table(rows: int, kind: Any) -> Table:
    """Return an empty table with room for so many rows, a power of two."""
    values = np.empty(rows, kind) if kind is np.int64 else records(rows, kind)
    return Table(np.zeros(2 * rows, np.int64), np.empty(rows, np.int64), values)


@part
def find(slots: LongArray, keys: LongArray, base: int, count: int, key: int) -> int:
    """Return the row of the key; a new key is written to row `count`, which is returned.

    Multiplicative (Fibonacci) hashing.
    """
    mask = len(slots) - 1
    hashed = np.uint64(key) * FACTOR
    place = np.int64(hashed ^ (hashed >> HALF)) & mask
    while slots[place] >= base:
        row = slots[place] - base
        if keys[row] == key:
            return row  # type: ignore[no-any-return]
        place = (place + 1) & mask
    slots[place] = base + count
    keys[count] = key
    return count


@part
def merge(table: Table, base: int, count: int, parts: NDArray[Any], size: int, before: int, entropies: bool) -> int:
    """Add the first `size` contributions, which come from the store `before`; return the number of stores.

    It is -1 if the table may lack room for them. A contribution has a key, the probability `value` of all its
    derivations, that of the best one, `viterbi`, their entropy in nats, and the rest of the back-pointer.
    """
    slots, keys, rows = table.slots, table.keys, table.rows
    if count + size > len(keys):
        return -1
    for i in range(size):
        part = parts[i]
        row = find(slots, keys, base, count, part.key)
        store = rows[row]
        if row == count:
            count += 1
            store.total = 0.0
            store.viterbi = -1.0
            store.spread = 0.0
        store.total += part.value
        if entropies:
            store.spread += part.value * (part.entropy - math.log(part.value))
        if part.viterbi > store.viterbi:
            store.viterbi = part.viterbi
            store.before = before
            store.event = part.event
            store.kind = part.kind
    return count


@part
def entropy_of(store: Any) -> float:
    """Return the entropy in nats of the derivations of a store."""
    entropy = store.spread / store.total + math.log(store.total)
    return entropy if entropy > 0.0 else 0.0  # rounding may bring it below


@part
def sift(stores: NDArray[Any], rows: LongArray, place: int, size: int) -> None:
    """Move a row of the heap `rows[:size]` down until no row below it is of a less probable, or equal and later, store.

    So the first row of the heap is that of the least probable store.
    """
    moved = rows[place]
    value = stores[moved].total
    child = 2 * place + 1
    while child < size:
        row = rows[child]
        total = stores[row].total
        if child + 1 < size:
            other = rows[child + 1]
            p = stores[other].total
            if p < total or (p == total and other > row):
                child, row, total = child + 1, other, p
        if value < total or (value == total and moved > row):
            break
        rows[place] = row
        place, child = child, 2 * child + 1
    rows[place] = moved


@part
def best_rows(stores: NDArray[Any], count: int, most: int, rows: LongArray, in_order: bool) -> int:
    """Write to `rows` those of the `most` most probable of the first `count` stores (0: of all); return their number.

    The most probable store comes first, of equals the earlier row: a heapsort (Williams 1964). If the stores need not
    be `in_order`, only the first one is in its place: it is the least probable.
    """
    size = most if 0 < most < count else count
    for row in range(size):
        rows[row] = row
    for place in range(size // 2 - 1, -1, -1):
        sift(stores, rows, place, size)
    for row in range(size, count):
        if stores[row].total > stores[rows[0]].total:
            rows[0] = row
            sift(stores, rows, 0, size)
    for last in range(size - 1 if in_order else 0, 0, -1):
        rows[0], rows[last] = rows[last], rows[0]
        sift(stores, rows, 0, last)
    return size
