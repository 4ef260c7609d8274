"""Kernels that add up the contexts of each word. A token is the number of a word, UNKNOWN, or END of a document.

A token costs (neighbours x non-zero dimensions) additions to its row or, for whole documents, the addition of one row.
Frequent words have the first rows, so that most additions stay in the processor's cache.
"""

from __future__ import annotations

from typing import Any

from rerank_plugins.kit.kernels import filling_kernel

END, UNKNOWN = -1, -2


@filling_kernel
def add_neighbours(
    tokens: Any, places: Any, values: Any, dimensions: int, shifts: Any, offsets: Any, sums: Any
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
                if j < 0 or j >= len(tokens) or tokens[j] == END:
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
def add_documents(tokens: Any, places: Any, values: Any, context: Any, sums: Any) -> None:
    """For each occurrence of a word, add to its row the index vectors of all tokens of its document, its own included.

    `context` (dimensions) is work space.
    """
    start = 0
    for end in range(len(tokens) + 1):
        if end < len(tokens) and tokens[end] != END:
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
def count_documents(tokens: Any, last: Any, counts: Any) -> None:
    """Add the document frequency of each word to `counts` (words); `last` (words) is work space, filled with -1."""
    document = 0
    for token in tokens:
        if token == END:
            document += 1
        elif token >= 0 and last[token] != document:
            last[token] = document
            counts[token] += 1


@filling_kernel
def sum_rows(vectors: Any, words: Any, weights: Any, starts: Any, sums: Any) -> None:
    """Add Σ weights[i] · vectors[words[i]] over starts[s] <= i < starts[s + 1] to each `sums[s]` (dimensions)."""
    for sentence in range(len(starts) - 1):
        for i in range(starts[sentence], starts[sentence + 1]):
            row = vectors[words[i]]
            for d in range(len(row)):
                sums[sentence, d] += weights[i] * row[d]
