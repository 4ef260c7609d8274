"""The contract of metrics: statistics by row, scores of sums of them, all finite."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any

import numpy as np

from rerank_plugins.core.guests.arrays import finite, numbers, type_of
from rerank_plugins.core.guests.calls import Call


def statistics(call: Call, value: Any) -> Any:
    """(rows, S): a row for each hypothesis of all segments."""
    sizes = [len(texts) for texts in call.given[0]]
    rows = numbers(call, value, (sum(sizes), None), "(hypotheses, statistics)")
    ends = list(accumulate(sizes))
    finite(call, rows, lambda at: f"row {at[0]} (segment {bisect_right(ends, at[0]) + 1} of {len(sizes)})")
    return value


def score(call: Call, value: Any) -> Any:
    """(…, S) -> (…)."""
    shape = np.shape(call.given[0])[:-1]
    scores = numbers(call, value, shape, "(totals)")
    finite(call, scores, lambda at: f"totals {np.asarray(call.given[0])[at][:8].tolist()}")
    return value


def sentence_scores(call: Call, value: Any) -> Any:
    """(n, S) -> (n)."""
    rows = len(call.given[0])
    finite(call, numbers(call, value, (rows,), "(rows)"), lambda at: f"row {at[0]} of {rows}")
    return value


def pairwise(call: Call, value: Any) -> Any:
    """(n) texts -> (n, n)."""
    size = len(call.given[0])
    scores = numbers(call, value, (size, size), "(hypotheses, references)")
    finite(call, scores, lambda at: f"hypothesis {at[0]} against {at[1]}")
    return value


def signature(call: Call, value: Any) -> Any:
    """A text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise call.wanted(type_of(value), "a text that names the settings of the score")
    return value
