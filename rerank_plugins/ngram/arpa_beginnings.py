"""The n-gram that each longer n-gram of an ARPA file begins with, found by 64-bit hashes of n-grams.

Equal hashes count as equal n-grams, as in KenLM: among ten million n-grams the probability of any collision is 3e-6.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel, part, prefetch
from rerank_plugins.kit.vocabulary.word_hash import EMPTY, first_slot, slot_of

MIX = 0xD6E8FEB86659FD93
AHEAD = 16  # how many rows ahead the memory of a slot is asked for


def row_table(keys: LongArray) -> LongArray:
    """(size, 2) the hash table of the rows with these hashes, as in kit/vocabulary/word_hash.py."""
    table = np.zeros((1 << (3 * len(keys) // 2).bit_length(), 2), np.int64)
    fill_rows(keys, table, table.reshape(-1))
    return table


def rows_of(keys: LongArray, table: LongArray) -> IntArray:
    """(n) the row with each hash, or -1."""
    rows = np.empty(len(keys), np.int32)
    find_rows(keys, table, table.reshape(-1), rows)
    return rows


@part
def mixed(key: Any, number: Any) -> Any:
    """The hash of a sequence that is longer by one word."""
    value = (np.uint64(key) ^ np.uint64(number + 1)) * np.uint64(MIX)
    value = (value ^ (value >> np.uint64(32))) * np.uint64(MIX)
    return np.int64(value ^ (value >> np.uint64(32)))


@filling_kernel
def hash_ngrams(words: Any, beginnings: Any, keys: Any) -> None:
    """Fill in the hash of each n-gram without its last word, and that of the whole n-gram."""
    last = words.shape[1] - 1
    for i in range(len(words)):
        key = np.int64(0)
        for column in range(last):
            key = mixed(key, words[i, column])
        beginnings[i] = key if key != EMPTY else np.int64(1)
        key = mixed(key, words[i, last])
        keys[i] = key if key != EMPTY else np.int64(1)


@filling_kernel
def fill_rows(keys: Any, table: Any, flat: Any) -> None:
    """Put each row into the table."""
    for row in range(len(keys)):
        if row + AHEAD < len(keys):
            prefetch(flat, 2 * first_slot(table, keys[row + AHEAD]))
        slot = slot_of(table, keys[row])
        table[slot, 0] = keys[row]
        table[slot, 1] = row


@filling_kernel
def find_rows(keys: Any, table: Any, flat: Any, rows: Any) -> None:
    """Fill in the row with each hash; the n-grams of a file that follow each other often begin alike."""
    for i in range(len(keys)):
        if i + AHEAD < len(keys):
            prefetch(flat, 2 * first_slot(table, keys[i + AHEAD]))
        if i > 0 and keys[i] == keys[i - 1]:
            rows[i] = rows[i - 1]
            continue
        slot = slot_of(table, keys[i])
        rows[i] = table[slot, 1] if table[slot, 0] != EMPTY else -1
