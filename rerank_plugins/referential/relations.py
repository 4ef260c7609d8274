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
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.referential.sets import EMPTY, TOP, SetTable

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
    """S2 ∩ the individuals to which a relation leads from at least `least` and at most `most` members of S1."""

    relation: Product
    least: int
    most: float

    def __call__(self, sets: SetTable, argument: int, context: int) -> int:
        """Return those members of the context that enough members of the argument are related to."""
        targets, counts = np.unique(self.relation.related(sets.members(argument)), return_counts=True)
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
