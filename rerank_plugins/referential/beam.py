"""The hypotheses after some words: the immutable state of the referential language model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.referential.transitions import Stack


@dataclass(frozen=True, eq=False)
class Beam:
    """Stacks after `length` words, the most probable first; immutable. Beams with equal stacks and values are equal.

    `values`  (n) probability of each stack given the words, over all its derivations; they sum to one
    `best`    (n) ln p of the best derivation of each stack, with the words
    `back`    (n) the row of the beam `before` that the best derivation comes from
    `word`    the last word, and `unread` the number of words that no hypothesis could read
    """

    stacks: tuple[Stack, ...]
    values: FloatArray
    best: FloatArray
    back: LongArray
    before: Beam | None = None
    word: str = ""
    length: int = 0
    unread: int = 0

    @property
    def _content(self) -> tuple[tuple[Stack, ...], bytes]:
        return self.stacks, self.values.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Beam) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    def __len__(self) -> int:
        return len(self.stacks)


START = Beam(((),), np.ones(1), np.zeros(1), np.zeros(1, np.int64))
