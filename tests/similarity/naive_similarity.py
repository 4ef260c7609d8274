"""Slow, obvious twins of random indexing and of similarity features."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence


def context_vectors(
    documents: Sequence[Sequence[str]], index: Mapping[str, Sequence[float]], space: str, radius: int
) -> dict[str, list[float]]:
    """The sum of the index vectors of each word's contexts; words without an index vector are unknown."""
    size = len(next(iter(index.values())))
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0] * (2 * size if space == "directional" else size))
    for document in documents:
        for i, word in enumerate(document):
            if word not in index:
                continue
            for j, other in enumerate(document):
                if other not in index or (space != "document" and not 0 < abs(i - j) <= radius):
                    continue
                for place, value in enumerate(index[other]):
                    if space == "positional":
                        place = (place + j - i) % size
                    if space == "directional" and j > i:
                        place += size
                    sums[word][place] += value
    return sums


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    lengths = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0


def consensus(vectors: Sequence[Sequence[float]], posterior: Sequence[float]) -> list[float]:
    """Posterior-weighted mean cosine to the others."""
    values = []
    for i, own in enumerate(vectors):
        others = [j for j in range(len(vectors)) if j != i]
        mass = sum(posterior[j] for j in others)
        values.append(sum(posterior[j] * cosine(own, vectors[j]) for j in others) / mass if mass else 0.0)
    return values
