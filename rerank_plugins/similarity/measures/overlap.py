"""Overlap of words: the harmonic mean of the parts of each sentence that the other contains (Šarić et al. 2012).

With A and B the sets of n-grams, overlap = 2 / (|A| / |A ∩ B| + |B| / |A ∩ B|). In the weighted measures each word
counts as much as its information content. A measure is 0 if a sentence has no such n-gram.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from rerank_plugins.similarity.measures.sentence_parts import Lexicon, Text

NAMES = (
    "unigram", "bigram", "trigram", "content_unigram", "content_bigram", "content_trigram",
    "weighted", "weighted_in_second",
)  # fmt: skip


def measure(a: Text, b: Text, lexicon: Lexicon) -> tuple[float, ...]:
    """Compute the measures of NAMES, each from 0 to 1."""
    weight = lexicon.information
    left, right = set(a.words), set(b.words)
    both = sum(map(weight, left & right))
    in_first, in_second = (both / total if (total := sum(map(weight, side))) else 0.0 for side in (left, right))
    return (
        *(harmonic(grams(a.words, n), grams(b.words, n)) for n in (1, 2, 3)),
        *(harmonic(grams(a.content, n), grams(b.content, n)) for n in (1, 2, 3)),
        2 * in_first * in_second / (in_first + in_second) if both else 0.0,
        in_second,
    )


def grams(words: tuple[str, ...], n: int) -> set[tuple[str, ...]]:
    """The set of n-grams of the words."""
    return {words[i : i + n] for i in range(len(words) - n + 1)}


def harmonic(a: AbstractSet[object], b: AbstractSet[object]) -> float:
    """The harmonic mean of |A ∩ B| / |A| and |A ∩ B| / |B|; 0 if a set is empty."""
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0
