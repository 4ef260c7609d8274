"""What an evaluation is told besides the texts: how its tests resample, and what is known of the segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rerank_plugins.core.arrays import LongArray


@dataclass(frozen=True)
class Resampling:
    """How the two tests of significance resample.

    `bootstrap`      the number of resamples of the paired bootstrap; 0 leaves the test out
    `randomisation`  the number of trials of approximate randomisation; 0 leaves the test out
    `seed`           the seed of both
    `groups`         whether whole groups of segments are resampled, whose segments may depend on each other
    """

    bootstrap: int = 1000
    randomisation: int = 10000
    seed: int = 1
    groups: bool = False


@dataclass(frozen=True)
class SegmentFacts:
    """What is known of the segments, one value for each; None where it is not known.

    `ids`      by default, numbers from 0
    `sources`  the source sentences
    `groups`   the group of each segment, such as its speaker: scores are given by group too
    `lengths`  (segments) the lengths that buckets are made of; by default, numbers of words of the references
    `nbests`   the hypotheses of each segment, for the oracle and the anti-oracle
    """

    ids: Sequence[str] | None = None
    sources: Sequence[str | None] | None = None
    groups: Sequence[str] | None = None
    lengths: LongArray | None = None
    nbests: Sequence[Sequence[str]] | None = None

    def parts(self) -> dict[str, Sequence[object] | None]:
        """What is known, by the name that messages give it."""
        return {
            "the n-best lists": self.nbests,
            "the source": self.sources,
            "the list of segment ids": self.ids,
            "the list of groups": self.groups,
        }
