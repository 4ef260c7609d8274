"""Measures whose weights come from the sentences that are compared: idf(x) = ln((N + 1) / (df(x) + 1)).

N counts the sentences of all pairs given at once, df(x) those with x, as in Bär et al. (2012): what a whole collection
repeats (`the act of` in dictionary definitions) says little of a pair. Over words, over stems (their first five
letters) and over character n-grams: the cosine of tf · idf vectors, and for words and stems also the harmonic mean of
the shares of information that each sentence has in common with the other. 0 where a side has nothing that counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log, sqrt

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.models.similarity.text import Text

STEM = 5  # letters
SIZES = (2, 3, 4, 5)  # of character n-grams
NAMES = ("words", "words_shared", "stems", "stems_shared", *(f"characters_{n}" for n in SIZES))
Bag = Counter[str]


def columns(pairs: Sequence[tuple[Text, Text]]) -> FloatArray:
    """(pairs, names) values from 0 to 1."""
    found: list[list[float]] = []
    for parts in (words, stems):
        bags, idf = bags_of(pairs, parts)
        found += [[cosine(a, b, idf) for a, b in bags], [shared(a, b, idf) for a, b in bags]]
    for n in SIZES:
        bags, idf = bags_of(pairs, lambda text, n=n: characters(text, n))  # type: ignore[misc]
        found.append([cosine(a, b, idf) for a, b in bags])
    return np.array(found, np.float64).T


def words(text: Text) -> Sequence[str]:
    """The words."""
    return text.words


def stems(text: Text) -> Sequence[str]:
    """Beginnings of the words."""
    return [word[:STEM] for word in text.words]


def characters(text: Text, n: int) -> Sequence[str]:
    """Character n-grams, spaces among them."""
    return [text.characters[i : i + n] for i in range(len(text.characters) - n + 1)]


def bags_of(
    pairs: Sequence[tuple[Text, Text]], parts: Callable[[Text], Sequence[str]]
) -> tuple[list[tuple[Bag, Bag]], dict[str, float]]:
    """The parts of each sentence with their counts, and the idf of each."""
    bags = [(Counter(parts(a)), Counter(parts(b))) for a, b in pairs]
    frequency = Counter(part for pair in bags for bag in pair for part in bag)
    total = 2 * len(bags)
    return bags, {part: log((total + 1) / (count + 1)) for part, count in frequency.items()}


def cosine(a: Bag, b: Bag, idf: Mapping[str, float]) -> float:
    """The cosine of the vectors tf · idf."""
    both = sum(count * b[part] * idf[part] ** 2 for part, count in a.items() if part in b)
    if both == 0:
        return 0.0
    squares = [sum((count * idf[part]) ** 2 for part, count in bag.items()) for bag in (a, b)]
    return both / sqrt(squares[0] * squares[1])


def shared(a: Bag, b: Bag, idf: Mapping[str, float]) -> float:
    """2 idf(A ∩ B) / (idf(A) + idf(B)), each part once."""
    both = sum(idf[part] for part in a.keys() & b.keys())
    return 2 * both / (sum(idf[part] for part in a) + sum(idf[part] for part in b)) if both else 0.0
