"""Alignment of the words of two sentences by a matrix of their similarities.

    aligned   each word with the most similar word of the other sentence (after Mihalcea et al. 2006)
    greedy    pairs of words, most similar first, each word in at most one (Šarić et al. 2012; Wu et al. 2013, eq. 2)

In `aligned`, s(w) = max_u sim(w, u), where sim(w, w) = 1. The mean of s over the words of each sentence is weighted by
idf, and the value is the harmonic mean of both sides (the original takes the arithmetic mean, which overrates a short
sentence that is contained in a long one).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rerank_plugins import FloatArray


def aligned(
    a: Sequence[str],
    b: Sequence[str],
    similarities: Callable[[Sequence[str], Sequence[str]], FloatArray],
    idf: Mapping[str, float],
) -> float:
    """The value of `aligned`, from 0 to 1; `similarities` returns the (n, m) similarities of n words with m others."""
    left, right = list(dict.fromkeys(a)), list(dict.fromkeys(b))
    weights = [np.array([idf[word] for word in side]) for side in (left, right)]
    if not weights[0].any() or not weights[1].any():
        return 0.0
    return float(harmonic_mean(*side_means(with_same(left, right, similarities(left, right)), *weights)))


def with_same(left: Sequence[str], right: Sequence[str], similar: FloatArray) -> FloatArray:
    """The (…, n, m) similarities of n words with m others, with 1 wherever the two words are equal."""
    same = np.array([[u == v for v in right] for u in left], np.float64).reshape(len(left), len(right))
    return np.maximum(similar, same)


def side_means(similar: FloatArray, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The (…) weighted means of the row maxima and of the column maxima of (…, n, m) similarities.

    Both are 0 if the weights `left` (n) or `right` (m) are all 0.
    """
    if not left.any() or not right.any():
        return np.zeros(similar.shape[:-2]), np.zeros(similar.shape[:-2])
    return similar.max(axis=-1) @ left / left.sum(), similar.max(axis=-2) @ right / right.sum()


def harmonic_mean(one: FloatArray, other: FloatArray) -> FloatArray:
    """The harmonic mean, elementwise; 0 where both values are 0."""
    both = one + other
    return np.asarray(2 * one * other / np.where(both > 0, both, 1.0), np.float64)


def greedy_pairs(similar: FloatArray) -> list[tuple[int, int]]:
    """Pairs (row, column) of (n, m) similarities in descending order, each row and column in at most one pair.

    Ties are resolved in favour of the lower row, then of the lower column.
    """
    rows, columns, pairs = set[int](), set[int](), list[tuple[int, int]]()
    for place in np.argsort(-similar, axis=None, kind="stable").tolist():
        row, column = divmod(place, similar.shape[1])
        if row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            pairs.append((row, column))
    return pairs
