"""Sentences as strings: longest common subsequence and substring, greedy string tiling, edits (rapidfuzz).

`subsequence` and `tiling` divide by the mean length, so that equal sentences have 1; `words_` measures go over words,
the others over characters. 0 where a side is empty. Of tiles that are equally long the first is laid:
so that it makes no difference which sentence comes first, tiles are laid along the one that sorts first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz.distance import Indel, LCSseq, Levenshtein

from rerank_plugins.arrays import LongArray
from rerank_plugins.models.similarity.string_kernels import greedy_string_tiling, longest_common_substring
from rerank_plugins.models.similarity.text import Lexicon, Text

NAMES = (
    "subsequence", "subsequence_of_shorter", "substring", "tiling", "edits",
    "words_subsequence", "words_tiling", "words_edits",
)  # fmt: skip
SHORTEST = 3  # characters of a tile; a word is long enough


def measure(a: Text, b: Text, lexicon: Lexicon) -> tuple[float, ...]:  # noqa: ARG001
    """One value from 0 to 1 per name."""
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
    """2 |LCS| / (|a| + |b|)."""
    return float(Indel.normalized_similarity(a, b))


def tiling(a: Sequence[str], b: Sequence[str], shortest: int = SHORTEST) -> float:
    """2 |tiles| / (|a| + |b|); 1 for equal sequences, however short."""
    if not a or not b:
        return 0.0
    if a == b:
        return 1.0
    first, second = sorted((tuple(a), tuple(b)))
    return float(2 * greedy_string_tiling(*numbered(first, second), shortest) / (len(a) + len(b)))


def numbered(a: Sequence[str], b: Sequence[str]) -> tuple[LongArray, LongArray]:
    """Both sequences by number, equal elements by the same."""
    numbers = {element: number for number, element in enumerate(dict.fromkeys([*a, *b]))}
    as_array: Callable[[Sequence[str]], LongArray] = lambda s: np.array([numbers[each] for each in s], np.int64)  # noqa: E731
    return as_array(a), as_array(b)
