"""Bloom filters (1970) of the last two and three words of a model's n-grams.

They answer quickly, with few false positives, whether any n-gram of the model ends in these words. The bits of an entry
are in one block, a 64-bit integer, so that a question costs one read of memory: 8 to 16 bits for each entry, of which
each entry sets four. What a filter denies is certain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import BoolArray, IntArray, LongArray
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.kernels import filling_kernel, part

ENTRIES_A_BLOCK = 8  # at most
FIRST, SECOND, THIRD = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9  # odd, with well mixed bits


@part
def block_and_bits(blocks: int, first: int, second: int, third: int) -> Any:
    """The block of three words (the first is -1 for a pair), and the bits that they set in it."""
    mixed = np.uint64(first + 1) * np.uint64(FIRST) ^ np.uint64(second + 1) * np.uint64(SECOND)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(THIRD) + np.uint64(third + 1) * np.uint64(FIRST)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(SECOND)
    mixed ^= mixed >> np.uint64(32)
    bits = np.uint64(0)
    for shift in (0, 6, 12, 18):
        bits |= np.uint64(1) << ((mixed >> np.uint64(shift)) & np.uint64(63))
    return np.int64(mixed >> np.uint64(24)) & (blocks - 1), np.int64(bits)


@filling_kernel
def may_have(blocks: LongArray, first: int, second: int, third: int) -> bool:
    """Whether the model may have an n-gram that ends in these words; `first` is -1 for a pair."""
    block, bits = block_and_bits(len(blocks), first, second, third)
    return bool((blocks[block] & bits) == bits)


@filling_kernel
def insert(
    blocks: LongArray,
    contexts: NDArray[Any],
    words: IntArray,
    owner: IntArray,
    rows: LongArray,
    length: int,
    longer: int,
) -> None:
    """Insert the last `length` words of n-grams; `longer` is the first context of more than `length` - 1 words."""
    for row in rows:
        context = owner[row]
        while context >= longer:
            context = contexts[context]["parent"]
        nearest = contexts[context]["symbol"]
        first = -1
        if length == 3:
            first, nearest = int(nearest), contexts[contexts[context]["parent"]]["symbol"]
        block, bits = block_and_bits(len(blocks), first, nearest, words[row])
        blocks[block] |= bits


def seen_filters(tables: BackoffTables, owner: IntArray, has_suffix: BoolArray) -> tuple[LongArray, LongArray]:
    """The filters of pairs and triples; `owner` and `has_suffix` belong to the n-grams of order 2 and more."""
    first = tables.sizes[0]
    symbols = np.ascontiguousarray(tables.events["symbol"][first:])
    filters = []
    for length in (2, 3):
        if length > tables.order:
            filters.append(np.zeros(1, np.int64))
            continue
        # The n-grams of this order, and the longer ones whose suffix is missing.
        start, end = (tables.event_levels[length - 1 : length + 1] - first).tolist()
        rows = np.concatenate([np.arange(start, end), end + np.flatnonzero(~has_suffix[end:])])
        blocks = np.zeros(1 << max(0, (len(rows) - 1) // ENTRIES_A_BLOCK).bit_length(), np.int64)
        longer = int(tables.context_levels[length]) if length < tables.order else len(tables.contexts)
        insert(blocks, tables.contexts, symbols, owner, rows, length, longer)
        filters.append(blocks)
    return filters[0], filters[1]
