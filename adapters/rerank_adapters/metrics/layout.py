"""Lays out the texts of n-best lists and their references, with each distinct hypothesis of a segment once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.metrics_and_tuners import check_texts


@dataclass(frozen=True, eq=False)
class Layout:
    """All texts in one list: the distinct hypotheses of segment 0, 1, …, then the references of segment 0, 1, ….

    The hypotheses of segment s are `texts[hypotheses[s]:hypotheses[s + 1]]` and its references are
    `texts[references[s]:references[s + 1]]`; row i of the statistics belongs to `texts[rows[i]]`.
    """

    texts: list[str]
    rows: LongArray
    hypotheses: LongArray
    references: LongArray

    @property
    def distinct(self) -> int:
        """The number of distinct hypotheses, summed over the segments."""
        return int(self.hypotheses[-1])

    def merged_jobs(self) -> LongArray:
        """(segments, 4): the bounds of each segment's hypotheses and those of all its references."""
        return _columns(self.hypotheses[:-1], self.hypotheses[1:], self.references[:-1], self.references[1:])

    def jobs(self, k: int) -> LongArray:
        """(segments with more than k references, 4): the bounds of the hypotheses, and those of reference k only."""
        first = self.references[:-1] + k
        jobs = _columns(self.hypotheses[:-1], self.hypotheses[1:], first, first + 1)
        return np.ascontiguousarray(jobs[first < self.references[1:]])

    @property
    def most_references(self) -> int:
        """The largest number of references of a segment; 0 where there are no segments."""
        return int(np.diff(self.references).max(initial=0))


def lay_out(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> Layout:
    """The layout of the segments' texts. Raises as `check_texts` does."""
    check_texts(hypotheses, references)
    texts: list[str] = []
    rows: list[int] = []
    bounds = [0]
    for segment in hypotheses:
        number: dict[str, int] = {}
        first = bounds[-1]
        rows.extend([first + number.setdefault(text, len(number)) for text in segment])
        texts.extend(number)
        bounds.append(len(texts))
    for segment_references in references:
        texts.extend(segment_references)
    reference_bounds = list(accumulate(map(len, references), initial=bounds[-1]))
    return Layout(texts, np.array(rows, np.int64), np.array(bounds, np.int64), np.array(reference_bounds, np.int64))


def _columns(*columns: LongArray) -> LongArray:
    return np.ascontiguousarray(np.stack(columns, axis=1))
