"""Runs the rounds of an estimation, and makes the model of the files of the last one; deals the events of tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.backoff.estimation import Estimate, Estimator, cutoffs, estimate, fill_empty_context, unigrams
from rerank_plugins.kit.backoff.events import EventLayout, TupleEvents, scatter_rows
from rerank_plugins.kit.backoff.shards.files import (
    Shards,
    balanced_bounds,
    mapped_array,
    part_of_file,
    parts_within,
    shards_folder,
    write_array,
    write_parts,
)
from rerank_plugins.kit.backoff.shards.tasks import Counted, Counting, Estimation, Linking, Numbers, Placing, Sizes
from rerank_plugins.kit.backoff.smoothing import KneserNey, Smoothing, StupidBackoff
from rerank_plugins.kit.backoff.stores import RecordStore, Store, joined
from rerank_plugins.kit.backoff.suffix_trie import TrieLevel
from rerank_plugins.kit.backoff.tables import CONTEXT, EVENT, BackoffTables
from rerank_plugins.kit.workspace import Workspace

Item = TypeVar("Item")
Result = TypeVar("Result")
Tables = TypeVar("Tables")
DEALT = 1 << 24  # rows of a file
WORTH = 1 << 20  # events below which this machine alone is quicker


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
    share: Share,
    never: Sequence[int] = (),
    lowest: FloatArray | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> Estimate[Tables]:
    """The model of the rows in the folder of the shards, equal to that of `estimate_into` with this store.

    `lowest` and `never` are those of `estimate_into`. Raises ModelError where there are too many n-grams.
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


def sharded_estimator(share: Share, parts: int, memory: int, worth: int | None = None) -> Estimator:
    """An estimator whose tasks `share` does, in at least so many parts; its models equal those of `estimate`.

    Each task has `memory` bytes; all tasks read and write the folder of the workspace. Models of fewer than `worth`
    events, by default WORTH, are estimated here.
    """
    least = WORTH if worth is None else worth

    def estimate_tuples(
        source: TupleEvents,
        smoothing: Smoothing | None = None,
        *,
        prune: Sequence[int] = (),
        workspace: Workspace | None = None,
        jobs: int = 2,
        **options: Any,
    ) -> Estimate[BackoffTables]:
        workspace, smoothing, events = workspace or Workspace(), smoothing or KneserNey(), len(source)
        if events < least:
            return estimate(source, smoothing, prune=prune, workspace=workspace, jobs=jobs, **options)
        cut = cutoffs(prune, source.layout.order)
        if events == 0:
            raise ModelError("there are no events to estimate a model from")
        with shards_folder(workspace.folder) as folder:
            rows, layout = source.packed(), source.layout
            number = max(parts, parts_within(memory, events))
            bounds = balanced_bounds(_counts(rows, layout, 0), number)
            context_bounds = balanced_bounds(_counts(rows, layout, 1), number) if layout.order > 1 else bounds
            shards = Shards(
                folder, layout.sizes, bounds, context_bounds, False, -(-events // DEALT), tuple(cut),
                smoothing.continuation, False, memory,
            )  # fmt: skip
            options.get("progress", str)("dealing")
            for file in range(shards.sources):
                _deal(rows[file * DEALT : (file + 1) * DEALT], shards, file)
            del rows
            return estimate_shards(shards, smoothing, RecordStore(workspace, False), share=share, **options)

    return estimate_tuples


def _counts(rows: LongArray, layout: EventLayout, column: int) -> LongArray:
    """(symbols) how many events have each symbol in a column; an event without one has none."""
    word, shift, mask = layout.places[column].tolist()
    size = layout.sizes[column] + column  # symbols of contexts are stored plus one
    counts = np.zeros(size, np.int64)
    for start in range(0, len(rows), DEALT):
        counts += np.bincount((rows[start : start + DEALT, word] >> shift) & mask, minlength=size)
    return counts[column:]


def _deal(rows: LongArray, shards: Shards, file: int) -> None:
    """Write rows by part of their predicted symbol."""
    part_of, shift = shards.part_of, int(shards.layout.places[0, 1])
    sizes = np.bincount(part_of[rows[:, 0] >> shift], minlength=shards.parts)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    dealt = np.empty_like(rows)
    scatter_rows(rows, 0, len(rows), shift, part_of, starts[:-1].copy(), dealt)
    write_parts(shards.file("rows", file), dealt, starts)
