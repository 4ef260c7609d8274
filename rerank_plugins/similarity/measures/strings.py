"""String measures: longest common subsequence and substring, greedy string tiling, edit distance (rapidfuzz).

`subsequence` and `tiling` divide by the mean length, so that equal sentences have 1. The `words_` measures compare
words, the others characters. A measure is 0 if a sentence is empty. Greedy string tiling resolves ties by position in
its first argument; the sequence that sorts first is passed first, which makes the measure symmetric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz.distance import Indel, LCSseq, Levenshtein

from rerank_plugins import LongArray
from rerank_plugins.kit.kernels import kernel
from rerank_plugins.similarity.measures.sentence_parts import Lexicon, Text

NAMES = (
    "subsequence", "subsequence_of_shorter", "substring", "tiling", "edits",
    "words_subsequence", "words_tiling", "words_edits",
)  # fmt: skip
SHORTEST = 3  # the minimum length of a tile in characters; of words, one is enough


@kernel
def longest_common_substring(a: LongArray, b: LongArray) -> int:
    """The length of the longest contiguous run that occurs in both sequences. O(|a| |b|)."""
    row = np.zeros(len(b) + 1, np.int64)
    longest = 0
    for i in range(len(a)):
        diagonal = 0
        for j in range(len(b)):
            above = row[j + 1]
            row[j + 1] = diagonal + 1 if a[i] == b[j] else 0
            diagonal = above
            longest = max(longest, row[j + 1])
    return int(longest)


@kernel
def greedy_string_tiling(a: LongArray, b: LongArray, shortest: int) -> int:
    """The number of elements covered by greedy string tiling (Wise 1996).

    The longest common run of uncovered elements becomes a tile, again and again, until no run of `shortest` or more
    elements is left. Of runs of equal length, the first in `a`, then in `b`, is taken.
    """
    free_a, free_b = np.ones(len(a), np.bool_), np.ones(len(b), np.bool_)
    covered = 0
    while True:
        row = np.zeros(len(b) + 1, np.int64)
        longest, end_a, end_b = 0, 0, 0
        for i in range(len(a)):
            diagonal = 0
            for j in range(len(b)):
                above = row[j + 1]
                row[j + 1] = diagonal + 1 if free_a[i] and free_b[j] and a[i] == b[j] else 0
                diagonal = above
                if row[j + 1] > longest:
                    longest, end_a, end_b = row[j + 1], i + 1, j + 1
        if longest < shortest:
            return covered
        free_a[end_a - longest : end_a] = False
        free_b[end_b - longest : end_b] = False
        covered += longest


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
