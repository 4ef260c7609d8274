"""Estimates a back-off model: sorts and counts the events once, then estimates one order after the other.

The time is that of sorting all n-grams twice and of a few random reads for each. Memory: the rows of the events (8 or
16 bytes each), first twice, while they are dealt into buckets, then with 12 bytes for each n-gram of the trie, or 16
with cut-offs; for the order at hand, 32 bytes for each n-gram; for the tables 12 for each n-gram and 16 for each
context, which are there twice in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.errors import ConfigError, ModelError
from rerank_plugins.core.threads import in_threads
from rerank_plugins.kit.backoff.events import TextEvents, TupleEvents
from rerank_plugins.kit.backoff.order_estimation import (
    estimate_contexts,
    first_children,
    group_by_context,
    link_events,
)
from rerank_plugins.kit.backoff.smoothing import KneserNey, Smoothing, StupidBackoff
from rerank_plugins.kit.backoff.suffix_trie import TrieLevel, build_trie
from rerank_plugins.kit.backoff.tables import CONTEXT, EVENT, LOG_ZERO, BackoffTables


@dataclass(frozen=True)
class Estimate:
    """A model, and for each order its discounts, and its n-grams before the cut-off.

    `enough` says for each order whether the data was large enough to estimate the discounts from.
    """

    tables: BackoffTables
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
    prune: Sequence[int] = (),
    never: Sequence[int] = (),
    lowest: FloatArray | None = None,
    jobs: int = 2,
    progress: Callable[[str], None] = lambda stage: None,
) -> Estimate:
    """Estimate a model, by modified Kneser–Ney smoothing unless another is given.

    `prune`     by order, the count up to which n-grams are left out (`cutoffs`)
    `never`     symbols that are never predicted (`<s>`)
    `lowest`    (symbols) p of each symbol in the empty context, from a model of another kind; by default 1-grams
                interpolated with the uniform distribution
    `progress`  is called with the name of each stage
    The model does not depend on the order of the events or on `jobs`. Raises ModelError where there are
    no events, and for too many n-grams.
    """
    smoothing, layout = smoothing or KneserNey(), source.layout
    cut = cutoffs(prune, layout.order)
    if len(source) == 0:
        raise ModelError("there are no events to estimate a model from")
    # Sort the events, and count the n-grams of all orders in one pass (suffix_trie.py).
    progress("sorting")
    rows, starts = source.deal(jobs)
    levels = build_trie(rows, starts, layout.places, continuation=smoothing.continuation, raw=any(cut), jobs=jobs)
    del rows
    # The discounts of each order, from its counts of counts (smoothing.py).
    ngrams = [len(level) for level in levels]
    of_counts = [np.array([np.count_nonzero(level.count == j) for j in range(5)]) for level in levels]
    discounts, enough = zip(*(smoothing.discounts_of(n) for n in of_counts), strict=True)
    # The events of the model: all symbols in the empty context, then the n-grams of each order that are kept.
    total = layout.sizes[0] + sum(kept_ngrams(level, low) for level, low in zip(levels[1:], cut[1:], strict=True))
    if total >= 1 << 31:
        raise ModelError(f"{total:,} n-grams are more than a model can hold (2**31 - 1); prune rare ones")
    # The empty context, from which all other orders are interpolated.
    p = unigrams(levels[0], layout.sizes[0], discounts[0], smoothing, never) if lowest is None else lowest
    if p.shape != (layout.sizes[0],):
        raise ValueError(f"`lowest` has shape {p.shape}, wanted one p for each of {layout.sizes[0]} symbols")
    # One order after the other; each needs p of the shorter n-grams, that is of the order before.
    orders = Orders(levels, total, p, cut, layout.sizes, jobs)
    lower: FloatArray = p[levels[0].symbol]
    for order in range(2, layout.order + 1):
        progress(f"{order}-grams")
        lower = orders.add(order, lower, discounts[order - 1], smoothing.backoff)
    levels.clear()
    unseen = float(np.log10(smoothing.backoff)) if isinstance(smoothing, StupidBackoff) else 0.0
    tables = orders.finish(unseen, linked=isinstance(source, TextEvents))
    return Estimate(tables, [tuple(d.tolist()) for d in discounts], ngrams, list(enough))


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

    `total` is the number of events of the model.
    """

    def __init__(
        self, levels: list[TrieLevel], total: int, p: FloatArray, cut: list[int], sizes: tuple[int, ...],
        jobs: int,
    ) -> None:  # fmt: skip
        self._levels, self._cut, self._sizes, self._jobs = levels, cut, sizes, jobs
        self._events = np.zeros(total, EVENT)
        unigrams = self._events[: len(p)]
        unigrams["symbol"] = np.arange(len(p))
        unigrams["log10"] = LOG_ZERO
        unigrams["log10"][p > 0] = np.log10(p[p > 0])
        self._contexts = [np.zeros(1, CONTEXT)]
        self._context_levels, self._event_levels = [0, 1], [0, len(p)]
        # The next order needs, of each n-gram besides its p, the symbol that it predicts, and its context.
        self._predicted = levels[0].symbol
        self._context_of = np.zeros(len(levels[0]), np.int32)

    def add(self, order: int, lower: FloatArray, discounts: FloatArray, backoff: float) -> FloatArray:
        """Estimate the events and contexts of an order; p of each of its n-grams, if there are longer ones."""
        # Bring the n-grams of each context together (order_estimation.py).
        level, jobs = self._levels[order - 1], self._jobs
        (base, start), first = self._context_levels[-2:], self._event_levels[-1]
        parts, bits, context_starts, event_starts = group_by_context(
            level, self._context_of, start - base, self._sizes[order - 1], self._cut[order - 1], jobs
        )
        level.symbol = level.count = level.raw = np.zeros(0, np.int32)  # no longer needed
        # The records of the contexts and events of this order, and the values of each n-gram for the next one.
        size = 0 if order == len(self._levels) else len(level)
        contexts, end = np.empty(int(context_starts[-1]), CONTEXT), first + int(event_starts[-1])
        p, context_of = np.empty(size), np.full(size, -1, np.int32)  # -1: the context was pruned altogether
        # Estimate p and the back-off weights, each part of the groups in a thread of its own.
        tasks = [
            (
                *(part, bits, base, first + event, discounts, backoff, self._predicted, level.parent, lower),
                *(contexts, self._events[first + event : end], context, p, context_of),
            )
            for part, context, event in zip(parts, context_starts.tolist(), event_starts.tolist(), strict=False)
        ]
        in_threads(estimate_contexts, tasks, jobs)
        predicted = self._predicted[level.parent[:size]]
        level.parent = level.symbol
        self._contexts.append(contexts)
        self._context_levels.append(start + len(contexts))
        self._event_levels.append(end)
        self._predicted, self._context_of = predicted, context_of
        return p

    def finish(self, unseen: float, *, linked: bool) -> BackoffTables:
        """The tables; in those of a text, events are `linked` to the contexts that follow them."""
        contexts = np.concatenate([*self._contexts, np.array([(0.0, 0, len(self._events), 0)], CONTEXT)])
        children = first_children(contexts)
        levels = np.array(self._context_levels, np.int64), np.array(self._event_levels, np.int64)
        if linked:
            link_events(contexts, children, self._events, levels[0])
            children = children[:0]
        return BackoffTables(contexts, self._events, *levels, children, unseen)
