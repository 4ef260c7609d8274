"""Deals the events of a text or of tuples of any kind into buckets, ready for sorting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.core.threads import in_threads
from rerank_plugins.kit.backoff.layout import EventLayout, pack_text, scatter_rows
from rerank_plugins.kit.backoff.radix_sort import bucket_bounds, stretches
from rerank_plugins.kit.workspace import Collection, Workspace

MOST = (1 << 31) - 1  # events at most: counts and numbers of n-grams have 31 bits


class EventSource(Protocol):
    """What the estimator reads: packed rows in buckets by predicted symbol."""

    @property
    def layout(self) -> EventLayout:
        """How events are packed."""
        ...

    def __len__(self) -> int: ...
    def deal(self, workspace: Workspace, jobs: int) -> tuple[LongArray, LongArray]:
        """(m, words) rows, and (buckets + 1) where each bucket starts."""
        ...


@dataclass
class TextEvents:
    """Every word of a text in the context of the words before it, back to `<s>`.

    `tokens` (n) are ids, and each sentence ends in the id `eos`; `bos` is the id of `<s>`, which no token has.
    """

    tokens: IntArray
    size: int
    order: int
    bos: int = 1
    eos: int = 2

    @property
    def layout(self) -> EventLayout:
        """All columns have the same ids."""
        return EventLayout((self.size,) * self.order)

    def __len__(self) -> int:
        return len(self.tokens)

    def deal(self, workspace: Workspace, jobs: int) -> tuple[LongArray, LongArray]:
        """One row for each token; afterwards the source is empty."""
        layout, tokens = self.layout, self.tokens
        self.tokens = tokens[:0].copy()
        return _deal(
            len(tokens), self.size, layout.words, workspace, jobs,
            lambda a, b: np.bincount(tokens[a:b], minlength=self.size),
            lambda a, b, *to: pack_text(tokens, a, b, self.bos, self.eos, layout.places, *to),
        )  # fmt: skip


class TupleEvents:
    """Events of any kind, added a block at a time; each column has ids of its own.

    `sizes[0]` is the number of symbols that can be predicted, `sizes[j]` that of the symbols in context place j;
    place 1 is the nearest.
    """

    def __init__(self, sizes: tuple[int, ...], workspace: Workspace | None = None) -> None:
        self.layout = EventLayout(sizes)
        self._blocks = Collection(workspace or Workspace(), np.int64, self.layout.words)

    def add(self, events: NDArray[np.integer[Any]]) -> None:
        """Add (m, n) events: the context, farthest symbol first, then x; NONE (-1) stands left of a short context.

        Raises ValueError for ids that are out of range.
        """
        self.add_packed(self.layout.pack(events))

    def add_packed(self, rows: LongArray) -> None:
        """Add (m, words) rows that the layout has packed."""
        self._blocks.append(rows)

    def __len__(self) -> int:
        return self._blocks.rows

    def packed(self) -> LongArray:
        """(m, words) the rows of all events as they were added; afterwards the source is empty."""
        return self._blocks.finish()

    def deal(self, workspace: Workspace, jobs: int) -> tuple[LongArray, LongArray]:
        """One row for each event; afterwards the source is empty."""
        packed = self.packed()
        shift, size = int(self.layout.places[0, 1]), self.layout.sizes[0]
        return _deal(
            len(packed), size, self.layout.words, workspace, jobs,
            lambda a, b: np.bincount(packed[a:b, 0] >> shift, minlength=size),
            lambda a, b, *to: scatter_rows(packed, a, b, shift, *to),
        )  # fmt: skip


def _deal(
    size: int, symbols: int, words: int, workspace: Workspace, jobs: int,
    count: Callable[[int, int], LongArray], write: Callable[..., None],
) -> tuple[LongArray, LongArray]:  # fmt: skip
    """Count the events of each bucket, then write them; each thread has a range of its own in each bucket.

    `count` counts the predicted symbols of a stretch, `write` writes its rows. Raises ModelError for too many events.
    """
    if size > MOST:
        raise ModelError(f"{size:,} events are more than the {MOST:,} that a model can be estimated from")
    parts = stretches(size, jobs)
    histograms = np.array(in_threads(count, parts, jobs)).reshape(jobs, symbols)
    bins, starts = bucket_bounds(histograms.sum(axis=0))
    own = np.array([np.bincount(bins, row, len(starts) - 1) for row in histograms]).astype(np.int64)
    cursors = starts[:-1] + np.cumsum(own, axis=0) - own
    rows = workspace.empty((size, words), np.int64)
    in_threads(
        lambda a, b, at: write(a, b, bins, at, rows),
        [(a, b, at) for (a, b), at in zip(parts, cursors, strict=True)],
        jobs,
    )
    return rows, starts
