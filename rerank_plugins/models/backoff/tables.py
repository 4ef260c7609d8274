"""A finished back-off model as two arrays of records.

Contexts are numbered level by level (0 is the empty context), each level in suffix order, so the contexts that lengthen
a context stand together. The events of a context stand together too, by symbol; those of the empty context are all the
symbols there are, so that a symbol is its own place. Values are log10 in 32 bits, as in ARPA files and KenLM: what is
imported is exported again digit for digit. Everything that leaves this package as a score is in natural logs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.arrays import IntArray, LongArray
from rerank_plugins.errors import ModelError

CONTEXT = np.dtype([("backoff", "<f4"), ("parent", "<i4"), ("events", "<i4"), ("symbol", "<i4")])
EVENT = np.dtype([("symbol", "<i4"), ("log10", "<f4"), ("next", "<i4")])
LOG_ZERO = -99.0  # log10 of 0 in ARPA files
RecordArray = NDArray[Any]


@dataclass(frozen=True)
class BackoffTables:
    """The arrays of a model of order n.

    `contexts` (C + 1) of CONTEXT: log10 of the back-off weight, the context without its farthest symbol (that symbol
    is `symbol`), the first of its events; the last record only ends the last context's events.
    `events` (E) of EVENT: the predicted symbol, log10 p, and in models of text the longest known context after it.
    `context_levels`, `event_levels` (n + 1): where the contexts of 0, 1, … symbols and the events in them start.
    `children` (C + 1): the first context that lengthens each one; empty in models of text, which go by `next`.
    `unseen` log10: weight for each symbol by which a context is longer than the longest one known of it.
    """

    contexts: RecordArray
    events: RecordArray
    context_levels: LongArray
    event_levels: LongArray
    children: IntArray = field(default_factory=lambda: np.zeros(0, np.int32))
    unseen: float = 0.0

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return len(self.event_levels) - 1

    @property
    def sizes(self) -> list[int]:
        """How many n-grams of each order."""
        return [int(n) for n in np.diff(self.event_levels)]

    def check(self, where: str) -> None:
        """Raise ModelError where the arrays do not fit together; O(order), not a look at every value."""
        contexts, events = len(self.contexts) - 1, len(self.events)
        levels = (self.context_levels, contexts), (self.event_levels, events)
        fits = all(len(starts) == self.order + 1 and starts[0] == 0 and starts[-1] == end for starts, end in levels)
        fits = fits and all(bool((np.diff(starts) >= 0).all()) for starts, _ in levels)
        fits = fits and contexts >= 1 and int(self.contexts[-1]["events"]) == events
        if not fits or len(self.children) not in (0, contexts + 1):
            raise ModelError(f"{where}: damaged model: its arrays do not fit together")
