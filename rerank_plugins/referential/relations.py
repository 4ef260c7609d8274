"""Relations as transitions between sets (equation 12): from an argument S1, in a context S2, to a set S.

    property    ⟨E,T⟩               S = S1 ∩ l
    relation    ⟨E,⟨E,T⟩⟩           S = S2 ∩ (S1 · l)
    functor     ⟨⟨E,T⟩,⟨E,T⟩⟩       S = S2 ∩ l(S1)

where S · R are the individuals to which R relates a member of S (13). A transition reads numbers of a `SetTable` and
returns one. The identity returns its argument and `NIL` the set of all individuals, whatever the context.

The functors are those of the paper's §4.4.3, 4.4.4 and 6: negation, superlatives, subsective modifiers (large: above
what is usual in the set), and cardinalities, which return S1 if it has the right number of members and else the empty
set. Comparatives over a measure need not be listed as pairs. A comparative relates a set to all that is larger than
some member of it, so that it also is the implicit comparative of `the file that is larger`, where argument and context
are the same set. `Counting` is a cardinality for each individual of the context: the directories that contain two of
the files, each of them.

Sets have numbers, as the entities e_S that are reified from sets S (the paper's §3.1.2). Equal sets have equal numbers,
so that a referent is a plain integer, and transitions between referents can be cached by number. The lattice of all
subsets is exponential and never built; a set gets its number when it is first reached. A set of more than 1/32 of the
individuals is stored as a bitset, a smaller one as the sorted array of its members, whichever is shorter: in a world of
100,000 individuals no set takes more than 12.5 kB, and a singleton takes 4 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import BoolArray, FloatArray, IntArray, LongArray

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


IDENTITY, NIL = "IDENTITY", "NIL"


class Transition(Protocol):
    """A relation of a world: from the argument S1 and the context S2 to the set S, all by number."""

    def __call__(self, sets: SetTable, argument: int, context: int) -> int:
        """Return the number of S."""
        ...


@dataclass(frozen=True)
class Identity:
    """IDENTITY(S1, S2) = S1."""

    def __call__(self, sets: SetTable, argument: int, context: int) -> int:  # noqa: ARG002
        """Return the argument."""
        return argument


@dataclass(frozen=True)
class Nil:
    """NIL(S1, S2) = all individuals: what every relation is in a model without semantics (§5.7.2)."""

    def __call__(self, sets: SetTable, argument: int, context: int) -> int:  # noqa: ARG002
        """Return the set of all individuals."""
        return TOP


@dataclass(frozen=True)
class Property:
    """The individuals that have a property, by the number of their set."""

    extension: int

    def __call__(self, sets: SetTable, argument: int, context: int) -> int:  # noqa: ARG002
        """Return S1 ∩ l; the context is ignored."""
        return sets.intersection(argument, self.extension)


@dataclass(frozen=True, eq=False)
class Product:
    """A relation between individuals: `targets[offsets[i]:offsets[i + 1]]` are those to which it relates i, sorted."""

    offsets: LongArray
    targets: IntArray

    @staticmethod
    def of(sources: IntArray, targets: IntArray, size: int) -> Product:
        """The relation with these pairs, among `size` individuals."""
        pairs = np.unique(np.stack([sources, targets], axis=1).reshape(-1, 2), axis=0)
        offsets = np.searchsorted(pairs[:, 0], np.arange(size + 1)).astype(np.int64)
        return Product(offsets, pairs[:, 1].astype(np.int32))

    def related(self, sources: IntArray) -> IntArray:
        """The targets of all sources, one after the other."""
        if not len(sources):
            return np.zeros(0, np.int32)
        starts, lengths = self.offsets[sources], self.offsets[sources + 1] - self.offsets[sources]
        shifts = np.repeat(starts - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
        return self.targets[shifts + np.arange(int(lengths.sum()))]

    def __call__(self, sets: SetTable, argument: int, context: int) -> int:
        """Return S2 ∩ (S1 · l)."""
        return sets.intersection(context, sets.of(np.unique(self.related(sets.members(argument)))))


@dataclass(frozen=True, eq=False)
class Counting:
    """S2 ∩ the individuals to which a relation leads from at least `least` and at most `most` members of S1.

    With `least` = 0 these are all to which it does not lead from more, those to which it does not lead at all included.
    """

    relation: Product
    least: int
    most: float

    def __call__(self, sets: SetTable, argument: int, context: int) -> int:
        """Return those members of the context that enough members of the argument are related to."""
        targets, counts = np.unique(self.relation.related(sets.members(argument)), return_counts=True)
        if self.least <= 0:
            return sets.difference(context, sets.of(targets[counts > self.most]))
        return sets.intersection(context, sets.of(targets[(counts >= self.least) & (counts <= self.most)]))


@dataclass(frozen=True)
class Complement:
    """NOT: S2 without S1."""

    def __call__(self, sets: SetTable, argument: int, context: int) -> int:
        """Return S2 ∩ (E ∖ S1)."""
        return sets.difference(context, argument)


@dataclass(frozen=True)
class Cardinality:
    """S1 where it has at least `least` and at most `most` members, else the empty set (§6)."""

    least: int
    most: float

    def __call__(self, sets: SetTable, argument: int, context: int) -> int:
        """Return S2 ∩ S1, or the empty set."""
        return sets.intersection(context, argument) if self.least <= sets.count(argument) <= self.most else EMPTY


@dataclass(frozen=True, eq=False)
class Measured:
    """Base of relations over a measure: (E) values, nan for individuals without one; `sign` is -1 for the lowest."""

    values: FloatArray
    sign: float

    def of(self, sets: SetTable, number: int) -> tuple[IntArray, FloatArray]:
        """The members of a set that have a value, and their values times the sign."""
        members = sets.members(number)
        values = self.sign * self.values[members]
        known = ~np.isnan(values)
        return members[known], values[known]


@dataclass(frozen=True, eq=False)
class Superlative(Measured):
    """The members of S1 with the highest value; several where they tie."""

    def __call__(self, sets: SetTable, argument: int, context: int) -> int:
        """Return S2 ∩ the highest of S1."""
        members, values = self.of(sets, argument)
        return sets.intersection(context, sets.of(members[values == values.max()])) if len(members) else EMPTY


@dataclass(frozen=True, eq=False)
class Subsective(Measured):
    """The members of S1 whose value is above the mean or the median of the values in S1."""

    norm: Literal["mean", "median"] = "mean"

    def __call__(self, sets: SetTable, argument: int, context: int) -> int:
        """Return S2 ∩ the members of S1 above the norm of S1."""
        members, values = self.of(sets, argument)
        if not len(members):
            return EMPTY
        norm = np.mean(values) if self.norm == "mean" else np.median(values)
        return sets.intersection(context, sets.of(members[values > norm]))


@dataclass(frozen=True, eq=False)
class Comparative(Measured):
    """The individuals whose value is above that of some member of S1, or of every member that has one."""

    than: Literal["some", "every"] = "some"

    def __call__(self, sets: SetTable, argument: int, context: int) -> int:
        """Return S2 ∩ the individuals above S1."""
        _, values = self.of(sets, argument)
        if not len(values):
            return EMPTY
        members, others = self.of(sets, context)
        bound = values.min() if self.than == "some" else values.max()
        return sets.of(members[others > bound])
