"""Similarity by named entities (Wu et al. 2013, section 2.1). The entities are those of `Text.names`.

    overlap   2 |NE1 ∩ NE2| / (|NE1| + |NE2|)                                                                      (1)
    aligned   Σ f(ne1, ne2) over pairs, best pair first, each entity once, / max(|NE1|, |NE2|)                     (2)

Here f is either the longest common subsequence of the characters of two entities, or their greedy string tiling. All
measures are 0 where one sentence has no entity. Where neither sentence has one, `none` is 1 and the others are 0,
unless the sentences are identical (see table.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rerank_plugins.similarity.measures.sentence_parts import Lexicon, Text
from rerank_plugins.similarity.measures.strings import subsequence, tiling
from rerank_plugins.similarity.measures.word_alignment import greedy_pairs

NAMES = ("overlap", "aligned_subsequence", "aligned_tiling", "none")
OTHER = ("none",)  # not a measure of likeness


def measure(a: Text, b: Text, lexicon: Lexicon) -> tuple[float, ...]:  # noqa: ARG001
    """The measures of NAMES for a pair of sentences, each from 0 to 1."""
    if not a.names or not b.names:
        return 0.0, 0.0, 0.0, float(not a.names and not b.names)
    left, right = set(a.names), set(b.names)
    overlap = 2 * len(left & right) / (len(left) + len(right))
    return overlap, aligned(a.names, b.names, subsequence), aligned(a.names, b.names, tiling), 0.0


def aligned(a: Sequence[str], b: Sequence[str], similarity: Callable[[str, str], float]) -> float:
    """Equation 2: the most similar pairs come first, and each entity is in at most one pair. Symmetric."""
    a, b = sorted((tuple(a), tuple(b)))
    similarities = np.array([[similarity(x, y) for y in b] for x in a], np.float64)
    return float(sum(similarities[pair] for pair in greedy_pairs(similarities)) / max(len(a), len(b)))
