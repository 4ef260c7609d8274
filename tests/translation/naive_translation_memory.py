"""Slow, obvious twins of the translation memory: all pairs are scored, and n-grams are counted in dictionaries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache

from tests.ngram.naive_features import ngrams

Pair = tuple[str, str]


@cache
def _distance(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    if not a or not b:
        return len(a) + len(b)
    if a[0] == b[0]:
        return _distance(a[1:], b[1:])
    return 1 + min(_distance(a[1:], b), _distance(a, b[1:]), _distance(a[1:], b[1:]))


def distance(a: Sequence[str], b: Sequence[str]) -> int:
    """Edits between two sentences, by the recursion."""
    return _distance(tuple(a), tuple(b))


def fuzzy(a: Sequence[str], b: Sequence[str]) -> float:
    return 1 - distance(a, b) / max(len(a), len(b))


def bm25_impacts(sources: Sequence[Sequence[str]], k1: float, b: float) -> list[dict[str, int]]:
    """The weight of each word of each source, in 65,535ths of the highest of all."""
    mean = sum(map(len, sources)) / len(sources)
    having = Counter(word for words in sources for word in set(words))
    found = []
    for words in sources:
        weights = {}
        for word, count in Counter(words).items():
            idf = math.log1p((len(sources) - having[word] + 0.5) / (having[word] + 0.5))
            weights[word] = idf * count * (k1 + 1) / (count + k1 * (1 - b + b * len(words) / mean))
        found.append(weights)
    top = max(weight for weights in found for weight in weights.values())
    return [{word: max(1, round(weight * (65_535 / top))) for word, weight in weights.items()} for weights in found]


def by_bm25(
    query: Sequence[str], sources: Sequence[Sequence[str]], impacts: list[dict[str, int]], most: int, *, copies: bool
) -> list[tuple[int, int]]:
    """Number and score of the best sources; only those that share a word with the query are near."""
    scored = [(sum(weights.get(word, 0) for word in query), -i) for i, weights in enumerate(impacts)]
    near = [(score, -i) for score, i in scored if score and (copies or list(sources[-i]) != list(query))]
    return [(i, score) for score, i in sorted(near, key=lambda item: (-item[0], item[1]))[:most]]


def nearest(
    query: Sequence[str], pairs: Sequence[tuple[Sequence[str], Sequence[str]]], most: int, candidates: int
) -> list[tuple[int, float]]:
    sources = [source for source, _ in pairs]
    best = by_bm25(query, sources, bm25_impacts(sources, 1.2, 0.75), candidates, copies=True)
    scored = [(i, fuzzy(query, sources[i])) for i, _ in best]
    return sorted(scored, key=lambda item: -item[1])[:most]


def longest_run(a: Sequence[str], b: Sequence[str]) -> int:
    """The number of words of the longest n-gram that both sentences have."""
    lengths = range(1, min(len(a), len(b)) + 1)
    return max((n for n in lengths if set(ngrams(a, n)) & set(ngrams(b, n))), default=0)


def values(
    words: Sequence[str], targets: Sequence[Sequence[str]], scores: Sequence[float], combine: str, orders: int
) -> list[float]:
    """The components of the feature: precision and recall of each order, similarity, longest n-gram."""
    found = []
    for n in range(1, orders + 1):
        events: dict[tuple[tuple[str, ...], int], float] = {}
        for target, score in zip(targets, scores, strict=True):
            weight = score if combine == "best" else score / (sum(scores) or 1)
            for gram, count in Counter(ngrams(target, n)).items():
                for k in range(1, count + 1):
                    before = events.get((gram, k), 0.0)
                    events[gram, k] = max(before, weight) if combine == "best" else before + weight
        own = Counter(ngrams(words, n))
        total = sum(events.get((gram, k), 0.0) for gram, count in own.items() for k in range(1, count + 1))
        found += [total / max(own.total(), 1), total / sum(events.values()) if any(events.values()) else 0.0]
    agreement = [s * (fuzzy(words, target) if words else 0.0) for s, target in zip(scores, targets, strict=True)]
    return [*found, max(agreement, default=0.0), max((longest_run(words, target) for target in targets), default=0)]
