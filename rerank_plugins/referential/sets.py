"""Sets of individuals with numbers: the entities e_S that are reified from sets S (the paper's §3.1.2).

Equal sets have equal numbers, so that a referent is a plain integer, and transitions between referents can be cached by
number. The lattice of all subsets is exponential and never built; a set gets its number when it is first reached. A set
of more than 1/32 of the individuals is stored as a bitset, a smaller one as the sorted array of its members, whichever
is shorter: in a world of 100,000 individuals no set takes more than 12.5 kB, and a singleton takes 4 bytes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import BoolArray, IntArray

EMPTY, TOP = 0, 1  # the numbers of the empty set e_∅ and of the set of all individuals e_⊤
BITS = 32  # of a member of a sorted array
Bits = NDArray[np.uint8]  # eight individuals a byte, the first in its highest bit


class SetTable:
    """The sets that were reached so far, over `size` individuals (at least one) numbered from 0."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._numbers: dict[bytes, int] = {}
        self._stored: list[IntArray | Bits] = []
        self._counts: list[int] = []
        self.of(np.zeros(0, np.int32))
        self.of(np.arange(size, dtype=np.int32))

    def __len__(self) -> int:
        return len(self._stored)

    def of(self, members: IntArray) -> int:
        """The number of the set with these members, which are sorted and distinct."""
        if len(members) * BITS <= self.size:
            return self._number(np.asarray(members, np.int32), len(members))
        present = np.zeros(self.size, np.bool_)
        present[members] = True
        return self._number(np.packbits(present), len(members))

    def members(self, number: int) -> IntArray:
        """The sorted members of a set."""
        stored = self._stored[number]
        if stored.dtype == np.int32:
            return np.asarray(stored, np.int32)
        return np.flatnonzero(np.unpackbits(stored.astype(np.uint8, copy=False), count=self.size)).astype(np.int32)

    def count(self, number: int) -> int:
        """The number of members of a set."""
        return self._counts[number]

    def intersection(self, a: int, b: int) -> int:
        """The number of the intersection of two sets."""
        if a in (b, EMPTY) or b == TOP:
            return a
        if b == EMPTY or a == TOP:
            return b
        return self._combined(a, b, wanted=True)

    def difference(self, a: int, b: int) -> int:
        """The number of the set of those members of `a` that `b` does not have."""
        if a in (b, EMPTY) or b == TOP:
            return EMPTY
        return a if b == EMPTY else self._combined(a, b, wanted=False)

    def contains(self, number: int, individual: int) -> bool:
        """Whether the individual is a member of the set."""
        return bool(self._present(number, np.array([individual]))[0])

    def _combined(self, a: int, b: int, *, wanted: bool) -> int:
        """The members of `a` that `b` has (`wanted`) or has not."""
        if wanted and self._counts[a] > self._counts[b]:
            a, b = b, a
        first, second = self._stored[a], self._stored[b]
        if first.dtype != np.int32 and second.dtype != np.int32:
            bits = first & (second if wanted else ~second)
            return self.of(np.flatnonzero(np.unpackbits(bits.astype(np.uint8), count=self.size)).astype(np.int32))
        members = self.members(a)
        return self.of(members[self._present(b, members) == wanted])

    def _present(self, number: int, individuals: NDArray[np.integer]) -> BoolArray:
        """Whether each of the individuals is in the set."""
        stored = self._stored[number]
        if stored.dtype != np.int32:
            return np.asarray(stored[individuals >> 3] >> (7 - (individuals & 7)) & 1, np.bool_)
        if not len(stored):
            return np.zeros(len(individuals), np.bool_)
        places = np.minimum(np.searchsorted(stored, individuals), len(stored) - 1)
        return np.asarray(stored[places] == individuals)

    def _number(self, stored: IntArray | Bits, count: int) -> int:
        number = self._numbers.setdefault(stored.dtype.char.encode() + stored.tobytes(), len(self._stored))
        if number == len(self._stored):
            self._stored.append(stored)
            self._counts.append(count)
        return number
