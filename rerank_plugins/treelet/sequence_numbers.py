"""Numbers sequences of integers from 0: equal sequences get the same number."""

from __future__ import annotations

from typing import Any

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel, part
from rerank_plugins.kit.vocabulary.word_hash import FACTOR, START


@part
def hashed(key: Any, start: int, end: int) -> int:
    """The FNV-1a hash of whole integers, not negative; the bits are mixed, because the integers are small."""
    code = np.uint64(START)
    for i in range(start, end):
        code = (code ^ np.uint64(key[i])) * np.uint64(FACTOR)
    code ^= code >> np.uint64(29)
    return int((code * np.uint64(FACTOR)) >> np.uint64(33))


@filling_kernel
def intern(slots: Any, starts: Any, entries: Any, used: Any, key: Any, size: int) -> int:
    """The number of the sequence key[:size], which gets the next number if it is new."""
    mask = len(slots) - 1
    place = hashed(key, 0, size) & mask
    while slots[place] >= 0:
        row = slots[place]
        start = starts[row]
        if starts[row + 1] - start == size:
            same = True
            for i in range(size):
                same = same and entries[start + i] == key[i]
            if same:
                return int(row)
        place = (place + 1) & mask
    row = used[0]
    slots[place] = row
    starts[row + 1] = starts[row] + size
    for i in range(size):
        entries[starts[row] + i] = key[i]
    used[0] += 1
    return int(row)


@filling_kernel
def fill_slots(slots: Any, starts: Any, entries: Any, used: int) -> None:
    """Enter the sequences that have numbers in an empty hash table."""
    mask = len(slots) - 1
    for row in range(used):
        place = hashed(entries, starts[row], starts[row + 1]) & mask
        while slots[place] >= 0:
            place = (place + 1) & mask
        slots[place] = row


def grown(array: Any, size: int) -> Any:
    """The array, or a copy of it with room for twice `size` rows if it has fewer than `size`."""
    if len(array) >= size:
        return array
    longer = np.empty((2 * size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


class Interner:
    """Sequences by number: sequence r is entries[starts[r] : starts[r + 1]]."""

    def __init__(self) -> None:
        self.starts, self.entries = np.zeros(1, np.int64), np.empty(0, np.int32)
        self.used = np.zeros(1, np.int64)
        self._slots = np.full(16, -1, np.int32)

    def __len__(self) -> int:
        return int(self.used[0])

    def arrays(self, rows: int, entries: int) -> tuple[IntArray, LongArray, IntArray, LongArray]:
        """The first arguments of `intern`, with room for so many new sequences and integers in them."""
        size = len(self) + rows
        self.starts = grown(self.starts, size + 1)
        self.entries = grown(self.entries, int(self.starts[len(self)]) + entries)
        if len(self._slots) < 2 * size:
            self._slots = np.full(1 << int(4 * size).bit_length(), -1, np.int32)
            fill_slots(self._slots, self.starts, self.entries, len(self))
        return self._slots, self.starts, self.entries, self.used

    def sequence(self, number: int) -> list[int]:
        """The sequence of a number."""
        start, end = self.starts[number : number + 2]
        sequence: list[int] = self.entries[start:end].tolist()
        return sequence
