"""The beam of stores after some words: the immutable state of the incremental language model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray

LOW = 0xFFFF


@dataclass(frozen=True, eq=False)
class Beam:
    """Stores after `length` words, most probable first; immutable. Beams are equal if their stores and values are.

    `stores`   (n, D + 1) int32: elements a << 16 | b from the bottom up, -1 if none, then the completed node
    `values`   (n) probability of each store given the words; they sum to one
    `likely`   (n) Viterbi probability, that of its best derivation, divided by exp(`scale`) P(words)
    `entropy`  (n) entropy in nats of the derivations of each store; zeros unless requested
    `back`     (n, 5) int32 back-pointer of the best derivation: row of the store before, rule, kind of reduction,
               preterminal, kind of expansion
    `before`   the beam before the last word, if derivations are kept
    `unparsed` the number of words that no store could read
    """

    length: int
    stores: IntArray
    values: FloatArray
    likely: FloatArray
    scale: float
    entropy: FloatArray
    back: IntArray
    before: Beam | None = None
    unparsed: int = 0

    def __len__(self) -> int:
        return len(self.stores)

    @property
    def _content(self) -> tuple[bool, bytes, bytes]:
        return self.length == 0, self.stores.tobytes(), self.values.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Beam) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @property
    def best(self) -> tuple[int, ...]:
        """The most probable store, by which a decoder may recombine hypotheses; empty before the first word."""
        return tuple(self.stores[0].tolist()) if len(self) else ()

    @property
    def depths(self) -> LongArray:
        """(n) the number of elements of each store, including the one that holds the last word's preterminal."""
        return np.asarray((self.stores[:, :-1] >= 0).sum(axis=1) + 1, np.int64)

    @property
    def mean_depth(self) -> float:
        """Expected embedding depth μ_EMB (Wu et al. 2010, equation 15); 0 before the first word."""
        return float(self.values @ self.depths) if len(self) else 0.0

    @property
    def store_entropy(self) -> float:
        """Entropy in nats of the distribution over stores, irrespective of their derivations."""
        values = self.values[self.values > 0]
        return -float(values @ np.log(values)) + 0.0

    @property
    def derivation_entropy(self) -> float:
        """Entropy in nats over the derivations in the beam; they differ in reductions, rules or preterminals."""
        return self.store_entropy + float(self.values @ self.entropy)


def start_of(depth: int) -> Beam:
    """Return the beam before the first word: the empty store, which awaits ROOT."""
    empty = np.zeros(0)
    return Beam(0, np.zeros((0, depth + 1), np.int32), empty, empty, 0.0, empty, np.zeros((0, 5), np.int32))
