"""Kernels over the inverted index: CSR arrays from words to documents, sorted by document, with weights."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numba import njit


@njit(cache=True)
def count_words(tokens: Any, first: int, last: int, counts: Any, seen: Any) -> int:
    """Count the known words of tokens[first:last] in `counts` (V), which is zero; `seen` gets them, once each."""
    found = 0
    for token in tokens[first:last]:
        if token >= 0:
            if counts[token] == 0:
                seen[found] = token
                found += 1
            counts[token] += 1
    return found


@njit(cache=True)
def index_documents(tokens: Any, ends: Any, idf: Any, shortest: int, words: Any, weights: Any, sizes: Any) -> int:
    """(1 + ln tf) idf of the words of each document, of unit length; how many there are in all.

    `words`, `weights` (tokens) are filled one document after the other; `sizes` (documents) says how many each has:
    none if it has fewer than `shortest` tokens, unknown ones among them.
    """
    counts, seen = np.zeros(len(idf), np.int64), np.empty(len(idf), np.int64)
    total, start = 0, 0
    for document in range(len(ends)):
        end = ends[document]
        found = count_words(tokens, start, end, counts, seen)
        squares = 0.0
        for i in range(found):
            weight = (1 + np.log(counts[seen[i]])) * idf[seen[i]]
            counts[seen[i]] = 0
            words[total + i], weights[total + i] = seen[i], weight
            squares += weight * weight
        if end - start >= shortest and squares > 0:
            weights[total : total + found] /= sqrt(squares)
            sizes[document] = found
            total += found
        start = end + 1
    return total


@njit(cache=True)
def pair_cosines(starts: Any, documents: Any, weights: Any, size: int, sides: Any, tokens: Any, given: Any) -> Any:
    """(pairs) cosines of Σ given · weight over the words of each side.

    Side s has tokens[sides[s] : sides[s + 1]]; sides 2i and 2i + 1 are a pair.
    """
    pairs = (len(sides) - 1) // 2
    values = np.zeros(pairs)
    left, right = np.zeros(size), np.zeros(size)
    for pair in range(pairs):
        _add(starts, documents, weights, sides[2 * pair], sides[2 * pair + 1], tokens, given, left)
        _add(starts, documents, weights, sides[2 * pair + 1], sides[2 * pair + 2], tokens, given, right)
        squares = inner(left, left) * inner(right, right)
        if squares > 0:
            values[pair] = inner(left, right) / sqrt(squares)
        left[:] = 0.0
        right[:] = 0.0
    return values


@njit(cache=True)
def _add(
    starts: Any, documents: Any, weights: Any, first: int, last: int, tokens: Any, given: Any, vector: Any
) -> None:
    """Add the words up in `vector`."""
    for i in range(first, last):
        for k in range(starts[tokens[i]], starts[tokens[i] + 1]):
            vector[documents[k]] += given[i] * weights[k]


@njit(cache=True, fastmath={"reassoc"})
def inner(left: Any, right: Any) -> float:
    """The inner product; numba's `@` would need SciPy, which is no core dependency. Sums may be taken in any order."""
    total = 0.0
    for i in range(len(left)):
        total += left[i] * right[i]
    return total


@njit(cache=True)
def word_cosines(starts: Any, documents: Any, weights: Any, left: Any, right: Any) -> Any:
    """(n, m) cosines of words; those of number -1 have no vector."""
    values = np.zeros((len(left), len(right)))
    for i in range(len(left)):
        for j in range(len(right)):
            if left[i] >= 0 and right[j] >= 0:
                values[i, j] = _cosine(starts, documents, weights, left[i], right[j])
    return values


@njit(cache=True)
def _cosine(starts: Any, documents: Any, weights: Any, a: int, b: int) -> float:
    i, j = starts[a], starts[b]
    both = 0.0
    while i < starts[a + 1] and j < starts[b + 1]:
        if documents[i] < documents[j]:
            i += 1
        elif documents[i] > documents[j]:
            j += 1
        else:
            both += weights[i] * weights[j]
            i += 1
            j += 1
    if both <= 0:
        return 0.0
    first, second = weights[starts[a] : starts[a + 1]], weights[starts[b] : starts[b + 1]]
    return float(both / sqrt((first * first).sum() * (second * second).sum()))
