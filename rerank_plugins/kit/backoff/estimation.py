"""Estimates a back-off model: sorts and counts the events once, then estimates one order after the other.

The time is that of sorting all n-grams twice and of a few random reads for each. Memory: the rows of the events (8 or
16 bytes each), first twice, while they are dealt into buckets, then with 12 bytes for each n-gram of the trie, of which
large orders wait in files for their turn; for the order at hand, 16 bytes for each n-gram and each context; for the
tables 12 and 16 more, unless they are packed. What exceeds the memory of the workspace lies in files too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.errors import ConfigError, ModelError
from rerank_plugins.core.threads import in_threads
from rerank_plugins.kit.backoff.events import TextEvents, TupleEvents
from rerank_plugins.kit.backoff.order_estimation import estimate_contexts, group_by_context, link_ngrams
from rerank_plugins.kit.backoff.smoothing import KneserNey, Smoothing, StupidBackoff
from rerank_plugins.kit.backoff.stores import STRETCH, PackedStore, RecordStore, filing
from rerank_plugins.kit.backoff.suffix_trie import TrieLevel, build_trie
from rerank_plugins.kit.backoff.tables import CONTEXT, EVENT, LOG_ZERO, RecordArray
from rerank_plugins.kit.elementary_functions import log10
from rerank_plugins.kit.workspace import Collection, Workspace

# The record of an event in the place of the two integers of its row.
ROW_EVENT = np.dtype({"names": list(EVENT.names or ()), "formats": ["<i4", "<f4", "<i4"], "itemsize": 16})


@dataclass(frozen=True)
class Estimate:
    """A model, packed or as records, and for each order its discounts, and its n-grams before the cut-off.

    `enough` says for each order whether the data was large enough to estimate the discounts from.
    """

    tables: Any
    discounts: list[tuple[float, ...]]
    ngrams: list[int]
    enough: list[bool]


def cutoffs(prune: Sequence[int], order: int) -> list[int]:
    """For each order the count up to which n-grams are pruned; the last value holds for all higher orders.

    Raises ConfigError for cut-offs that decrease, or that prune 1-grams (the cut-off of the vocabulary does that).
    """
    values = list(prune) or [0]
    if len(values) > order:
        raise ConfigError(f"there are cut-offs for {len(values)} orders, but the model has order {order}")
    if values[0] != 0:
        raise ConfigError(f"the cut-off of 1-grams is {values[0]}, wanted 0: the vocabulary leaves out rare words")
    if any(b < a for a, b in pairwise(values)):
        raise ConfigError(f"cut-offs {values}: that of longer n-grams may not be lower than that of shorter ones")
    return values + values[-1:] * (order - len(values))


def estimate(
    source: TupleEvents,
    smoothing: Smoothing | None = None,
    *,
    quantise: int | None = None,
    workspace: Workspace | None = None,
    prune: Sequence[int] = (),
    jobs: int = 2,
    progress: Callable[[str], None] = lambda stage: None,
    **options: Any,
) -> Estimate:
    """Estimate a model, by modified Kneser–Ney smoothing unless another is given: packed tables of a text, or records.

    The values of packed tables are exact, or have `quantise` bits; the other options are those of `estimate_counted`.
    Raises ModelError where there are no events.
    """
    workspace, smoothing, layout = workspace or Workspace(), smoothing or KneserNey(), source.layout
    raw = any(cutoffs(prune, layout.order))
    if len(source) == 0:
        raise ModelError("there are no events to estimate a model from")
    is_text = isinstance(source, TextEvents)
    store = PackedStore(layout.order, quantise, workspace) if is_text else RecordStore(workspace)
    # Sort the events, and count the n-grams of all orders in one pass (suffix_trie.py).
    progress("sorting")
    rows, starts = source.deal(workspace, jobs)
    levels = build_trie(rows, starts, layout.places, workspace, continuation=smoothing.continuation, raw=raw, jobs=jobs)
    del rows
    options |= {"workspace": workspace, "prune": prune, "jobs": jobs, "progress": progress}
    return estimate_counted(store, levels, layout.sizes, smoothing, **options)


def estimate_counted(
    store: PackedStore | RecordStore,
    levels: list[TrieLevel],
    sizes: tuple[int, ...],
    smoothing: Smoothing,
    *,
    workspace: Workspace,
    prune: Sequence[int] = (),
    never: Sequence[int] = (),
    lowest: FloatArray | None = None,
    jobs: int = 2,
    progress: Callable[[str], None] = lambda stage: None,
) -> Estimate:
    """Estimate a model from the counts of its n-grams; the list of levels is empty afterwards.

    `sizes`     as in the layout of the events
    `prune`     by order, the count up to which n-grams are left out (`cutoffs`)
    `never`     symbols that are never predicted (`<s>`)
    `lowest`    (symbols) p of each symbol in the empty context, from a model of another kind; by default 1-grams
                interpolated with the uniform distribution
    `progress`  is called with the name of each stage
    The model does not depend on the order of the events, on `jobs` or on the memory. Raises ModelError for too many
    n-grams.
    """
    cut = cutoffs(prune, len(sizes))
    # The discounts of each order, from its counts of counts (smoothing.py).
    ngrams = [len(level) for level in levels]
    of_counts = [np.array([np.count_nonzero(level.count == j) for j in range(5)]) for level in levels]
    discounts, enough = zip(*(smoothing.discounts_of(n) for n in of_counts), strict=True)
    # The events of the model: all symbols in the empty context, then the n-grams of each order that are kept.
    total = sizes[0] + sum(kept_ngrams(level, low) for level, low in zip(levels[1:], cut[1:], strict=True))
    if total >= 1 << 31:
        raise ModelError(f"{total:,} n-grams are more than a model can hold (2**31 - 1); prune rare ones")
    # Long n-grams wait in files while the shorter ones are estimated.
    for level in levels[1:]:
        level.set_aside(workspace)
    # The empty context, from which all other orders are interpolated.
    p = unigrams(levels[0], sizes[0], discounts[0], smoothing, never) if lowest is None else lowest
    if p.shape != (sizes[0],):
        raise ValueError(f"`lowest` has shape {p.shape}, wanted one p for each of {sizes[0]} symbols")
    # One order after the other; each needs p of the shorter n-grams, that is of the order before.
    orders = Orders(levels, store, p, cut, sizes, workspace, jobs)
    lower: FloatArray = p[levels[0].symbol]
    for order in range(2, len(sizes) + 1):
        progress(f"{order}-grams")
        lower = orders.add(order, lower, discounts[order - 1], smoothing.backoff)
    levels.clear()
    store.add_events(orders.events)
    unseen = float(np.log10(smoothing.backoff)) if isinstance(smoothing, StupidBackoff) else 0.0
    return Estimate(store.finish(unseen), [tuple(d.tolist()) for d in discounts], ngrams, list(enough))


def kept_ngrams(level: TrieLevel, cutoff: int) -> int:
    """How many n-grams of an order occur more often than the cut-off."""
    raw = level.count if level.raw is None else level.raw
    return len(level) if cutoff == 0 else int(np.count_nonzero(raw > cutoff))


def unigrams(
    level: TrieLevel, size: int, discount: FloatArray, smoothing: Smoothing, never: Sequence[int]
) -> FloatArray:
    """(size) p of each symbol in the empty context.

    Kneser–Ney interpolates with the uniform distribution over the symbols that may be predicted. Stupid backoff gives
    an unseen symbol the score of a symbol that was seen once.
    """
    counts = np.zeros(size)
    counts[level.symbol] = level.count
    total = counts.sum()
    possible = np.ones(size, bool)
    possible[list(never)] = False
    taken = np.where(counts > 0, discount[np.minimum(np.maximum(counts, 1), 3).astype(int) - 1], 0.0)
    if isinstance(smoothing, StupidBackoff):
        p = np.maximum(counts, 1.0) / total
    else:
        p = (counts - taken) / total + taken.sum() / total / possible.sum()
    p[~possible] = 0.0
    probabilities: FloatArray = p
    return probabilities


class Orders:
    """Estimates the orders from 2 on, each from the order before it, with p of the 1-grams given.

    `events` are those of the last order, which `store` has not got yet: in a text they still have to be linked.
    """

    def __init__(
        self, levels: list[TrieLevel], store: PackedStore | RecordStore, p: FloatArray, cut: list[int],
        sizes: tuple[int, ...], workspace: Workspace, jobs: int,
    ) -> None:  # fmt: skip
        self._levels, self._store, self._cut = levels, store, cut
        self._sizes, self._workspace, self._jobs = sizes, workspace, jobs
        self.events = np.zeros(len(p), EVENT)
        self.events["symbol"] = np.arange(len(p))
        self.events["log10"] = LOG_ZERO
        self.events["log10"][p > 0] = log10(p[p > 0])
        store.add_contexts(np.zeros(1, CONTEXT), len(p))
        self._context_levels, self._before = [0, 1], 0  # events before those of the last order
        self._predicted = levels[0].symbol
        self._context_of = workspace.zeros(len(levels[0]), np.int32)
        self._node = self._next = np.zeros(1, np.int32)

    def add(self, order: int, lower: FloatArray, discounts: FloatArray, backoff: float) -> FloatArray:
        """Estimate the events and contexts of an order; p of each of its n-grams, if there are longer ones."""
        level, last = self._levels[order - 1], order == len(self._levels)
        contexts, events, p = self._estimate(order, lower, discounts, backoff)
        # What the next order needs of each n-gram besides p and its context: the symbol that it predicts.
        if not last:
            predicted = self._workspace.empty(len(level), np.int32)
            np.take(self._predicted, level.parent, out=predicted, mode="clip")
            self._predicted = predicted
        # The n-grams of the order before can now be linked to the contexts that follow them; those of this order wait.
        if self._store.has_links:
            level.set_aside(self._workspace)
            self._link(order - 1, contexts)
        self._store.add_events(self.events)
        self._before += len(self.events)
        self._store.add_contexts(contexts, self._before + len(events))
        self.events = events
        return p

    def _estimate(
        self, order: int, lower: FloatArray, discounts: FloatArray, backoff: float
    ) -> tuple[RecordArray, RecordArray, FloatArray]:
        """The contexts and the events of an order, and p of each of its n-grams."""
        # Bring the n-grams of each context together (order_estimation.py).
        level, empty, jobs = self._levels[order - 1], self._workspace.empty, self._jobs
        base, start = self._context_levels[-2:]
        parts, bits, context_starts, event_starts = group_by_context(
            level, self._context_of, start - base, self._sizes[order - 1], self._cut[order - 1], self._workspace, jobs
        )
        last = order == len(self._levels)
        level.count = level.raw = np.zeros(0, np.int32)  # no longer needed
        if last or not self._store.has_links:
            level.symbol = level.count
        # The records of the contexts of this order, and what the next one needs of each n-gram. The records of events
        # replace the rows from which they are estimated.
        contexts = empty(int(context_starts[-1]), CONTEXT)
        first = self._before + len(self.events)
        p = empty(0 if last else len(level), np.float64)
        context_of = self._context_of = empty(0 if last else len(level), np.int32)
        if any(self._cut) and not last:
            context_of[:] = -1  # for the n-grams of contexts that were pruned altogether
        # Estimate p and the back-off weights, each part of the groups in a thread of its own.
        events = [part.view(ROW_EVENT)[:, 0] for part in parts]
        tasks = [
            (
                *(part, bits, base, first + event, discounts, backoff),
                *(self._predicted, level.parent, lower, contexts, records, context, p, context_of),
            )
            for part, records, context, event in zip(
                parts, events, context_starts.tolist(), event_starts.tolist(), strict=False
            )
        ]
        in_threads(estimate_contexts, tasks, jobs)
        self._context_levels.append(start + len(contexts))
        kept = Collection(filing(self._workspace), EVENT)
        for part, size in zip(events, np.diff(event_starts).tolist(), strict=True):
            kept.append(part[:size])
        return contexts, kept.finish(), p

    def _link(self, order: int, contexts: RecordArray) -> None:
        """Link the n-grams of an order to the contexts that follow them, now that contexts of that length are known."""
        level = self._levels[order - 1]
        node, following = (self._workspace.empty(len(level), np.int32) for _ in range(2))
        base = self._context_levels[order]
        link_ngrams(level.symbol, level.parent, self._node, self._next, contexts, base, node, following)
        if order == 1:
            self.events["next"][contexts["symbol"]] = base + np.arange(len(contexts))
        else:
            for start in range(0, len(self.events), STRETCH):  # until now `next` was the number of the n-gram
                ngrams = self.events["next"][start : start + STRETCH]
                ngrams[:] = following[ngrams]
        self._node, self._next = self._workspace.set_aside(node), self._workspace.set_aside(following)
        level.symbol = level.parent = np.zeros(0, np.int32)
