"""A grammar as plain arrays, as charts take it from any family."""

from __future__ import annotations

from typing import NamedTuple

from rerank_plugins.core.arrays import FloatArray, IntArray

ROOT = 0  # the number of the root symbol


class WeightedRules(NamedTuple):
    """A grammar of S symbols with B binary and U unary rules and E emissions, each with its probability p."""

    base: IntArray  # (S) the number of each symbol's base, the unsplit category that it is a split of
    binary: IntArray  # (B, 3) parent, left child, right child
    binary_p: FloatArray
    unary: IntArray  # (U, 2) parent, child
    unary_p: FloatArray
    word_starts: IntArray  # (W + 1) where the emissions of each word begin: `word_symbol` (E) and `word_p` (E)
    word_symbol: IntArray
    word_p: FloatArray
