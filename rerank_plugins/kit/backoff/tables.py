"""A finished back-off model as two arrays of records.

Contexts are numbered level by level (0 is the empty context), each level in suffix order, so that the contexts that
extend a context by one symbol stand together. The events of a context stand together too, sorted by symbol; the empty
context has an event for every symbol, at the place of its number. Values are log10 in 32 bits, as in ARPA files and
KenLM, so that imported values are exported digit for digit. All scores that leave this package are in natural logs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.errors import ModelError

CONTEXT = np.dtype([("backoff", "<f4"), ("parent", "<i4"), ("events", "<i4"), ("symbol", "<i4")])
EVENT = np.dtype([("symbol", "<i4"), ("log10", "<f4"), ("next", "<i4")])
LOG_ZERO = -99.0  # log10 of 0 in ARPA files
RecordArray = NDArray[Any]


@dataclass(frozen=True)
class BackoffTables:
    """The arrays of a model of order n.

    `contexts` (C + 1) of CONTEXT: log10 of the back-off weight; the context without its farthest symbol, and that
    symbol; the first of its events. The last record only marks the end of the events of the last context.
    `events` (E) of EVENT: the predicted symbol; log10 p; in models of text the longest known context after it.
    `context_levels`, `event_levels` (n + 1): where the contexts of 0, 1, … symbols and their events start.
    `children` (C + 1): the first extension of each context by a symbol; empty in models of text, which follow `next`.
    `unseen`: log10 of the weight of each symbol by which the whole context is longer than the longest known one.
    """

    contexts: RecordArray
    events: RecordArray
    context_levels: LongArray
    event_levels: LongArray
    children: IntArray = field(default_factory=lambda: np.zeros(0, np.int32))
    unseen: float = 0.0

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.event_levels) - 1

    @property
    def sizes(self) -> list[int]:
        """The number of n-grams of each order."""
        return [int(n) for n in np.diff(self.event_levels)]

    @property
    def unigrams(self) -> NDArray[np.float32]:
        """(symbols) log10 p of each symbol in the empty context."""
        values: NDArray[np.float32] = self.events["log10"][: self.sizes[0]]
        return values

    def check(self, where: str) -> None:
        """Raise ModelError if the arrays do not fit together. O(order): not every value is checked."""
        contexts, events = len(self.contexts) - 1, len(self.events)
        if self.contexts.dtype != CONTEXT or self.events.dtype != EVENT:
            raise ModelError(f"{where}: damaged model: its records are of another type")
        levels = (self.context_levels, contexts), (self.event_levels, events)
        fits = all(len(starts) == self.order + 1 and starts[0] == 0 and starts[-1] == end for starts, end in levels)
        fits = fits and all(bool((np.diff(starts) >= 0).all()) for starts, _ in levels)
        fits = fits and contexts >= 1 and int(self.contexts[-1]["events"]) == events
        if not fits or len(self.children) not in (0, contexts + 1):
            raise ModelError(f"{where}: damaged model: its arrays do not fit together")
