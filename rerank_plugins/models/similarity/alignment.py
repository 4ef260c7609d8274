"""Sentences by their words, each beside the most similar word of the other sentence (after Mihalcea et al. 2006).

s(w) = max_u sim(w, u), 1 for the word itself; from each side the mean of s weighted by the words' idf, and of the two
sides the harmonic mean (the original has the arithmetic one, which a short sentence within a long one flatters).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rerank_plugins.feature_table import FloatArray


def aligned(
    a: Sequence[str],
    b: Sequence[str],
    similarities: Callable[[Sequence[str], Sequence[str]], FloatArray],
    idf: Mapping[str, float],
) -> float:
    """From 0 to 1, by the (n, m) similarities of n words with m others."""
    return float(all_aligned(a, b, lambda left, right: similarities(left, right)[None], idf, 1)[0])


def all_aligned(
    a: Sequence[str],
    b: Sequence[str],
    similarities: Callable[[Sequence[str], Sequence[str]], FloatArray],
    idf: Mapping[str, float],
    measures: int,
) -> FloatArray:
    """(measures) values from 0 to 1, by (measures, n, m) similarities of n words with m others, each once.

    0 where a side has no word, or none that tells anything.
    """
    left, right = list(dict.fromkeys(a)), list(dict.fromkeys(b))
    weights = [np.array([idf[word] for word in side]) for side in (left, right)]
    if not weights[0].any() or not weights[1].any():
        return np.zeros(measures)
    same = np.array([[u == v for v in right] for u in left], np.float64)
    similar = np.maximum(similarities(left, right), same)
    one, other = (similar.max(axis=axis) @ own / own.sum() for axis, own in zip((2, 1), weights, strict=True))
    both = one + other
    return np.asarray(2 * one * other / np.where(both > 0, both, 1.0), np.float64)
