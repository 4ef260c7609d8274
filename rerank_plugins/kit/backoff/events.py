"""Packs events into as few 64-bit integers as their ids need, deals them into buckets, and sorts these by radix sort.

The columns, x first, then c_1 … c_{n-1}, are laid out from the highest bits of the first integer down; none crosses
the border of two integers. Rows compare by x, then by the nearest context symbol, and so on: *suffix order*. Context
symbols are stored plus one; 0 marks the end of the context. Buckets, by the leading id, stay within the processor's
cache, and are sorted by digits of 11 bits from the least significant one; threads share them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.errors import ConfigError, ModelError
from rerank_plugins.core.threads import in_threads
from rerank_plugins.kit.kernels import filling_kernel

DIGIT = 11  # bits
TARGET = 1 << 16  # rows of a bucket, about
BITS = 63  # of a non-negative int64
BOS, EOS = 1, 2  # ids of `<s>` and `</s>` in a text
NONE = -1  # in an array of events: no symbol, as the context is shorter
PIECE = 1 << 20  # words of a text packed at a time
MAX_EVENTS = (1 << 31) - 1  # events at most: counts and numbers of n-grams have 31 bits


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


def bucket_runs(starts: LongArray, parts: int) -> list[tuple[int, int]]:
    """Runs of buckets with about equal numbers of rows: (first bucket, end) of each."""
    wanted = np.linspace(0, starts[-1], parts + 1)[1:-1]
    cuts = [0, *np.searchsorted(starts, wanted).tolist(), len(starts) - 1]
    return [(first, end) for first, end in pairwise(cuts) if first < end]


def stretches(size: int, parts: int) -> list[tuple[int, int]]:
    """The range of `size` cut into `parts` stretches of about the same length: (start, end) of each."""
    return list(pairwise((np.arange(parts + 1) * size // parts).tolist()))


def sort_buckets(rows: LongArray, starts: LongArray, first: int, end: int, words: int) -> None:
    """Sort each of the buckets `first` … `end` by its first `words` columns, keeping the order of equal rows."""
    largest = int(np.diff(starts[first : end + 1]).max(initial=0))
    spare, count = np.empty((largest, rows.shape[1]), np.int64), np.empty(1 << DIGIT, np.int64)
    radix_sort(rows, starts, first, end, words, spare, count)


@filling_kernel
def radix_sort(
    rows: LongArray, starts: LongArray, first: int, end: int, words: int, spare: LongArray, count: LongArray
) -> None:
    """Sort the buckets; `spare` has room for the largest of them, to move rows to and fro."""
    width = rows.shape[1]
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


@dataclass(frozen=True)
class EventLayout:
    """The layout of the columns of an event: x, then c_1 … c_{n-1}.

    `sizes[0]` is the number of symbols that can be predicted, `sizes[j]` the number of symbols in context place j.
    """

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.sizes) <= 6:
            raise ConfigError(f"order {len(self.sizes)}: orders 1 to 6 are supported")
        if min(self.sizes) < 1 or max(self.sizes) >= 1 << 31:
            raise ConfigError(f"a column of an event may have 1 to 2**31 - 1 symbols, found {self.sizes}")

    @property
    def order(self) -> int:
        """The length of the longest n-grams, x and its context."""
        return len(self.sizes)

    @property
    def places(self) -> LongArray:
        """(n, 3) for each column the integer (word) that holds it, its shift and its mask."""
        places, word, free = [], 0, BITS
        for column, size in enumerate(self.sizes):
            bits = size.bit_length() if column else max(1, (size - 1).bit_length())
            if bits > free:
                word, free = word + 1, BITS
            free -= bits
            places.append((word, free, (1 << bits) - 1))
        return np.array(places, np.int64)

    @property
    def words(self) -> int:
        """The number of integers in a row."""
        return int(self.places[-1, 0]) + 1

    def pack(self, events: NDArray[np.integer[Any]]) -> LongArray:
        """(m, n) events, farthest context symbol first, x last, NONE left of short contexts -> (m, words) rows.

        Raises ValueError for ids that are out of range, and for a context with a gap.
        """
        events = np.asarray(events)
        if events.ndim != 2 or events.shape[1] != self.order:
            raise ValueError(f"events have shape {events.shape}, wanted (m, {self.order})")
        rows = np.zeros((len(events), self.words), np.int64)
        for column, (size, (word, shift, _)) in enumerate(zip(self.sizes, self.places.tolist(), strict=True)):
            ids = events[:, self.order - 1 - column].astype(np.int64)
            low = NONE if column else 0
            if len(ids) and (ids.min() < low or ids.max() >= size):
                raise ValueError(
                    f"ids of column {column} go from {ids.min()} to {ids.max()}, wanted {low} to {size - 1}"
                )
            if column > 1 and ((ids != NONE) & (events[:, self.order - column] == NONE)).any():
                raise ValueError("a context has a gap: NONE may stand only to the left of all its symbols")
            rows[:, word] |= (ids + 1 if column else ids) << shift
        return rows


@filling_kernel
def pack_text(tokens: IntArray, start: int, bos: int, eos: int, places: LongArray, rows: LongArray) -> None:
    """Pack the words from `start` on of a text in which each sentence ends in `eos`; `rows` are zero."""
    for i in range(start, start + len(rows)):
        rows[i - start, 0] = np.int64(tokens[i]) << places[0, 1]
        # The context: the words before it, back to `<s>`.
        for column in range(1, len(places)):
            j = i - column
            begins = j < 0 or tokens[j] == eos
            symbol = np.int64(bos) if begins else np.int64(tokens[j])
            rows[i - start, places[column, 0]] |= (symbol + 1) << places[column, 1]
            if begins:
                break


@filling_kernel
def scatter_rows(
    packed: LongArray, start: int, end: int, shift: int, bins: IntArray, cursor: LongArray, rows: LongArray
) -> None:
    """Copy packed rows into their buckets.

    `bins[x]` is the bucket of x, `cursor[bucket]` the next free row in it.
    """
    for i in range(start, end):
        bucket = bins[packed[i, 0] >> shift]
        row = cursor[bucket]
        cursor[bucket] += 1
        for word in range(rows.shape[1]):
            rows[row, word] = packed[i, word]


class TupleEvents:
    """Events of any kind, added a block at a time; each column has ids of its own.

    `sizes[0]` is the number of symbols that can be predicted, `sizes[j]` that of the symbols in context place j;
    place 1 is the nearest.
    """

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.layout = EventLayout(sizes)
        self._blocks: list[LongArray] = []

    def add(self, events: NDArray[np.integer[Any]]) -> None:
        """Add (m, n) events: the context, farthest symbol first, then x; NONE (-1) stands left of a short context.

        Raises ValueError for ids that are out of range.
        """
        self._blocks.append(self.layout.pack(events))

    def __len__(self) -> int:
        return sum(map(len, self._blocks))

    def deal(self, jobs: int) -> tuple[LongArray, LongArray]:
        """(m, words) packed rows in buckets, and (buckets + 1) where each bucket starts; the source is empty then."""
        packed = np.concatenate([np.zeros((0, self.layout.words), np.int64), *self._blocks])
        self._blocks.clear()
        shift, size = int(self.layout.places[0, 1]), self.layout.sizes[0]
        return dealt(
            len(packed), size, self.layout.words, jobs,
            lambda a, b: np.bincount(packed[a:b, 0] >> shift, minlength=size),
            lambda a, b, *to: scatter_rows(packed, a, b, shift, *to),
        )  # fmt: skip


class TextEvents(TupleEvents):
    """Every word of a text in the context of the words before it, back to `<s>`.

    `tokens` (n) are ids below `size`, and each sentence ends in the id EOS; no token has BOS, the id of `<s>`.
    """

    def __init__(self, tokens: IntArray, size: int, order: int) -> None:
        super().__init__((size,) * order)
        for start in range(0, len(tokens), PIECE):
            rows = np.zeros((min(PIECE, len(tokens) - start), self.layout.words), np.int64)
            pack_text(tokens, start, BOS, EOS, self.layout.places, rows)
            self._blocks.append(rows)


def dealt(
    size: int, bins: int, words: int, jobs: int,
    count: Callable[[int, int], LongArray], write: Callable[..., None],
) -> tuple[LongArray, LongArray]:  # fmt: skip
    """(m, words) rows in buckets, and (buckets + 1) where each bucket starts; each thread has its range in each bucket.

    `count` counts the rows of a stretch of `size` things by bin, `write` writes them, given the stretch, the bucket of
    each bin, the next free row of each bucket, and the rows. Raises ModelError for too many things.
    """
    if size > MAX_EVENTS:
        raise ModelError(f"{size:,} events are more than the {MAX_EVENTS:,} that a model can be estimated from")
    parts = stretches(size, jobs)
    histograms = np.array(in_threads(count, parts, jobs)).reshape(jobs, bins)
    bucket, starts = bucket_bounds(histograms.sum(axis=0))
    own = np.array([np.bincount(bucket, row, len(starts) - 1) for row in histograms]).astype(np.int64)
    cursors = starts[:-1] + np.cumsum(own, axis=0) - own
    rows = np.empty((int(starts[-1]), words), np.int64)
    tasks = [(a, b, bucket, at, rows) for (a, b), at in zip(parts, cursors, strict=True)]
    in_threads(write, tasks, jobs)
    return rows, starts
