"""Measures whose weights are estimated from the compared sentences: idf(x) = ln((N + 1) / (df(x) + 1)).

N is the number of sentences in all pairs of one call and df(x) the number of those that contain x, as in Bär et al.
(2012): what a whole collection repeats (`the act of` in dictionary definitions) matters little to one pair. The
measures are the cosine of tf · idf vectors over words, over stems (the first five letters of words) and over character
n-grams, and for words and stems also the idf-weighted overlap: the harmonic mean of the parts of idf that each
sentence has in common with the other. A measure is 0 if a sentence has no part of positive weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log, sqrt

import numpy as np

from rerank_plugins import FloatArray
from rerank_plugins.similarity.measures.sentence_parts import Text

STEM = 5  # length of a stem in letters
SIZES = (2, 3, 4, 5)  # orders of the character n-grams
NAMES = ("words", "words_shared", "stems", "stems_shared", *(f"characters_{n}" for n in SIZES))
Bag = Counter[str]


def columns(pairs: Sequence[tuple[Text, Text]]) -> FloatArray:
    """Compute the measures of NAMES for all pairs: a (pairs, names) array of values from 0 to 1."""
    values: list[list[float]] = []
    for parts in (words, stems):
        bags, idf = bags_of(pairs, parts)
        values += [[cosine(a, b, idf) for a, b in bags], [shared(a, b, idf) for a, b in bags]]
    for n in SIZES:
        bags, idf = bags_of(pairs, lambda text, n=n: characters(text, n))  # type: ignore[misc]
        values.append([cosine(a, b, idf) for a, b in bags])
    return np.array(values, np.float64).T


def words(text: Text) -> Sequence[str]:
    """The words of a sentence."""
    return text.words


def stems(text: Text) -> Sequence[str]:
    """The stems of the words: their first STEM letters."""
    return [word[:STEM] for word in text.words]


def characters(text: Text, n: int) -> Sequence[str]:
    """The character n-grams of a sentence, including spaces."""
    return [text.characters[i : i + n] for i in range(len(text.characters) - n + 1)]


def bags_of(
    pairs: Sequence[tuple[Text, Text]], parts: Callable[[Text], Sequence[str]]
) -> tuple[list[tuple[Bag, Bag]], dict[str, float]]:
    """The counts of the parts of each sentence, and the idf of each part over all sentences of the pairs."""
    bags = [(Counter(parts(a)), Counter(parts(b))) for a, b in pairs]
    frequency = Counter(part for pair in bags for bag in pair for part in bag)
    total = 2 * len(bags)
    return bags, {part: log((total + 1) / (count + 1)) for part, count in frequency.items()}


def cosine(a: Bag, b: Bag, idf: Mapping[str, float]) -> float:
    """The cosine of the tf · idf vectors of two sentences."""
    both = sum(count * b[part] * idf[part] ** 2 for part, count in a.items() if part in b)
    if both == 0:
        return 0.0
    squares = [sum((count * idf[part]) ** 2 for part, count in bag.items()) for bag in (a, b)]
    return both / sqrt(squares[0] * squares[1])


def shared(a: Bag, b: Bag, idf: Mapping[str, float]) -> float:
    """The idf-weighted overlap 2 idf(A ∩ B) / (idf(A) + idf(B)) of the sets of parts."""
    both = sum(idf[part] for part in a.keys() & b.keys())
    return 2 * both / (sum(idf[part] for part in a) + sum(idf[part] for part in b)) if both else 0.0
