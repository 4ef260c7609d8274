"""Compares sentences word by word: edit distance, and the longest run of words that both contain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel

if TYPE_CHECKING:
    from rerank_plugins.translation.memory.stored_pairs import Sentences


def compare(
    tokens: IntArray, offsets: LongArray, sentences: Sentences, chosen: LongArray
) -> tuple[LongArray, LongArray]:
    """(n, chosen) edit distances between n sentences and those chosen, and (n, chosen) lengths of their longest runs.

    Edits are insertions, deletions and substitutions of words. A run is a contiguous sequence of words of both.
    """
    shape = len(offsets) - 1, len(chosen)
    distances, runs = np.empty(shape, np.int64), np.empty(shape, np.int64)
    longest = int(sentences.lengths(chosen).max(initial=0))
    rows = np.empty((2, longest + 1), np.int64)
    _compare(tokens, offsets, sentences.tokens, sentences.offsets, chosen, rows, distances, runs)
    return distances, runs


@filling_kernel
def _compare(
    tokens: Any, offsets: Any, others: Any, other_offsets: Any, chosen: Any, rows: Any, distances: Any, runs: Any
) -> None:
    """Fill `distances` and `runs`. `rows` (2, longest other + 1) holds a row of each table of dynamic programming."""
    cost, run = rows[0], rows[1]
    for a in range(len(offsets) - 1):
        for b in range(len(chosen)):
            first = other_offsets[chosen[b]]
            size = other_offsets[chosen[b] + 1] - first
            for j in range(size + 1):
                cost[j], run[j] = j, 0
            longest = 0
            for i in range(offsets[a], offsets[a + 1]):
                # `diagonal` and `previous_run` are the values at j - 1 of the row above.
                diagonal, previous_run = cost[0], 0
                cost[0] += 1
                for j in range(1, size + 1):
                    above, run_above = cost[j], run[j]
                    same = tokens[i] == others[first + j - 1]
                    cost[j] = min(diagonal + (not same), min(above, cost[j - 1]) + 1)
                    run[j] = previous_run + 1 if same else 0
                    longest = max(longest, run[j])
                    diagonal, previous_run = above, run_above
            distances[a, b], runs[a, b] = cost[size], longest
