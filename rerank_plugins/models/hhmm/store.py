"""The beam of stores after some words, as a value: what an incremental language model hands to its user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_plugins.arrays import FloatArray, IntArray, LongArray

LOW = 0xFFFF


@dataclass(frozen=True, eq=False)
class Beam:
    """Stores after `length` words, likeliest first; never changed. Equal, and of equal hash, where the stores are.

    `stores`   (n, D + 1) int32: elements a << 16 | b from the bottom up, -1 where none, then the completed node
    `values`   (n) probability of each store given the words; they sum to one
    `likely`   (n) that of its best derivation, divided by exp(`scale`) P(words)
    `entropy`  (n) of the derivations of each store, in nats; zeros unless asked for
    `back`     (n, 5) int32 where the best derivation comes from: store before, rule, kind of reduction, preterminal,
               kind of expansion
    `before`   the beam before the last word, where derivations are kept
    `unparsed` how many of the words no store could read
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
        """The likeliest store, for a decoder that recombines by it; empty before the first word."""
        return tuple(self.stores[0].tolist()) if len(self) else ()

    @property
    def depths(self) -> LongArray:
        """(n) how many elements each store has, the one with the last word's preterminal among them."""
        return np.asarray((self.stores[:, :-1] >= 0).sum(axis=1) + 1, np.int64)

    @property
    def mean_depth(self) -> float:
        """Expected embedding depth μ_EMB (Wu et al. 2010, equation 15); 0 before the first word."""
        return float(self.values @ self.depths) if len(self) else 0.0

    @property
    def store_entropy(self) -> float:
        """Entropy (nats) over the stores, whatever their derivations."""
        values = self.values[self.values > 0]
        return -float(values @ np.log(values)) + 0.0

    @property
    def derivation_entropy(self) -> float:
        """Entropy (nats) over the derivations in the beam, which differ in reductions, rules or preterminals."""
        return self.store_entropy + float(self.values @ self.entropy)


def start_of(depth: int) -> Beam:
    """The beam before the first word: the empty store, below which ROOT is awaited."""
    none = np.zeros(0)
    return Beam(0, np.zeros((0, depth + 1), np.int32), none, none, 0.0, none, np.zeros((0, 5), np.int32))
