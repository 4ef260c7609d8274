"""Runs the rounds of an estimation, and makes the model of the files of the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.backoff.estimation import Estimate, fill_empty_context, unigrams
from rerank_plugins.kit.backoff.shards.counts import Counted, Counting
from rerank_plugins.kit.backoff.shards.estimates import Estimation, Sizes
from rerank_plugins.kit.backoff.shards.files import Shards, mapped_array, part_of_file, write_array
from rerank_plugins.kit.backoff.shards.links import Linking, Numbers, Placing
from rerank_plugins.kit.backoff.smoothing import Smoothing, StupidBackoff
from rerank_plugins.kit.backoff.stores import Store, joined
from rerank_plugins.kit.backoff.suffix_trie import TrieLevel
from rerank_plugins.kit.backoff.tables import CONTEXT, EVENT

Item = TypeVar("Item")
Result = TypeVar("Result")
Tables = TypeVar("Tables")


class Share(Protocol):
    """Does a task for each item on some machine, and gives the results in the order of the items."""

    def __call__(self, task: Callable[[Item], Result], items: Iterable[Item], name: str) -> list[Result]:
        """The results; messages call the task by `name`."""
        ...


def estimate_shards(
    shards: Shards,
    smoothing: Smoothing,
    store: Store[Tables],
    *,
    never: Sequence[int],
    share: Share,
    lowest: FloatArray | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> Estimate[Tables]:
    """The model of the rows in the folder of the shards, equal to that of `estimate` and `estimate_packed`.

    `lowest` and `never` are those of `estimate`. Raises ModelError where there are too many n-grams.
    """
    parts, context_parts = range(shards.parts), range(shards.context_parts)
    # The first round counts n-grams; discounts come from the counts of counts of all parts.
    progress("counting n-grams")
    counted: list[Counted] = share(Counting(shards), parts, "the counting of n-grams")
    _remove(shards, "rows")
    ngrams, kept = (np.sum([getattr(part, name) for part in counted], axis=0) for name in ("ngrams", "kept"))
    of_counts = np.sum([part.of_counts for part in counted], axis=0)
    discounts, enough = zip(*(smoothing.discounts_of(n) for n in of_counts), strict=True)
    total = shards.sizes[0] + int(kept[1:].sum())
    if total >= 1 << 31:
        raise ModelError(f"{total:,} n-grams are more than a model can hold (2**31 - 1); prune rare ones")
    p = _lowest(shards, discounts[0], smoothing, never) if lowest is None else lowest
    # The second round estimates contexts, and the third one numbers and links them.
    progress("estimation")
    write_array(shards.file("lowest"), p)
    sizes: list[Sizes] = share(
        Estimation(shards, tuple(tuple(d.tolist()) for d in discounts), smoothing.backoff),
        context_parts,
        "the estimation",
    )
    _remove(shards, "ngrams")
    numbers = Numbers.of(sizes)
    if shards.order > 1:
        progress("linking")
        if shards.text:
            share(Linking(shards, numbers), parts, "the linking of n-grams")
        share(Placing(shards, numbers), context_parts, "the linking of n-grams")
    progress("packing")
    unseen = float(np.log10(smoothing.factor)) if isinstance(smoothing, StupidBackoff) else 0.0
    tables = _assembled(shards, numbers, store, p, unseen)
    of_orders = [tuple(n[1:].tolist()) for n in of_counts]
    return Estimate(tables, [tuple(d.tolist()) for d in discounts], of_orders, ngrams.tolist(), list(enough))


def _lowest(shards: Shards, discount: FloatArray, smoothing: Smoothing, never: Sequence[int]) -> FloatArray:
    counts = [part_of_file(shards.file("unigrams", part), 0, np.int32, 2) for part in range(shards.parts)]
    symbol, count = np.concatenate(counts).T
    return unigrams(TrieLevel(symbol, symbol, count, None), shards.sizes[0], discount, smoothing, never)


def _assembled(shards: Shards, numbers: Numbers, store: Store[Tables], p: FloatArray, unseen: float) -> Tables:
    """The tables of all parts; `store` gets the records in the same order as on one machine (estimation.Orders)."""
    context_levels, event_levels = numbers.context_levels, numbers.event_levels
    store.start(event_levels, int(context_levels[-1]) + 1)
    events = store.events_of(1, [np.zeros(shards.sizes[0], EVENT)])
    fill_empty_context(events, p)
    contexts = store.contexts(1)
    contexts[0] = (0.0, 0, 0, 0)
    store.contexts_done(contexts, 0, len(events))
    for order in range(2, shards.order + 1):
        numbered = _records(shards, "numbered-contexts", order - 1, CONTEXT)
        contexts = joined(numbered, store.contexts(int(context_levels[order] - context_levels[order - 1])))
        if order == 2 and shards.text:
            events["next"][contexts["symbol"]] = context_levels[1] + np.arange(len(contexts))
        store.events_done(events, int(event_levels[order - 2]))
        store.contexts_done(contexts, int(context_levels[order - 1]), int(event_levels[order]))
        events = store.events_of(order, _records(shards, "linked-events", order, EVENT))
    store.events_done(events, int(event_levels[-2]))
    return store.finish(context_levels, unseen)


def _records(shards: Shards, name: str, number: int, dtype: np.dtype[Any]) -> list[LongArray]:
    return [mapped_array(shards.file(name, part, number), dtype) for part in range(shards.context_parts)]


def _remove(shards: Shards, name: str) -> None:
    """Delete the files that no later round reads."""
    for path in shards.folder.glob(f"{name}-*"):
        path.unlink()
