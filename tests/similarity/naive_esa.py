"""Slow, obvious twin of explicit semantic analysis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log, sqrt


def index(
    texts: Sequence[Sequence[str]], *, most: int, shortest: int, min_count: int
) -> tuple[dict[str, dict[int, float]], dict[str, float]]:
    """The documents of each word with their weights, and the words' idf; documents that are too short have no number."""
    counts = Counter(word for text in texts for word in text)
    known = [word for word, count in counts.items() if count >= min_count]
    frequency = {word: sum(word in text for text in texts) for word in known}
    idf = {word: log(len(texts) / n) if n > 1 else 0.0 for word, n in frequency.items()}
    found: dict[str, dict[int, float]] = {word: {} for word in known}
    number = 0
    for text in texts:
        if len(text) < shortest:
            continue
        tf = Counter(word for word in text if word in idf)
        weights = {word: (1 + log(n)) * idf[word] for word, n in tf.items()}
        length = sqrt(sum(weight * weight for weight in weights.values()))
        for word, weight in weights.items():
            if weight > 0:
                found[word][number] = weight / length
        number += 1
    pruned = {
        word: dict(sorted(documents.items(), key=lambda item: (-item[1], item[0]))[:most])
        for word, documents in found.items()
    }
    return pruned, idf


def vector(
    sentence: Sequence[str], documents: Mapping[str, Mapping[int, float]], weight: Mapping[str, float]
) -> Counter[int]:
    total: Counter[int] = Counter()
    for word in sentence:
        for document, value in documents.get(word, {}).items():
            total[document] += weight[word] * value  # type: ignore[assignment]
    return total


def cosine(a: Mapping[int, float], b: Mapping[int, float]) -> float:
    both = sum(value * b.get(document, 0.0) for document, value in a.items())
    return both / sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values())) if both else 0.0
