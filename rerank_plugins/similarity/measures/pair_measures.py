"""Measures of a pair of sentences alone: shared words and n-grams, surface form, named entities.

`overlap` (Šarić et al. 2012) is the harmonic mean of the parts of each sentence that the other contains: with A and B
the sets of n-grams, 2 / (|A| / |A ∩ B| + |B| / |A ∩ B|). In the weighted measures each word counts as much as its
information content. `ngrams` (Bär et al. 2012) are containment |A ∩ B| / |A|, Jaccard |A ∩ B| / |A ∪ B| and cosines of
the counts of character n-grams, including spaces. The `content` measures leave function words out. A measure is 0 if a
sentence has no such n-gram.

`shape` (Šarić et al. 2012): `length` and `information` divide the smaller value by the larger, so that 1 means equal;
`size` is ln(1 + words of both sentences) and `short` is exp(-words of the shorter sentence / 10). Numbers are compared
as written, without separators of thousands. A stock symbol is a full stop followed by capital letters (`.DJI`).

`entities` (Wu et al. 2013, section 2.1) compares `Text.names`. All are 0 where one sentence has no entity. Where
neither has one, `none` is 1 and the others are 0, unless the sentences are identical (see table.py):

    overlap   2 |NE1 ∩ NE2| / (|NE1| + |NE2|)                                                                      (1)
    aligned   Σ f(ne1, ne2) over pairs, best pair first, each entity once, / max(|NE1|, |NE2|)                     (2)

with f the longest common subsequence of the characters of two entities, or their greedy string tiling.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from math import exp, log, sqrt

import numpy as np

from rerank_plugins.similarity.measures.sentence_parts import Lexicon, Text
from rerank_plugins.similarity.measures.strings import subsequence, tiling
from rerank_plugins.similarity.measures.word_alignment import greedy_pairs

OVERLAP = (
    "unigram", "bigram", "trigram", "content_unigram", "content_bigram", "content_trigram",
    "weighted", "weighted_in_second",
)  # fmt: skip
NGRAMS = (
    "containment_1_content", "containment_2_content", "containment_1",
    "jaccard_1", "jaccard_2", "jaccard_3", "jaccard_4", "jaccard_2_content", "jaccard_4_content",
    "characters_2", "characters_3", "characters_4", "characters_5",
)  # fmt: skip
SHAPE = (
    "length", "information", "size", "short", "numbers_size", "numbers_overlap", "numbers_subset", "case",
    "stocks_size", "stocks_overlap",
)  # fmt: skip
SHAPE_OTHER = ("size", "short", "numbers_size", "stocks_size")  # they depend on counts alone
STOCK = re.compile(r"\.[A-Z]+")
ENTITIES = ("overlap", "aligned_subsequence", "aligned_tiling", "none")
ENTITIES_OTHER = ("none",)


def overlap(a: Text, b: Text, lexicon: Lexicon) -> tuple[float, ...]:
    """Compute the measures of OVERLAP, each from 0 to 1."""
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


def ngrams(a: Text, b: Text, lexicon: Lexicon) -> tuple[float, ...]:  # noqa: ARG001
    """Compute the measures of NGRAMS, each from 0 to 1."""
    return (
        *(containment(grams(a.content, n), grams(b.content, n)) for n in (1, 2)),
        containment(grams(a.words, 1), grams(b.words, 1)),
        *(jaccard(grams(a.words, n), grams(b.words, n)) for n in (1, 2, 3, 4)),
        *(jaccard(grams(a.content, n), grams(b.content, n)) for n in (2, 4)),
        *(character_cosine(a.characters, b.characters, n) for n in (2, 3, 4, 5)),
    )


def containment(a: AbstractSet[object], b: AbstractSet[object]) -> float:
    """The proportion of the first set that the second contains, |A ∩ B| / |A|."""
    return len(a & b) / len(a) if a else 0.0


def jaccard(a: AbstractSet[object], b: AbstractSet[object]) -> float:
    """The Jaccard coefficient |A ∩ B| / |A ∪ B|."""
    return len(a & b) / len(a | b) if a or b else 0.0


def character_cosine(a: str, b: str, n: int) -> float:
    """The cosine of the vectors of character n-gram counts."""
    left, right = (Counter(text[i : i + n] for i in range(len(text) - n + 1)) for text in (a, b))
    both = sum(count * right[gram] for gram, count in left.items() if gram in right)
    return both / sqrt(sum(c * c for c in left.values()) * sum(c * c for c in right.values())) if both else 0.0


def shape(a: Text, b: Text, lexicon: Lexicon) -> tuple[float, ...]:
    """Compute the measures of SHAPE, from 0 to 1 except those that end in `size`, which are logarithms of counts."""
    left, right = ({number.replace(",", "") for number in side.numbers} for side in (a, b))
    capitals = [{t for t in side.tokens if any(c.isupper() for c in t[1:]) or t[:1].isupper()} for side in (a, b)]
    stocks = [{token for token in side.tokens if STOCK.fullmatch(token)} for side in (a, b)]
    information = [sum(map(lexicon.information, set(side.words))) for side in (a, b)]
    return (
        ratio(len(a.words), len(b.words)),
        ratio(*information),
        log(1 + len(a.words) + len(b.words)),
        exp(-min(len(a.words), len(b.words)) / 10),
        log(1 + len(left) + len(right)),
        1.0 if left == right else harmonic(left, right),
        float(left <= right or right <= left),
        harmonic(*capitals),
        log(1 + len(stocks[0]) + len(stocks[1])),
        1.0 if stocks[0] == stocks[1] else harmonic(*stocks),
    )


def ratio(a: float, b: float) -> float:
    """The smaller value divided by the larger; 1 if both are 0."""
    return min(a, b) / max(a, b) if max(a, b) else 1.0


def entities(a: Text, b: Text, lexicon: Lexicon) -> tuple[float, ...]:  # noqa: ARG001
    """The measures of ENTITIES for a pair of sentences, each from 0 to 1."""
    if not a.names or not b.names:
        return 0.0, 0.0, 0.0, float(not a.names and not b.names)
    left, right = set(a.names), set(b.names)
    both = 2 * len(left & right) / (len(left) + len(right))
    return both, aligned_entities(a.names, b.names, subsequence), aligned_entities(a.names, b.names, tiling), 0.0


def aligned_entities(a: Sequence[str], b: Sequence[str], similarity: Callable[[str, str], float]) -> float:
    """Equation 2: the most similar pairs come first, and each entity is in at most one pair. Symmetric."""
    a, b = sorted((tuple(a), tuple(b)))
    similarities = np.array([[similarity(x, y) for y in b] for x in a], np.float64)
    return float(sum(similarities[pair] for pair in greedy_pairs(similarities)) / max(len(a), len(b)))
