"""Binary search in sorted arrays, for kernels."""

from __future__ import annotations

from typing import Any

from rerank_plugins.kit.kernels import part


@part
def first_not_below(keys: Any, low: int, high: int, key: int) -> int:
    """Return the first index in `keys[low:high]`, which ascend, whose key is not below `key`; `high` if none is."""
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@part
def place_of(keys: Any, low: int, high: int, key: int) -> int:
    """Return the index of the key in `keys[low:high]`, which ascend; -1 if it is not there."""
    place = first_not_below(keys, low, high, key)
    return place if place < high and keys[place] == key else -1
