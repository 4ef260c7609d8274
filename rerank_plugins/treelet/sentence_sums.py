"""The probability of a sentence, summed over its k best parses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, LongArray


def sum_distinct(ln_p: FloatArray, sentence: NDArray[np.integer[Any]], shape: LongArray, sentences: int) -> FloatArray:
    """(sentences) ln of the summed p of each sentence's trees, each shape once; -inf for a sentence without trees.

    `ln_p`, `sentence` (ascending) and `shape` belong to the trees. Parses that transformations make equal are one tree
    of the model, and must not be counted twice.
    """
    _, first = np.unique(np.stack([sentence, shape]), axis=1, return_index=True)
    first.sort()
    totals = np.full(sentences, -np.inf)
    if len(first):
        owner = sentence[first]
        starts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
        totals[owner[starts]] = np.logaddexp.reduceat(ln_p[first], starts)
    return totals
