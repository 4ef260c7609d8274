"""Sorts rows of integers by radix sort, one bucket at a time within the processor's cache.

Rows are first dealt into buckets by their leading id (`bucket_bounds`), large enough to be worth a radix sort and small
enough to stay in cache. A bucket is then sorted by digits of 11 bits from the least significant one (LSD), which is
stable; digits that are equal in all its rows are skipped. Buckets are independent, so that threads share the work.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.core.arrays import IntArray, LongArray

DIGIT = 11  # bits
TARGET = 1 << 16  # rows of a bucket, about


def bucket_bounds(histogram: LongArray, target: int = TARGET) -> tuple[IntArray, LongArray]:
    """Join neighbouring bins to buckets of about `target` rows; a bin is never split.

    (bins) numbers of rows -> (bins) the bucket of each bin, and (buckets + 1) where each bucket starts.
    """
    ends = np.cumsum(histogram)
    before = ends - histogram
    bucket = before // target
    _, buckets = np.unique(bucket, return_inverse=True)
    sizes = np.bincount(buckets, histogram).astype(np.int64)
    return buckets.astype(np.int32), np.concatenate([[0], np.cumsum(sizes)])


def shares(starts: LongArray, parts: int) -> list[tuple[int, int]]:
    """Runs of buckets with about equal numbers of rows: (first bucket, end) of each."""
    wanted = np.linspace(0, starts[-1], parts + 1)[1:-1]
    cuts = [0, *np.searchsorted(starts, wanted).tolist(), len(starts) - 1]
    return [(first, end) for first, end in pairwise(cuts) if first < end]


def stretches(size: int, parts: int) -> list[tuple[int, int]]:
    """The range of `size` cut into `parts` stretches of about the same length: (start, end) of each."""
    return list(pairwise((np.arange(parts + 1) * size // parts).tolist()))


@njit(cache=True, nogil=True)
def sort_buckets(rows: Any, starts: Any, first: int, end: int, words: int) -> None:
    """Sort each of the buckets `first` … `end` by its first `words` columns, keeping the order of equal rows."""
    # One spare bucket, as large as the largest, to move rows to and fro.
    width = rows.shape[1]
    largest = 0
    for bucket in range(first, end):
        largest = max(largest, starts[bucket + 1] - starts[bucket])
    spare = np.empty((largest, width), np.int64)
    count = np.empty(1 << DIGIT, np.int64)
    mask = (1 << DIGIT) - 1
    for bucket in range(first, end):
        source = rows[starts[bucket] : starts[bucket + 1]]
        target = spare[: len(source)]
        size = len(source)
        moved = False
        for column in range(words - 1, -1, -1):
            # The bits of the column that differ between rows of the bucket.
            varying = np.int64(0)
            for i in range(size):
                varying |= source[i, column] ^ source[0, column]
            for shift in range(0, 63, DIGIT):
                if (varying >> shift) & mask == 0:
                    continue
                # Count the rows with each value of the digit, and sum up where the rows of each value start.
                count[:] = 0
                for i in range(size):
                    count[(source[i, column] >> shift) & mask] += 1
                total = 0
                for digit in range(1 << DIGIT):
                    here = count[digit]
                    count[digit] = total
                    total += here
                # Move each row to the next place of its value.
                for i in range(size):
                    digit = (source[i, column] >> shift) & mask
                    place = count[digit]
                    count[digit] = place + 1
                    for j in range(width):
                        target[place, j] = source[i, j]
                source, target = target, source
                moved = not moved
        if moved:
            for i in range(size):
                for j in range(width):
                    target[i, j] = source[i, j]
