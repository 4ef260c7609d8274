"""Draws index vectors: of the `dimensions` elements of a vector, `nonzero` are +1 or -1 and all others are 0.

Positions and signs are drawn by a generator (SplitMix64) whose initial state is a hash of the word and the seed, so a
word has the same index vector in every text, in every process and on every machine. In many dimensions such vectors are
almost orthogonal, so that a sum of them represents the words that were added.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rerank_plugins.core.arrays import IntArray

STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)


def index_vectors(
    words: Sequence[str], dimensions: int, nonzero: int, seed: int
) -> tuple[IntArray, NDArray[np.float32]]:
    """Draw (words, nonzero) distinct positions, 0 <= position < `dimensions`, and the (words, nonzero) signs there."""
    key = seed.to_bytes(8, "little")
    hashes = b"".join(blake2b(word.encode(), digest_size=8, key=key).digest() for word in words)
    places = np.zeros((len(words), nonzero), np.int32)
    signs = np.zeros((len(words), nonzero), np.float32)
    _draw(np.frombuffer(hashes, "<u8").astype(np.uint64), dimensions, places, signs)
    return places, signs


@njit(cache=True, nogil=True)
def _draw(states: Any, dimensions: int, places: Any, signs: Any) -> None:
    for row in range(len(states)):
        state = states[row]
        drawn = 0
        while drawn < places.shape[1]:
            state += STEP
            value = (state ^ (state >> np.uint64(30))) * FIRST
            value = (value ^ (value >> np.uint64(27))) * SECOND
            value ^= value >> np.uint64(31)
            place = np.int32((value >> np.uint64(1)) % np.uint64(dimensions))
            new = True
            for i in range(drawn):
                new = new and places[row, i] != place
            if new:
                places[row, drawn] = place
                signs[row, drawn] = 1.0 if value & np.uint64(1) else -1.0
                drawn += 1
