"""Slow, obvious twins of the measures of strings."""

from __future__ import annotations

from collections.abc import Sequence


def longest_common_substring(a: Sequence[int], b: Sequence[int]) -> int:
    runs = {tuple(a[i:j]) for i in range(len(a)) for j in range(i, len(a) + 1)}
    return max(j - i for i in range(len(b) + 1) for j in range(i, len(b) + 1) if tuple(b[i:j]) in runs or i == j)


def longest_common_subsequence(a: Sequence[int], b: Sequence[int]) -> int:
    if not a or not b:
        return 0
    if a[-1] == b[-1]:
        return 1 + longest_common_subsequence(a[:-1], b[:-1])
    return max(longest_common_subsequence(a[:-1], b), longest_common_subsequence(a, b[:-1]))


def greedy_string_tiling(a: Sequence[int], b: Sequence[int], shortest: int) -> int:
    """Tiles laid one by one: the longest run that both have free; of equal ones that which ends first in a, then b."""
    a, b, covered = list(a), list(b), 0
    while True:
        runs = [
            (-k, i + k, j + k)
            for i in range(len(a))
            for j in range(len(b))
            for k in range(shortest, min(len(a) - i, len(b) - j) + 1)
            if all(a[i + m] is not None and a[i + m] == b[j + m] for m in range(k))
        ]
        if not runs:
            return covered
        negative, i, j = min(runs)
        k = -negative
        a[i - k : i] = [None] * k
        b[j - k : j] = [None] * k
        covered += k
