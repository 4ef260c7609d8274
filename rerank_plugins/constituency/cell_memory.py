"""A cache of chart cells by the words that they span, most of which several hypotheses of an n-best list have.

Spans are numbered by a trie: the span of words i … j is the child by word j of the span i … j-1. A hash table finds
children by parent and word, so that two spans have the same number only if they have the same words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.kit.kernels import part

EMPTY = np.iinfo(np.int64).min  # in place of the power of a cell that has not been filled
FEWEST, BYTES = 4096, 1 << 26  # cells of a new memory; size of the largest one
MIXER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio (Fibonacci hashing)


@part
def longer(slots: Any, used: Any, most: int, node: int, word: int) -> int:
    """Return the number of the span that is longer than `node` by a word; 0 is the empty span.

    A new span gets a new number, or -1 if the memory is full. The span -1 has no longer ones.
    """
    if node < 0:
        return -1
    key = (node << 32 | word) + 1
    mask = len(slots) - 1
    place = int((np.uint64(key) * MIXER) >> np.uint64(32)) & mask
    while slots[place, 0] != 0:
        if slots[place, 0] == key:
            return int(slots[place, 1])
        place = (place + 1) & mask
    if used[0] == most:
        return -1
    slots[place, 0], slots[place, 1] = key, used[0]
    used[0] += 1
    return int(used[0] - 1)


class CellMemory:
    """Cells of so many values each; when it is full, it is emptied, and doubled up to 64 MB."""

    def __init__(self, values: int) -> None:
        self._values = max(values, 1)
        self._start(FEWEST)

    def _start(self, most: int) -> None:
        self._slots = np.zeros((2 * most, 2), np.int64)
        self._rows = np.empty((most, self._values))
        self._powers = np.full(most, EMPTY, np.int64)
        self._used = np.ones(1, np.int64)  # number 0 is the empty span

    def arrays(self) -> tuple[LongArray, FloatArray, LongArray, LongArray]:
        """Return the hash table, values, powers and the number of the cells, for a kernel that may fill in more."""
        most = len(self._rows)
        if self._used[0] == most:
            self._start(2 * most if 2 * most * self._values * 8 <= BYTES else most)
        return self._slots, self._rows, self._powers, self._used
