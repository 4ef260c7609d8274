"""Batches of items of about equal length, so that little is padded and the memory of a batch is bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """The numbers of the items in batches, the longest first: items × longest ≤ `tokens`, but at least one item.

    The longest come first, so that a batch too large for the memory is the first to fail.
    """
    batch: list[int] = []
    longest = 0
    for item in np.argsort(-np.asarray(lengths, np.int64), kind="stable").tolist():
        if batch and (len(batch) + 1) * longest > tokens:
            yield batch
            batch = []
        if not batch:
            longest = max(1, lengths[item])
        batch.append(item)
    if batch:
        yield batch


def padded(rows: Sequence[Sequence[int]], fill: int) -> Any:
    """(rows, longest) int64: the rows, filled up on the right."""
    array = np.full((len(rows), max(map(len, rows))), fill, np.int64)
    for row, values in enumerate(rows):
        array[row, : len(values)] = values
    return array
