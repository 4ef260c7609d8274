"""Numbers words straight from the bytes of a text, without a Python object for each look-up.

An open-addressed table, stored in the model file, holds the 64-bit FNV-1a hash of each known word beside its number.
As in KenLM, equal hashes count as equal words: between a million unknown and a million known words, the probability of
any collision is 5e-8. Known words have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.kernels import filling_kernel, part

FNV_START, FNV_FACTOR = 0xCBF29CE484222325, 0x100000001B3  # FNV-1a
SPACE, NEWLINE = 32, 10
EMPTY = 0  # a hash that no word has: a hash of 0 becomes 1


def hash_table(words: Sequence[str], first: int) -> LongArray:
    """(size, 2) hash and number of the words from number `first` on. Raises ModelError if two hashes are equal."""
    text = "\n".join(words[first:]).encode()
    size = 16
    while size < 2 * len(words):
        size *= 2
    table = np.zeros((size, 2), np.int64)
    if len(words) > first and not fill_table(np.frombuffer(text, np.uint8), first, table):
        raise ModelError("two words of the vocabulary have the same hash, or one word is there twice")
    return table


def find_words(sentences: Sequence[Sequence[str]], table: LongArray, eos: int) -> IntArray | None:
    """Numbers of the words of all sentences, each ended by `eos`; 0 for unknown words.

    The result is None if a word contains a space or line end, since its bytes then look like those of two words.
    """
    text = "\n".join(map(" ".join, sentences)).encode(errors="surrogatepass")
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    tokens = np.empty(int(lengths.sum()) + len(sentences), np.int32)
    fits = not len(sentences) or number_words(np.frombuffer(text, np.uint8), lengths, table, eos, tokens)
    return tokens if fits else None


@part
def first_slot(table: LongArray, key: int) -> int:
    """The slot at which the search for the hash begins."""
    return (key ^ (key >> 29)) & (len(table) - 1)


@part
def slot_of(table: LongArray, key: int) -> int:
    """The slot of the hash in the table, or the empty slot where it would be put."""
    slot = first_slot(table, key)
    while table[slot, 0] != key and table[slot, 0] != EMPTY:
        slot = (slot + 1) & (len(table) - 1)
    return slot


@part
def next_word(text: NDArray[np.uint8], at: int) -> Any:
    """Hash of the word that starts at `at`, and where it ends: at a space, a line end, or the end of the text."""
    key = np.uint64(FNV_START)
    while at < len(text) and text[at] != SPACE and text[at] != NEWLINE:
        key = (key ^ np.uint64(text[at])) * np.uint64(FNV_FACTOR)
        at += 1
    hashed = np.int64(key)
    return (hashed if hashed != EMPTY else np.int64(1)), at


@filling_kernel
def fill_table(text: NDArray[np.uint8], first: int, table: LongArray) -> bool:
    """Add the words of a text with one word per line; returns whether all their hashes differ."""
    at = 0
    number = first
    while at <= len(text):
        key, end = next_word(text, at)
        slot = slot_of(table, key)
        if table[slot, 0] != EMPTY:
            return False
        table[slot, 0] = key
        table[slot, 1] = number
        number += 1
        at = end + 1
    return True


@filling_kernel
def number_words(text: NDArray[np.uint8], lengths: LongArray, table: LongArray, eos: int, tokens: IntArray) -> bool:
    """Fill in the numbers of all words; returns whether each sentence has as many words as `lengths` says."""
    at = 0
    token = 0
    for length in lengths:
        for i in range(length):
            key, end = next_word(text, at)
            if i < length - 1 and (end >= len(text) or text[end] != SPACE):
                return False
            slot = slot_of(table, key)
            tokens[token] = table[slot, 1]
            token += 1
            at = end + 1
        if length == 0:
            at += 1
        if at <= len(text) and text[at - 1] != NEWLINE:
            return False
        tokens[token] = eos
        token += 1
    return at == len(text) + 1
