"""A hash table of stores: the probabilities of equal stores add up (recombination).

A store is a row of D + 1 int32: its elements a/b, packed as a << 16 | b from the bottom of the store up, -1 for an
element that does not exist, then the symbol that has just been completed above them (-1 between a transition and the
next word). Open addressing with linear probing. A table that is full is replaced by one of twice the size.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

FACTOR = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


@njit(cache=True, nogil=True, inline="always")
def _hash(key: Any) -> Any:
    """Return a multiplicative (Fibonacci) hash of a row of int32."""
    value = np.uint64(0)
    for i in range(len(key)):
        value = (value ^ np.uint64(np.uint32(key[i]))) * FACTOR
        value ^= value >> SHIFT
    return value


@njit(cache=True, nogil=True)
def find(slots: Any, stores: Any, count: int, key: Any) -> int:
    """Return the row of the store that equals the key; a new key is copied into row `count`, which is returned."""
    mask = np.uint64(len(slots) - 1)
    place = _hash(key) & mask
    while True:
        row = slots[place]
        if row < 0:
            slots[place] = count
            for i in range(len(key)):
                stores[count, i] = key[i]
            return count
        same = True
        for i in range(len(key)):
            if stores[row, i] != key[i]:
                same = False
                break
        if same:
            return int(row)
        place = (place + np.uint64(1)) & mask


@njit(cache=True, nogil=True)
def fill(slots: Any, stores: Any, count: int) -> None:
    """Empty the slots and hash the first `count` stores, which are distinct, into them."""
    for place in range(len(slots)):
        slots[place] = -1
    mask = np.uint64(len(slots) - 1)
    for row in range(count):
        place = _hash(stores[row]) & mask
        while slots[place] >= 0:
            place = (place + np.uint64(1)) & mask
        slots[place] = row


class Table(NamedTuple):
    """Stores and their values while contributions are added to them.

    `slots`   (2 rows) the row of the store that hashes there, -1 if none
    `stores`  (rows, width) distinct stores
    `sums`    (rows) probability of all derivations of a store
    `likely`  (rows) probability of its best derivation
    `spread`  (rows) Σ c_i (H_i - ln c_i) over its contributions c_i, from which the entropy of derivations is computed
    `back`    (rows, 3) back-pointer of the best derivation
    """

    slots: Any
    stores: Any
    sums: Any
    likely: Any
    spread: Any
    back: Any


@njit(cache=True, nogil=True)
def new_table(rows: int, width: int) -> Any:
    """Return an empty table with room for `rows` stores of `width` numbers; `rows` is a power of two."""
    slots = np.full(2 * rows, -1, np.int32)
    stores = np.empty((rows, width), np.int32)
    return Table(slots, stores, np.empty(rows), np.empty(rows), np.empty(rows), np.empty((rows, 3), np.int32))


@njit(cache=True, nogil=True)
def doubled(table: Any, count: int) -> Any:
    """Return a copy of the table with room for twice as many stores."""
    larger = new_table(2 * len(table.sums), table.stores.shape[1])
    for row in range(count):
        for i in range(table.stores.shape[1]):
            larger.stores[row, i] = table.stores[row, i]
        for i in range(3):
            larger.back[row, i] = table.back[row, i]
        larger.sums[row], larger.likely[row] = table.sums[row], table.likely[row]
        larger.spread[row] = table.spread[row]
    fill(larger.slots, larger.stores, count)
    return larger


@njit(cache=True, nogil=True)
def add(table: Any, count: int, key: Any, value: float, likely: float, entropy: float, a: int, b: int, c: int) -> int:
    """Add a contribution to the store `key`, with the back-pointer (a, b, c); returns the table's number of stores.

    The table must have room for one more store (`with_room`). A negative entropy means that entropies are not computed.
    """
    row = find(table.slots, table.stores, count, key)
    if row == count:
        table.sums[row] = 0.0
        table.likely[row] = -1.0
        table.spread[row] = 0.0
        count += 1
    table.sums[row] += value
    if entropy >= 0.0:
        table.spread[row] += value * (entropy - math.log(value))
    if likely > table.likely[row]:
        table.likely[row] = likely
        table.back[row, 0] = a
        table.back[row, 1] = b
        table.back[row, 2] = c
    return count


@njit(cache=True, nogil=True)
def with_room(table: Any, count: int, more: int) -> Any:
    """The table, enlarged if it lacks room for `more` stores.

    Tables grow here, between stores, since a table that may be replaced in the inner loops costs most of their time.
    """
    while count + more > len(table.sums):
        table = doubled(table, count)
    return table


@njit(cache=True, nogil=True)
def nth_highest(values: Any, count: int, n: int) -> float:
    """The n-th highest of the first `count` values (n from 1), by Hoare's selection (1961).

    numpy's partition gives the same, but takes six seconds to compile.
    """
    left = values[:count].copy()
    low, high, target = 0, count - 1, count - n
    while low < high:
        pivot = left[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while left[i] < pivot:
                i += 1
            while left[j] > pivot:
                j -= 1
            if i <= j:
                left[i], left[j] = left[j], left[i]
                i, j = i + 1, j - 1
        if target <= j:
            high = j
        elif target >= i:
            low = i
        else:
            break
    return float(left[target])


@njit(cache=True, nogil=True)
def descending(values: Any, rows: Any) -> Any:
    """The rows sorted by their values, the highest first; of equal ones the earlier row first (a merge sort)."""
    size = len(rows)
    source, target = rows.copy(), rows.copy()
    width = 1
    while width < size:
        for start in range(0, size, 2 * width):
            middle, end = min(start + width, size), min(start + 2 * width, size)
            i, j = start, middle
            for place in range(start, end):
                if i < middle and (j >= end or values[source[i]] >= values[source[j]]):
                    target[place] = source[i]
                    i += 1
                else:
                    target[place] = source[j]
                    j += 1
        source, target = target, source
        width *= 2
    return source


@njit(cache=True, nogil=True)
def best_rows(values: Any, count: int, most: int) -> Any:
    """Return the rows of the `most` highest values (0: of all) in descending order; of equals, the earlier row first.

    Linear time, but for the sort of the rows that are kept.
    """
    kept = np.empty(count, np.int64)
    bound, ties = -math.inf, count
    if 0 < most < count:
        bound = nth_highest(values, count, most)
        ties = most
        for i in range(count):
            ties -= values[i] > bound
    size = 0
    for i in range(count):
        if values[i] > bound or (values[i] == bound and ties > 0):
            ties -= values[i] == bound
            kept[size] = i
            size += 1
    return descending(values, kept[:size])
