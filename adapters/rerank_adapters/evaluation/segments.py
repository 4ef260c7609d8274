"""Views of single segments: buckets by reference length, and the segments that changed most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rerank_adapters.evaluation.result import Bucket, Evaluation, Group, MetricResult, Segment
from rerank_plugins.core.arrays import LongArray

BUCKETS = 5


class Change(NamedTuple):
    """A segment whose output changed, with the sentence scores and the texts of the baseline and of the system."""

    segment: Segment
    baseline_score: float
    system_score: float
    baseline: str
    system: str


def length_buckets(lengths: LongArray, count: int = BUCKETS) -> tuple[Bucket, ...]:
    """At most `count` buckets of about as many segments each, by `lengths` (segments) in words.

    Segments of equal length are in one bucket. The bounds are quantiles, so that each bucket has enough segments for a
    corpus score.
    """
    edges = np.unique(np.quantile(lengths, np.arange(1, count) / count, method="higher"))
    chosen = np.searchsorted(edges, lengths, side="left")
    buckets = []
    for bucket in np.unique(chosen):
        segments = np.flatnonzero(chosen == bucket)
        inside = lengths[segments]
        buckets.append(Bucket(int(inside.min()), int(inside.max()), tuple(segments.tolist())))
    return tuple(buckets)


def by_name(groups: Sequence[str]) -> tuple[Group, ...]:
    """The groups of segments, in the order of their names; `groups` (segments) has the name of each segment's group.

    >>> [(group.name, group.segments) for group in by_name(["b", "a", "b"])]
    [('a', (1,)), ('b', (0, 2))]
    """
    segments: dict[str, list[int]] = {}
    for segment, name in enumerate(groups):
        segments.setdefault(name, []).append(segment)
    return tuple(Group(name, tuple(segments[name])) for name in sorted(segments))


def most_changed(evaluation: Evaluation, metric: MetricResult, system: str, count: int) -> list[Change]:
    """The `count` segments whose sentence score differs most from the baseline's, largest difference first.

    Segments whose text did not change are left out.
    """
    before = np.array(metric.of(evaluation.baseline).sentence_scores)
    after = np.array(metric.of(system).sentence_scores)
    old, new = evaluation.systems.index(evaluation.baseline), evaluation.systems.index(system)
    changes: list[Change] = []
    for position in np.argsort(-np.abs(after - before), kind="stable"):
        segment = evaluation.segments[position]
        if len(changes) == count:
            break
        if segment.outputs[old] != segment.outputs[new]:
            scores = float(before[position]), float(after[position])
            changes.append(Change(segment, *scores, segment.outputs[old], segment.outputs[new]))
    return changes
