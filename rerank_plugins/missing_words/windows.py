"""Makes a text's events for counting: pairs of words with their distance, and words with their neighbours.

A text is an array of word numbers in which each sentence ends in `</s>`. Events are written as tuples of
kit/backoff/events.py: the columns stand in reverse order, so that the first key of a table is the last column.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rerank_plugins.core.arrays import IntArray
from rerank_plugins.kit.vocabulary.word_numbers import BOS, EOS

PIECE = 1 << 20  # tokens of a piece of text, about
REACH = 2  # neighbours on each side of a word
CONTEXTS = ("left2", "around", "right2", "left1", "right1")  # the five conditions, in the order of their weights
KEYS = {"left2": (-1, -2), "around": (-1, 1), "right2": (1, 2), "left1": (-1,), "right1": (1,)}  # offsets of neighbours


def pieces(tokens: IntArray, size: int = PIECE) -> Iterator[IntArray]:
    """Cut a text into pieces of whole sentences, of about `size` tokens each."""
    start = 0
    while start < len(tokens):
        end = start
        while end < len(tokens):
            end = min(end + size, len(tokens))
            ends = np.flatnonzero(tokens[start:end] == EOS)
            if len(ends):
                end = start + int(ends[-1]) + 1
                break
        yield tokens[start:end]
        start = end


def pair_events(tokens: IntArray, window: int) -> Iterator[IntArray]:
    """Yield (m, 3) events (m words between, right word, left word) for 0 <= m < window, distance by distance.

    `<s>` and `</s>` count as words, at the positions before the first word and after the last.
    """
    padded = np.concatenate([np.array([EOS], np.int32), tokens])
    ends = np.cumsum(padded == EOS)
    left = np.where(padded == EOS, BOS, padded)
    for between in range(min(window, len(padded) - 1)):
        first, second = slice(0, len(padded) - between - 1), slice(between + 1, None)
        inside = ends[between : len(padded) - 1] == ends[first]  # no sentence ends between the two
        events = np.empty((int(np.count_nonzero(inside)), 3), np.int32)
        events[:, 0], events[:, 1], events[:, 2] = between, padded[second][inside], left[first][inside]
        yield events


def context_events(tokens: IntArray, context: str) -> IntArray:
    """(m, keys + 1) events (word, second neighbour, first neighbour) of the words that have these neighbours.

    The nearest neighbours are words; the second neighbour to the left or right may be `<s>` or `</s>`.
    """
    edge = np.full(REACH, EOS, np.int32)
    padded = np.concatenate([edge, tokens, edge])

    def at(place: int) -> IntArray:
        return padded[REACH + place : len(padded) - REACH + place]

    places = KEYS[context]
    keep = at(0) != EOS
    for place in places:
        if abs(place) == 1:
            keep &= at(place) != EOS
    columns = [at(0)[keep]]
    for place in reversed(places):
        neighbour = at(place)[keep]
        columns.append(np.where(neighbour == EOS, BOS, neighbour) if place < 0 else neighbour)
    return np.stack(columns, axis=1).astype(np.int32, copy=False)
