"""Words of two sentences side by side, by a table of their similarities.

    aligned   each word beside the most similar word of the other sentence (after Mihalcea et al. 2006)
    greedy    the most similar words in pairs, each word in one pair at most (Šarić et al. 2012; Wu et al. 2013, eq. 2)

Aligned, s(w) = max_u sim(w, u), 1 for the word itself; from each side the mean of s weighted by the words' idf, and of
the two sides the harmonic mean (the original has the arithmetic one, which flatters a short sentence that lies within a
long one).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rerank_plugins.arrays import FloatArray


def aligned(
    a: Sequence[str],
    b: Sequence[str],
    similarities: Callable[[Sequence[str], Sequence[str]], FloatArray],
    idf: Mapping[str, float],
) -> float:
    """From 0 to 1, by the (n, m) similarities of n words with m others."""
    left, right = list(dict.fromkeys(a)), list(dict.fromkeys(b))
    weights = [np.array([idf[word] for word in side]) for side in (left, right)]
    if not weights[0].any() or not weights[1].any():
        return 0.0
    return float(harmonic_mean(*side_means(with_same(left, right, similarities(left, right)), *weights)))


def with_same(left: Sequence[str], right: Sequence[str], similar: FloatArray) -> FloatArray:
    """(…, n, m) similarities of n words with m others, 1 where the words are the same."""
    same = np.array([[u == v for v in right] for u in left], np.float64).reshape(len(left), len(right))
    return np.maximum(similar, same)


def side_means(similar: FloatArray, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of (…, n, m) similarities the (…) weighted means of the greatest of each row, and of each column.

    0 where a side has no word, or none that has a weight.
    """
    if not left.any() or not right.any():
        return np.zeros(similar.shape[:-2]), np.zeros(similar.shape[:-2])
    return similar.max(axis=-1) @ left / left.sum(), similar.max(axis=-2) @ right / right.sum()


def harmonic_mean(one: FloatArray, other: FloatArray) -> FloatArray:
    """0 where both are 0."""
    both = one + other
    return np.asarray(2 * one * other / np.where(both > 0, both, 1.0), np.float64)


def greedy_pairs(similar: FloatArray) -> list[tuple[int, int]]:
    """Pairs of a row and a column of (n, m) similarities from the most similar down, each row and column once.

    Of equal ones the pair of the first row comes first, then that of the first column.
    """
    rows, columns, pairs = set[int](), set[int](), list[tuple[int, int]]()
    for place in np.argsort(-similar, axis=None, kind="stable").tolist():
        row, column = divmod(place, similar.shape[1])
        if row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            pairs.append((row, column))
    return pairs
