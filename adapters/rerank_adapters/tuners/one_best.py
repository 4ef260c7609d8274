"""The 1-best of every list: the hypothesis of the highest weighted sum, the earliest among equals. O(rows)."""

from __future__ import annotations

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray


def one_best(scores: FloatArray, offsets: LongArray) -> LongArray:
    """(segments): the row of the highest score in each list; the earliest row wins a tie.

    `scores` (rows) are finite; the rows of segment s are `offsets[s]:offsets[s+1]`, at least one each.
    """
    highest = np.maximum.reduceat(scores, offsets[:-1])
    hits = np.flatnonzero(scores == np.repeat(highest, np.diff(offsets)))
    return hits[np.searchsorted(hits, offsets[:-1])]


def centred(values: FloatArray, offsets: LongArray) -> FloatArray:
    """(rows): the values less the mean of their list, which is all that a choice within the list can depend on."""
    lengths = np.diff(offsets)
    result: FloatArray = values - np.repeat(np.add.reduceat(values, offsets[:-1]) / lengths, lengths)
    return result
