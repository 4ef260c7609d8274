"""Encodes texts as flat arrays of integers for the kernels: words by their numbers, characters by their code points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count
from typing import NamedTuple

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray

TokenArray = IntArray


class Sequences(NamedTuple):
    """Ragged rows of integers: sequence i is `tokens[starts[i]:starts[i + 1]]`; tokens are ≥ 0."""

    tokens: TokenArray
    starts: LongArray

    @property
    def lengths(self) -> LongArray:
        """(sequences): the number of tokens of each sequence."""
        return np.diff(self.starts)


def encode_words(texts: Sequence[str]) -> tuple[Sequences, list[str]]:
    """White-space words, numbered in the order of their appearance, and the list of words by number."""
    lists = [text.split() for text in texts]
    starts = _starts([len(words) for words in lists])
    number: defaultdict[str, int] = defaultdict(count().__next__)
    words = chain.from_iterable(lists)
    tokens = np.fromiter(map(number.__getitem__, words), np.int32, int(starts[-1]))
    return Sequences(tokens, starts), list(number)


def encode_characters(texts: Sequence[str]) -> Sequences:
    """The code points of the texts, including lone surrogates."""
    starts = _starts([len(text) for text in texts])
    tokens = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.int32)
    # The copy is writable, as encoded words are, so that kernels are compiled for one type only.
    return Sequences(tokens.copy(), starts)


def split_words(sequences: Sequences, pieces: Sequence[Sequence[str]]) -> Sequences:
    """Replace each token by its pieces (none, one or more); the tokens of the result number the distinct pieces."""
    number: defaultdict[str, int] = defaultdict(count().__next__)
    first = _starts([len(parts) for parts in pieces])
    flat = np.fromiter(map(number.__getitem__, chain.from_iterable(pieces)), np.int32, int(first[-1]))
    counts = np.diff(first)[sequences.tokens]
    ends = _starts(counts)
    within = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
    tokens = flat[np.repeat(first[sequences.tokens], counts) + within]
    return Sequences(tokens, ends[sequences.starts])


def _starts(lengths: Sequence[int] | LongArray) -> LongArray:
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts
