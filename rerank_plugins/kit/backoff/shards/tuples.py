"""Estimates a model of tuples by tasks on several machines; this process deals the events into parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.backoff.estimation import Estimate, Estimator, cutoffs, estimate
from rerank_plugins.kit.backoff.event_sources import TupleEvents
from rerank_plugins.kit.backoff.layout import EventLayout, scatter_rows
from rerank_plugins.kit.backoff.shards.files import Shards, balanced_bounds, parts_within, write_parts
from rerank_plugins.kit.backoff.shards.folder import shards_folder
from rerank_plugins.kit.backoff.shards.rounds import Share, estimate_shards
from rerank_plugins.kit.backoff.smoothing import KneserNey, Smoothing
from rerank_plugins.kit.backoff.stores import RecordStore
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.workspace import Workspace

DEALT = 1 << 24  # rows of a file
WORTH = 1 << 20  # events below which this machine alone is quicker


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
        never: Sequence[int] = (),
        lowest: FloatArray | None = None,
        workspace: Workspace | None = None,
        jobs: int = 2,
        progress: Callable[[str], None] = lambda stage: None,
    ) -> Estimate[BackoffTables]:
        workspace, smoothing = workspace or Workspace(), smoothing or KneserNey()
        if len(source) < least:
            return estimate(
                source, smoothing, prune=prune, never=never, lowest=lowest, workspace=workspace, jobs=jobs,
                progress=progress,
            )  # fmt: skip
        cut, events = cutoffs(prune, source.layout.order), len(source)
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
            progress("dealing")
            for file in range(shards.sources):
                _deal(rows[file * DEALT : (file + 1) * DEALT], shards, file)
            del rows
            store = RecordStore(workspace, False)
            return estimate_shards(
                shards, smoothing, store, never=never, share=share, lowest=lowest, progress=progress
            )  # fmt: skip

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
