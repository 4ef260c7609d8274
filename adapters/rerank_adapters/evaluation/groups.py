"""Segments in groups: by the length of their references, and by the names of speakers or the like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rerank_plugins.core.arrays import LongArray

MAX_BUCKETS = 5


@dataclass(frozen=True)
class Bucket:
    """Segments whose references have `shortest` to `longest` words."""

    shortest: int
    longest: int
    segments: tuple[int, ...] = field(repr=False)

    @property
    def label(self) -> str:
        """The range of lengths, as `5-9` or `5`."""
        return str(self.shortest) if self.shortest == self.longest else f"{self.shortest}-{self.longest}"


@dataclass(frozen=True)
class Group:
    """The segments of one speaker, or of another group that the user names."""

    name: str
    segments: tuple[int, ...] = field(repr=False)


def length_buckets(lengths: LongArray, count: int = MAX_BUCKETS) -> tuple[Bucket, ...]:
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
