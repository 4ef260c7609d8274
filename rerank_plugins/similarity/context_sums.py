"""Index vectors, and kernels that add up those of the contexts of each word.

Of the elements of an index vector, `nonzero` are +1 or -1 and all others are 0, drawn by a generator (SplitMix64) whose
initial state is a hash of the word and the seed. A token is the number of a word, UNKNOWN_WORD, or END_OF_DOCUMENT.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel, kernel

STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
END_OF_DOCUMENT, UNKNOWN_WORD = -1, -2


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


@kernel
def _draw(states: NDArray[np.uint64], dimensions: int, places: IntArray, signs: NDArray[np.float32]) -> None:
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


@filling_kernel
def add_neighbours(
    tokens: IntArray,
    places: IntArray,
    values: NDArray[np.float32],
    dimensions: int,
    shifts: IntArray,
    offsets: IntArray,
    sums: NDArray[np.float32],
) -> None:
    """Add to each word's row the index vectors of its neighbours, up to `radius` words to each side in its document.

    `shifts` and `offsets` (2 radius + 1) belong to the neighbours from -radius to radius: the index vector of a
    neighbour is rotated by its shift and added to the row from its offset on. Unknown words count as positions.
    """
    radius = len(shifts) // 2
    nonzero = places.shape[1]
    for i in range(len(tokens)):
        word = tokens[i]
        if word < 0:
            continue
        row = sums[word]
        for side in (-1, 1):
            for distance in range(1, radius + 1):
                j = i + side * distance
                if j < 0 or j >= len(tokens) or tokens[j] == END_OF_DOCUMENT:
                    break
                other = tokens[j]
                if other < 0:
                    continue
                shift, offset = shifts[radius + side * distance], offsets[radius + side * distance]
                for k in range(nonzero):
                    place = places[other, k] + shift
                    if place >= dimensions:
                        place -= dimensions
                    row[offset + place] += values[other, k]


@filling_kernel
def add_documents(
    tokens: IntArray,
    places: IntArray,
    values: NDArray[np.float32],
    context: NDArray[np.float32],
    sums: NDArray[np.float32],
) -> None:
    """For each occurrence of a word, add to its row the index vectors of all tokens of its document, its own included.

    `context` (dimensions) is work space.
    """
    start = 0
    for end in range(len(tokens) + 1):
        if end < len(tokens) and tokens[end] != END_OF_DOCUMENT:
            continue
        context[:] = 0.0
        for i in range(start, end):
            word = tokens[i]
            if word >= 0:
                for k in range(places.shape[1]):
                    context[places[word, k]] += values[word, k]
        for i in range(start, end):
            if tokens[i] >= 0:
                row = sums[tokens[i]]
                for d in range(len(row)):
                    row[d] += context[d]
        start = end + 1


@filling_kernel
def count_documents(tokens: IntArray, last: LongArray, counts: LongArray) -> None:
    """Add the document frequency of each word to `counts` (words); `last` (words) is work space, filled with -1."""
    document = 0
    for token in tokens:
        if token == END_OF_DOCUMENT:
            document += 1
        elif token >= 0 and last[token] != document:
            last[token] = document
            counts[token] += 1


@filling_kernel
def sum_rows(vectors: FloatArray, words: LongArray, weights: FloatArray, starts: LongArray, sums: FloatArray) -> None:
    """Add Σ weights[i] · vectors[words[i]] over starts[s] <= i < starts[s + 1] to each `sums[s]` (dimensions)."""
    for sentence in range(len(starts) - 1):
        for i in range(starts[sentence], starts[sentence + 1]):
            row = vectors[words[i]]
            for d in range(len(row)):
                sums[sentence, d] += weights[i] * row[d]
