"""String measures: longest common subsequence and substring, greedy string tiling, edit distance (rapidfuzz).

`subsequence` and `tiling` divide by the mean length, so that equal sentences have 1. The `words_` measures compare
words, the others characters. A measure is 0 if a sentence is empty. Greedy string tiling resolves ties by position in
its first argument; the sequence that sorts first is passed first, which makes the measure symmetric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz.distance import Indel, LCSseq, Levenshtein

from rerank_plugins.core.arrays import LongArray
from rerank_plugins.similarity.measures.sentence_parts import Lexicon, Text
from rerank_plugins.similarity.measures.string_kernels import greedy_string_tiling, longest_common_substring

NAMES = (
    "subsequence", "subsequence_of_shorter", "substring", "tiling", "edits",
    "words_subsequence", "words_tiling", "words_edits",
)  # fmt: skip
SHORTEST = 3  # the minimum length of a tile in characters; of words, one is enough


def measure(a: Text, b: Text, lexicon: Lexicon) -> tuple[float, ...]:  # noqa: ARG001
    """Compute the measures of NAMES, each from 0 to 1."""
    left, right = a.characters, b.characters
    if not left or not right:
        return (0.0,) * len(NAMES)
    x, y = numbered(left, right)
    values = (
        float(Indel.normalized_similarity(left, right)),
        LCSseq.similarity(left, right) / min(len(left), len(right)),
        longest_common_substring(x, y) / min(len(x), len(y)),
        tiling(left, right),
        float(Levenshtein.normalized_similarity(left, right)),
    )
    if not a.words or not b.words:
        return (*values, 0.0, 0.0, 0.0)
    return (
        *values,
        float(Indel.normalized_similarity(a.words, b.words)),
        tiling(a.words, b.words, 1),
        float(Levenshtein.normalized_similarity(a.words, b.words)),
    )


def subsequence(a: str, b: str) -> float:
    """The longest common subsequence of two strings as a proportion, 2 |LCS| / (|a| + |b|)."""
    return float(Indel.normalized_similarity(a, b))


def tiling(a: Sequence[str], b: Sequence[str], shortest: int = SHORTEST) -> float:
    """The proportion covered by tiles, 2 |tiles| / (|a| + |b|); 1 for equal sequences, however short."""
    if not a or not b:
        return 0.0
    if a == b:
        return 1.0
    first, second = sorted((tuple(a), tuple(b)))
    return float(2 * greedy_string_tiling(*numbered(first, second), shortest) / (len(a) + len(b)))


def numbered(a: Sequence[str], b: Sequence[str]) -> tuple[LongArray, LongArray]:
    """Map the elements of both sequences to integers, equal elements to the same integer."""
    numbers = {element: number for number, element in enumerate(dict.fromkeys([*a, *b]))}
    as_array: Callable[[Sequence[str]], LongArray] = lambda s: np.array([numbers[element] for element in s], np.int64)  # noqa: E731
    return as_array(a), as_array(b)
